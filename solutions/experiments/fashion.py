"""A ViT and a CNN on Fashion-MNIST, with few, more and all of its 60,000 training images.

It needs the data and most of an hour, so it runs only when asked for: `make fashion` trains and
writes the curves down (`solutions/studies/fashion_record.py`); the page reads what is written.
"""

import time

import torch
from torch import nn

from solutions.data.fashion_mnist import load_fashion_mnist
from solutions.experiments.vit import drawer, share_right
from solutions.studies.small_cnn import SmallCNN
from solutions.train import Recipe, train
from solutions.vit import ViT

ON_DEMAND = True
KINDS = ("vit", "cnn")
IMAGES = (600, 6_000, 60_000)
RECIPE = Recipe(4690, 64, 1e-3, weight_decay=0.05, evaluate_every=469)  # five times all images


def build(kind: str) -> nn.Module:
    """Make a model for 28 x 28 pixels, "vit" or "cnn", of about as many parameters."""
    torch.manual_seed(RECIPE.seed)
    if kind == "cnn":
        return SmallCNN((28, 28), widths=(32, 64, 64))
    return ViT((28, 28), patch_size=4, n_embd=64, n_layer=3, n_head=4, n_hidden=80)


def fashion(kind: str, n: int) -> dict:
    """Train on the first n images as they are; return the curve on the test images, and the time.

    The number of steps is the same for every n: fewer images are only seen more often.
    """
    (images, labels), test = load_fashion_mnist()
    model, start = build(kind), time.process_time()
    history = train(
        model,
        drawer(images[:n], labels[:n], warped=False),
        RECIPE,
        evaluate=lambda model: {"right": share_right(model, *test)},
        progress=False,
    )
    return {"scores": history.scores, "seconds": time.process_time() - start}


RUNS = [(fashion, {"kind": kind, "n": n}) for n in IMAGES[::-1] for kind in ("cnn", "vit")]
