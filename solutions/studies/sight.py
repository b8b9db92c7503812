"""Your ViT sees: which pictures, which sizes, how long; what to expect, and a CNN beside it.

One set of recipes for a GPU and one for a CPU. What is expected was measured beforehand with the
same recipe (`sight_record.py`), or is quoted, or is not said at all.
"""

import copy
import os
import time
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor, nn

from solutions.data import cifar10, fashion_mnist
from solutions.data.augment import crop, cut_mix, flip, mixed_cross_entropy
from solutions.data.digits import split_digits
from solutions.studies.small_cnn import SmallCNN
from solutions.train import Recipe, make_optimiser

Pictures = tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]  # training and test


@dataclass(frozen=True)
class Sight:
    """Hold all that decides a run: the data, both models' sizes, the recipe, the augmentation."""

    data: str
    size: str  # "small" for a CPU, "large" for a GPU
    names: tuple[str, ...]
    model: dict  # the arguments of ViT
    rival: tuple[int, int, int]  # the widths of the CNN, for as many parameters
    recipe: Recipe
    pad: int = 2  # pixels that a crop moves at most
    flipped: bool = True
    chance: float = 0.5  # that something is pasted into an image

    @property
    def key(self) -> str:
        return f"{self.data} {self.size}"


CLOTHES = {"image_size": (28, 28), "patch_size": 4, "n_embd": 64, "n_layer": 3, "n_head": 4}
CLOTHES |= {"n_hidden": 128}
# the sizes, crops and flips of the ViT in the UvA tutorial on CIFAR-10
COLOUR = {"image_size": (32, 32), "patch_size": 4, "n_channel": 3, "n_embd": 256, "n_layer": 6}
COLOUR |= {"n_head": 8, "n_hidden": 512, "dropout": 0.1}
TINY = {"image_size": (8, 8), "patch_size": 2, "n_embd": 48, "n_layer": 2, "n_head": 4}
TINY |= {"n_hidden": 96}
DIGITS = tuple("0123456789")

SIGHTS = {
    sight.key: sight
    for sight in (
        Sight(
            *("fashion", "small", fashion_mnist.NAMES, CLOTHES, (36, 72, 72)),
            Recipe(
                900, 64, 2e-3, warmup=90, weight_decay=0.05
            ),  # tested at its end: a test takes long
            **{"pad": 1, "chance": 0.0},  # short: nothing is seen twice anyway
        ),
        Sight(
            *("fashion", "large", fashion_mnist.NAMES, CLOTHES, (36, 72, 72)),
            Recipe(4690, 128, 2e-3, warmup=470, weight_decay=0.05, evaluate_every=469),
            **{"pad": 1, "chance": 0.25},
        ),
        Sight(
            *("cifar10", "large", cifar10.NAMES, COLOUR, (128, 384, 672)),
            Recipe(20_000, 128, 1e-3, warmup=1000, weight_decay=0.05, evaluate_every=1000),
            pad=4,
        ),
        Sight(
            *("digits", "small", DIGITS, TINY, (30, 52, 48)),
            Recipe(250, 32, 3e-3, weight_decay=0.05, evaluate_every=125),
            **{"pad": 1, "flipped": False, "chance": 0.0},  # a digit in the mirror is none
        ),
    )
}
SOURCES = {
    "fashion": (
        fashion_mnist.find_fashion_mnist,
        fashion_mnist.load_fashion_mnist,
        fashion_mnist.download_fashion_mnist,
    ),
    "cifar10": (cifar10.find_cifar10, cifar10.load_cifar10, cifar10.download_cifar10),
}


