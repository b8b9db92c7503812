"""How far does a token see? Follow the gradient from one token down to the pixels."""

from collections.abc import Callable

import torch
from torch import Tensor, nn


def pixels_seen(model: nn.Module, size: tuple[int, int], at: tuple[int, int]) -> Tensor:
    """Say which pixels act on the token that `model.encode` returns at a place.

    size: (height, width) of a grey image; at: (row, column) in the last grid -> (height, width)
    bool. A pixel acts where the gradient of the token with respect to it is not zero.
    """
    draw = torch.Generator().manual_seed(0)
    image = torch.randn(1, 1, *size, generator=draw).requires_grad_()
    token = model.encode(image)[0, at[0], at[1]]
    push = torch.randn(token.shape, generator=draw)  # a plain sum is constant after a norm
    (gradient,) = torch.autograd.grad((token * push).sum(), image)
    return gradient[0, 0] != 0


def compare_reach(multi_scale: Callable[..., nn.Module], seed: int = 0) -> dict[str, list[int]]:
    """Count the pixels that one token sees after 1, 2, 3, ... blocks, in three kinds of model.

    multi_scale: the class `MultiScaleViT`, the reference's or your own. The image has 16 x 16
    pixels, each of them a token, and windows of 4 x 4 tokens; the token stands in the middle. A
    model that merges has one block to a stage, so its last token is a square of pixels.
    """
    size = (16, 16)

    def count(depths: tuple[int, ...], shift: int) -> int:
        torch.manual_seed(seed)
        options = {"image_size": size, "n_embd": 4, "n_head": 1, "window_size": 4}
        model = multi_scale(depths=depths, shift=shift, **options)
        middle = 9 // 2 ** (len(depths) - 1)
        return int(pixels_seen(model, size, (middle, middle)).sum())

    return {
        "windows stay": [count((n,), 0) for n in (1, 2, 3, 4)],
        "windows shift": [count((n,), 2) for n in (1, 2, 3, 4)],
        "windows stay, patches merge": [count((1,) * n, 0) for n in (1, 2, 3)],
    }
