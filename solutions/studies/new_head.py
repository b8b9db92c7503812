"""Fine-tune a pre-trained model that has a `head`: the new head alone first, then everything."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from solutions.train import Recipe, train

HEAD = Recipe(steps=100, batch=16, lr=1e-2, warmup=10)
ALL = Recipe(steps=100, batch=16, lr=3e-4, warmup=10)  # gently: what it knows is worth keeping


def fine_tune(
    model: nn.Module,
    images: Tensor,
    labels: Tensor,
    score: Callable[[nn.Module], float],
    head: Recipe = HEAD,
    everything: Recipe = ALL,
    progress: bool = False,
) -> dict[str, float]:
    """Train model.head on the images, all else frozen; then train all of the model, more gently.

    images (B, channels, height, width), labels (B) -> what `score(model)` says after each of the
    two: {"head": ..., "all": ...}. At the end every parameter is free to learn again.
    """

    def draw(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        at = torch.randint(len(labels), (n,), generator=generator)
        return images[at], labels[at]

    found = {}
    model.requires_grad_(False)
    model.head.requires_grad_(True)
    for name, recipe in {"head": head, "all": everything}.items():
        train(model, draw, recipe, progress=progress)
        found[name] = score(model)
        model.requires_grad_(True)
    return found
