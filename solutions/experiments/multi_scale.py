"""multi_scale: pairs across a seam, digits beside a ViT, and what an image's size costs."""

import math
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.flop_counter import FlopCounterMode

from solutions.data.digits import split_digits
from solutions.data.seam import COLUMNS, ROWS, all_pairs, draw_pairs
from solutions.multi_scale import MultiScaleViT
from solutions.studies.side_by_side import SideBySide
from solutions.train import Recipe, train
from solutions.vit import ViT

SEEDS = (0, 1, 2)
KINDS = ("windows stay", "windows shift", "shift without mask")
SIDES = (8, 16, 32, 48)  # patches along a side of the image
PAIRS = Recipe(steps=200, batch=32, lr=5e-3, warmup=30)
DIGITS = Recipe(steps=250, batch=32, lr=3e-3, warmup=40, weight_decay=0.05)


class Unmasked(MultiScaleViT):
    """Shift the windows and forget the mask: strangers from the other edge are looked at."""

    def look(self, block: nn.Module, x: Tensor, shift: int) -> Tensor:
        return super().look(lambda windows, mask: block(windows), x, shift)


def pair_model(kind: str) -> MultiScaleViT:
    """Build a model of two blocks and one scale that reads 2 x 6 pixels in three windows."""
    options = {"image_size": (ROWS, COLUMNS), "n_class": 2, "n_embd": 16, "depths": (2,)}
    options["window_size"] = 2
    make = Unmasked if kind == "shift without mask" else MultiScaleViT
    return make(**options, shift=0 if kind == "windows stay" else None)


def three_seeds(build: Callable[[], nn.Module], draw: Callable, recipe: Recipe) -> SideBySide:
    """Train a model for each seed, all in one pass."""
    models = []
    for seed in SEEDS:
        torch.manual_seed(seed)
        models.append(build())

    def batches(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        images, labels = draw(n * len(SEEDS), generator)
        return images.unflatten(0, (len(SEEDS), n)), labels.unflatten(0, (len(SEEDS), n))

    together = SideBySide(models)
    train(together, batches, recipe, progress=False)
    return together


@torch.no_grad()
def answers(together: SideBySide, images: Tensor) -> Tensor:
    """Return what each model answers: (seeds, B)."""
    return together(images.expand(len(SEEDS), *images.shape)).argmax(-1)


def pairs(kind: str) -> Tensor:
    """Train on pairs of dots; return the share of right answers by column: (seeds, columns)."""
    together = three_seeds(lambda: pair_model(kind), draw_pairs, PAIRS)
    images, labels, column = all_pairs()
    right = (answers(together, images) == labels).float()
    return torch.stack([right[:, column == c].mean(1) for c in range(COLUMNS - 1)], dim=1)


def digit_model(kind: str) -> nn.Module:
    """Build one of the rivals, of nearly equal numbers of parameters."""
    if kind == "ViT":
        return ViT(patch_size=2, n_embd=32, n_layer=3, n_head=4, n_hidden=108)
    if kind == "one window":  # full attention, but all else as in the multi-scale model
        return MultiScaleViT(patch_size=2, n_embd=30, n_head=3, depths=(3,), window_size=4)
    return MultiScaleViT(patch_size=2, n_embd=16, n_head=2, depths=(2, 2), window_size=2)


def digits(kind: str) -> dict:
    """Train on the digits; return each seed's share of right test answers, and the parameters."""
    (images, labels), (test_images, test_labels) = split_digits()

    def draw(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        at = torch.randint(len(labels), (n,), generator=generator)
        return images[at], labels[at]

    start = time.process_time()
    together = three_seeds(lambda: digit_model(kind), draw, DIGITS)
    seconds = (time.process_time() - start) / len(SEEDS)
    right = (answers(together, test_images) == test_labels).float().mean(1)
    n_parameter = sum(p.numel() for p in digit_model(kind).parameters())
    return {"right": right, "parameters": n_parameter, "seconds": seconds}


def big_model(kind: str, side: int) -> nn.Module:
    """Build a model of four blocks for images of side x side patches of 4 x 4 pixels."""
    options = {"image_size": (4 * side, 4 * side), "patch_size": 4, "n_channel": 3}
    if kind == "ViT":
        return ViT(**options, n_embd=52, n_layer=4, n_head=2)
    return MultiScaleViT(**options, n_embd=32, n_head=2, depths=(2, 2), window_size=4)


def kept_for_backward(model: nn.Module, images: Tensor) -> int:
    """Count the bytes that a forward pass keeps until the backward pass, parameters left out."""
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    kept = {}

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        scores = model(images)  # held until counted: a freed address could be used twice
    del scores
    return sum(kept.values())


def cost(kind: str) -> dict[str, list[float]]:
    """Measure one image of every side: multiply-adds, bytes for the backward pass, milliseconds.

    The time is that of a forward pass on one thread, as the processor counts it for this program
    alone, and the best of several: other programs only ever add to it.
    """
    seen = {"tokens": [], "products": [], "bytes": [], "ms": []}
    for side in SIDES:
        torch.manual_seed(0)
        model, images = big_model(kind, side), torch.randn(1, 3, 4 * side, 4 * side)
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            model(images)
        seen["tokens"].append(side * side)
        seen["products"].append(counter.get_total_flops() // 2)  # two flops to a product
        seen["bytes"].append(kept_for_backward(model, images))
        times = []
        with torch.no_grad():
            for _ in range(3 if side == max(SIDES) else 8):
                start = time.process_time()
                model(images)
                times.append(1000 * (time.process_time() - start))
        seen["ms"].append(min(times))
    return seen


def exponent(tokens: list[float], values: list[float]) -> float:
    """Fit values ~ tokens ** e to the two largest images."""
    return math.log(values[-1] / values[-2]) / math.log(tokens[-1] / tokens[-2])


RUNS = [
    *((digits, {"kind": kind}) for kind in ("ViT", "one window", "multi-scale")),
    *((pairs, {"kind": kind}) for kind in reversed(KINDS)),
    *((cost, {"kind": kind}) for kind in ("ViT", "multi-scale")),
]