def choose(device: torch.device, wish: str = "fashion") -> tuple[Sight, Pictures]:
    """Find the pictures that are wished for and the recipe for this device; say what was chosen.

    wish: "fashion" or "cifar10" (on a CPU it would take hours: it gets clothes). What is not on
    the machine is downloaded, into $COURSE_DATA or ./data; where there is no network, the digits
    that ship with scikit-learn take their place. $COURSE_RECIPE=test cuts the steps to a few.
    """
    if wish not in SOURCES:
        raise ValueError(f"choose: there is no {wish!r} here; take one of {', '.join(SOURCES)}.")
    large = device.type != "cpu"
    if wish == "cifar10" and not large:
        print("CIFAR-10 wants a GPU (Runtime, Change runtime type); on this CPU: Fashion-MNIST.")
        wish = "fashion"
    pictures = fetch(wish)
    size = "large" if large and pictures else "small"
    sight = SIGHTS[f"{wish if pictures else 'digits'} {size}"]
    if os.environ.get("COURSE_RECIPE") == "test":
        few = replace(sight.recipe, steps=20, warmup=5, evaluate_every=0)
        sight = replace(sight, size="test", recipe=few)
        learned, (images, labels) = pictures or split_digits()
        pictures = learned, (images[:300], labels[:300])
    pictures = pictures or split_digits()
    n_train, n_test = (len(labels) for _, labels in pictures)
    steps, batch = sight.recipe.steps, sight.recipe.batch
    rounds = steps * batch / n_train
    print(
        f"{sight.data}: {n_train:,} pictures to learn from, {n_test:,} for the test. On this "
        f"{device.type}: {steps:,} steps of {batch}, {rounds:.1f} rounds through all pictures."
    )
    return sight, pictures


def fetch(name: str) -> Pictures | None:
    """Load a data set, downloading it where it is missing; None where that cannot be done."""
    find, load, download = SOURCES[name]
    if find() is None:
        root = os.environ.setdefault("COURSE_DATA", "data")
        folder = Path(root) / {"fashion": "fashion_mnist"}.get(name, name)
        try:
            print(f"{name} is not on this machine. Downloading it into {folder} ...")
            download(folder)
        except (OSError, ValueError) as error:  # no network; or a file that arrived damaged
            print(f"That did not work ({error}). The digits of scikit-learn take its place.")
            return None
    return load()


def batches(sight: Sight, images: Tensor, labels: Tensor):
    """Return a function that draws augmented batches, for `train` with `mixed_cross_entropy`."""

    def draw(n: int, generator: torch.Generator) -> tuple[Tensor, ...]:
        at = torch.randint(len(labels), (n,), generator=generator)
        some = crop(images[at], generator, sight.pad)
        some = flip(some, generator) if sight.flipped else some
        return cut_mix(some, labels[at], generator, sight.chance)

    return draw


@torch.no_grad()
def share_right(model: nn.Module, images: Tensor, labels: Tensor) -> float:
    """Return the share of pictures that a model names rightly, on the device it lives on."""
    device = next(model.parameters()).device
    answers = [model(some.to(device)).argmax(-1).cpu() for some in images.split(500)]
    return (torch.cat(answers) == labels).float().mean().item()


def rival(sight: Sight) -> nn.Module:
    """Make a CNN with as many parameters as the ViT, or nearly."""
    sizes = sight.model
    return SmallCNN(
        sizes["image_size"], sizes.get("n_channel", 1), len(sight.names), widths=sight.rival
    )


def seconds_a_step(
    model: nn.Module, sight: Sight, draw, at_least: float = 1.0, clock=time.perf_counter
) -> float:
    """Measure a training step on the device of the model; the model itself is left as it is.

    clock: `time.process_time` on a busy machine, where only this program's own time should count.
    """
    model = copy.deepcopy(model).train()
    device = next(model.parameters()).device
    optimiser = make_optimiser(model, sight.recipe)
    generator, spent, begun = torch.Generator().manual_seed(0), [], clock()
    while len(spent) < 4 or clock() - begun < at_least:
        start = clock()
        batch = tuple(x.to(device) for x in draw(sight.recipe.batch, generator))
        loss = mixed_cross_entropy(model, batch)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        loss.item()  # waits for a GPU to be done
        spent.append(clock() - start)
    return sorted(spent)[len(spent) // 2]


def equal_time(sight: Sight, ours: float, theirs: float) -> Sight:
    """Give the rival as many steps as fit into the time of our steps; both as seconds a step."""
    steps = max(10, round(sight.recipe.steps * ours / theirs))
    every = max(1, steps // 3) if sight.recipe.evaluate_every else 0
    warmup = min(sight.recipe.warmup, steps // 10)
    recipe = replace(sight.recipe, steps=steps, warmup=warmup, evaluate_every=every)
    return replace(sight, recipe=recipe)
