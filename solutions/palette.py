"""A palette: a few colours that stand for all, so that a pixel becomes a token."""

import torch
from torch import Tensor


def quantise(pixels: Tensor, palette: Tensor) -> Tensor:
    """Give every pixel the number of the nearest colour of a palette.

    pixels (..., D), palette (K, D) -> (...) whole numbers (int64) from 0 to K - 1. D is 1 for
    grey, 3 for red, green and blue. Nearest is meant by Euclidean distance; where two colours
    are equally near, the one with the lower number is taken.

    >>> quantise(torch.tensor([[0.1], [0.9], [0.6]]), torch.tensor([[0.0], [1.0]]))
    tensor([0, 1, 1])
    """
    gaps = pixels.unsqueeze(-2) - palette  # (..., K, D)
    return gaps.square().sum(-1).argmin(-1)


def fit_palette(pixels: Tensor, centres: Tensor, rounds: int = 20) -> Tensor:
    """Move the colours of a palette to where the pixels are: k-means.

    pixels (N, D), centres (K, D), the colours to start with -> (K, D), the colours after
    `rounds` rounds, in the same order. In a round every pixel goes to its nearest centre
    (`quantise`), then every centre moves to the mean of its own pixels; a centre that has no
    pixels stays where it is. The arguments are left as they are.

    >>> fit_palette(torch.tensor([[0.0], [2.0], [9.0]]), torch.tensor([[1.0], [5.0]]), 1)
    tensor([[1.],
            [9.]])
    """
    for _ in range(rounds):
        nearest = quantise(pixels, centres)  # (N)
        own = nearest == torch.arange(len(centres), device=pixels.device).unsqueeze(-1)  # (K, N)
        count = own.sum(-1, keepdim=True)  # (K, 1)
        means = own.to(pixels.dtype) @ pixels / count.clamp(min=1)
        centres = torch.where(count > 0, means, centres)
    return centres
