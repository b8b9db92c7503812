"""Shuffle the patches of images, and ask models with and without positions what they see then."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from solutions.train import Recipe, train


def shuffle_patches(images: Tensor, patch_size: int, order: Tensor) -> Tensor:
    """Put patch order[n] where patch n was, in every image alike.

    images (B, channels, height, width), order (N) a permutation of the patches in reading order.
    """
    patches = F.unfold(images, patch_size, stride=patch_size)  # (B, channels * P * P, N)
    return F.fold(patches[..., order], images.shape[-2:], patch_size, stride=patch_size)


def without_positions(model: nn.Module) -> nn.Module:
    """Take a ViT's positions away before it is trained: zeros, and not to be learned."""
    model.embedding.position.data.zero_()
    model.embedding.position.requires_grad_(False)
    return model


def draw_bars(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw n noisy images (n, 1, 8, 8) of a bar, and where it is: top, bottom, left or right.

    Cut into patches of 4 x 4, a bar at the top and one at the bottom are made of the same four
    patches, in another order; so are those at the left and at the right.
    """
    labels = torch.randint(4, (n,), generator=generator)
    bars = torch.zeros(4, 1, 8, 8)
    bars[0, :, 0], bars[1, :, 4], bars[2, :, :, 0], bars[3, :, :, 4] = 1, 1, 1, 1
    return bars[labels] + 0.2 * torch.randn(n, 1, 8, 8, generator=generator), labels


def shuffle_test(vit: Callable[..., nn.Module], seed: int = 0, steps: int = 60) -> dict[str, dict]:
    """Train a tiny ViT with and one without positions on bars; then shuffle the patches.

    vit: the class `ViT`, the reference's or your own. -> for "with" and "without" positions: the
    share of "right" answers on 400 new images, and the share "changed" when their four patches are
    put in reverse order.
    """
    images, labels = draw_bars(400, torch.Generator().manual_seed(1000 + seed))
    shuffled = shuffle_patches(images, 4, torch.tensor([3, 2, 1, 0]))
    seen = {}
    for name in ("with", "without"):
        torch.manual_seed(seed)
        model = vit(patch_size=4, n_class=4, n_embd=16, n_layer=1, n_head=2)
        if name == "without":
            without_positions(model)
        recipe = Recipe(steps=steps, batch=32, lr=1e-2, warmup=10, seed=seed)
        train(model, draw_bars, recipe, progress=False)
        with torch.no_grad():
            before, after = (model(x).argmax(-1) for x in (images, shuffled))
        shares = {"right": before == labels, "changed": before != after}
        seen[name] = {what: share.float().mean().item() for what, share in shares.items()}
    return seen
