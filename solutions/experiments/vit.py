"""vit: digits with and without positions, beside a CNN, with few labels, at another size."""

import tempfile
import time

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from solutions.data.digits import few_training_digits, split_digits
from solutions.data.warp import warp
from solutions.experiments import kept
from solutions.fast_vit import FastViT
from solutions.studies.new_head import ALL, HEAD, fine_tune
from solutions.studies.shuffled_patches import shuffle_patches, without_positions
from solutions.studies.small_cnn import SmallCNN
from solutions.train import Recipe, train
from solutions.vit import interpolate_positions
from solutions.vit_weights import load_vit, save_vit

SEEDS = (0, 1, 2)
LABELS = (100, 300, 1000)
FEW_STEPS = 200
NEW_LABELS = (10, 50, 100)  # for a new question


def build(kind: str, seed: int) -> nn.Module:
    """Make a model for digits: "vit", "blind" (a ViT without positions) or "cnn"."""
    torch.manual_seed(seed)
    if kind == "cnn":
        return SmallCNN()
    model = FastViT(n_hidden=96)
    return without_positions(model) if kind == "blind" else model


def share_right(model: nn.Module, images: Tensor, labels: Tensor) -> float:
    """Return the share of images that a model names rightly."""
    with torch.no_grad():
        answers = torch.cat([model(some).argmax(-1) for some in images.split(500)])
    return (answers == labels).float().mean().item()


def drawer(images: Tensor, labels: Tensor, warped: bool):
    """Return a function that draws batches, each image warped a little if so asked."""

    def draw(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        at = torch.randint(len(labels), (n,), generator=generator)
        return warp(images[at], generator) if warped else images[at], labels[at]

    return draw


def digits(kind: str, seed: int) -> dict:
    """Train on all training digits, warped; return the curve on test images and the weights."""
    (images, labels), test = split_digits()
    model, start = build(kind, seed), time.process_time()
    steps = {"vit": 1000, "blind": 300, "cnn": 1000}[kind]
    history = train(
        model,
        drawer(images, labels, warped=True),
        Recipe(steps, 32, 2e-3, weight_decay=0.05, seed=seed, evaluate_every=steps // 5),
        evaluate=lambda model: {"right": share_right(model, *test)},
        progress=False,
    )
    seconds = time.process_time() - start
    return {"scores": history.scores, "seconds": seconds, "state": model.state_dict()}


def few_labels(kind: str, n: int, shuffled: bool = False) -> list[float]:
    """Train on n labelled digits as they are; return the share of right test answers per seed.

    shuffled: in all images, training and test, the patches stand in one other order.
    """
    order = torch.randperm(16, generator=torch.Generator().manual_seed(9))
    right = []
    for seed in SEEDS:
        images, labels = few_training_digits(n, seed)
        test_images, test_labels = split_digits()[1]
        if shuffled:
            images, test_images = (shuffle_patches(x, 2, order) for x in (images, test_images))
        model = build(kind, seed)
        recipe = Recipe(FEW_STEPS, 32, 2e-3, weight_decay=0.05, seed=seed)
        train(model, drawer(images, labels, warped=False), recipe, progress=False)
        right.append(share_right(model, test_images, test_labels))
    return right


def first_steps(deviation: float) -> Tensor:
    """Train ViTs whose positions start at this deviation; return their losses, (seeds, steps)."""
    images, labels = split_digits()[0]
    losses = []
    for seed in SEEDS:
        model = build("vit", seed)
        model.embedding.position.data.mul_(deviation / 0.5)
        recipe = Recipe(100, 32, 2e-3, weight_decay=0.05, seed=seed)
        history = train(model, drawer(images, labels, warped=True), recipe, progress=False)
        losses.append(history.loss)
    return torch.tensor(losses)


def enlarged(images: Tensor) -> Tensor:
    """Double the height and the width of images."""
    return F.interpolate(images, scale_factor=2, mode="bilinear", align_corners=False)


def grown(seed: int) -> dict[str, list[float]]:
    """Take a ViT trained on 8 x 8 digits on to 16 x 16, with four times the patches.

    Two tables of positions are tried: "interpolated", and "new", drawn again. -> for each the
    share of right test answers before any further step and after every tenth.
    """
    (images, labels), (test_images, test_labels) = split_digits()
    state = kept(digits, kind="vit", seed=seed)["state"]
    position = interpolate_positions(state["embedding.position"], (4, 4), (8, 8))
    new = 0.5 * torch.randn(64, 48, generator=torch.Generator().manual_seed(seed))
    test, found = (enlarged(test_images), test_labels), {}
    tables = {"interpolated": position, "new": torch.cat([position[:1], new])}
    for name, table in tables.items():
        model = FastViT((16, 16), n_hidden=96)
        model.load_state_dict({**state, "embedding.position": table})
        scores = [share_right(model, *test)]
        history = train(
            model,
            drawer(enlarged(images), labels, warped=False),
            Recipe(20, 32, 1e-3, warmup=0, seed=seed, evaluate_every=10),
            evaluate=lambda model: {"right": share_right(model, *test)},
            progress=False,
        )
        found[name] = scores + [score["right"] for score in history.scores]
    return found


def new_question(n: int) -> dict[str, list[float]]:
    """Ask of n labelled digits whether they are odd; return the share of right answers per seed.

    "head" and "all": a ViT that was trained to name digits, loaded from a file with a new head for
    two classes, after the head was trained and after all was; "nothing": a new ViT, as many steps.
    """
    test_images, test_labels = split_digits()[1]

    def odd(model: nn.Module) -> float:
        return share_right(model, test_images, test_labels % 2)

    found: dict[str, list[float]] = {"head": [], "all": [], "nothing": []}
    for seed in SEEDS:
        images, labels = few_training_digits(n, seed)
        teacher = build("vit", seed)
        teacher.load_state_dict(kept(digits, kind="vit", seed=seed)["state"])
        with tempfile.TemporaryDirectory() as folder:
            torch.manual_seed(seed)
            model = load_vit(save_vit(teacher, folder), FastViT, n_class=2)
        for name, right in fine_tune(model, images, labels % 2, odd).items():
            found[name].append(right)
        torch.manual_seed(seed)
        model = FastViT(n_class=2, n_hidden=96)
        recipe = Recipe(HEAD.steps + ALL.steps, HEAD.batch, 2e-3, weight_decay=0.05, seed=seed)
        train(model, drawer(images, labels % 2, warped=False), recipe, progress=False)
        found["nothing"].append(odd(model))
    return found


RUNS = [
    *((digits, {"kind": kind, "seed": seed}) for kind in ("vit", "blind", "cnn") for seed in SEEDS),
    *((few_labels, {"kind": kind, "n": n}) for kind in ("vit", "cnn") for n in LABELS),
    *((few_labels, {"kind": kind, "n": 300, "shuffled": True}) for kind in ("vit", "cnn")),
    *((first_steps, {"deviation": deviation}) for deviation in (0.5, 0.02)),
    # last: they take the trained models on
    *((grown, {"seed": seed}) for seed in SEEDS),
    *((new_question, {"n": n}) for n in NEW_LABELS),
]
