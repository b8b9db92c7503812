"""Two models of images that only count: each pixel alone, and each pixel given four neighbours."""

import torch
from torch import Tensor
from torch.nn import functional as F

# a pixel's neighbours that raster order has already passed: (rows up, columns to the left)
NEIGHBOURS = ((0, 1), (1, 1), (1, 0), (1, -1))


def place_odds(images: Tensor, n_colour: int, extra: float = 1.0) -> Tensor:
    """Count how often each colour stands at each place: images (B, R, W) -> (R, W, K).

    `extra` is added to every count, so that no colour is impossible.
    """
    counts = F.one_hot(images, n_colour).sum(0) + extra
    return counts / counts.sum(-1, keepdim=True)


def place_bits(known: Tensor, images: Tensor, n_colour: int) -> Tensor:
    """Price every pixel by its place alone: images (B, R, W) -> bits (B, R, W)."""
    odds = place_odds(known, n_colour).expand(len(images), -1, -1, -1)
    return -odds.gather(-1, images.unsqueeze(-1)).squeeze(-1).log2()


def contexts(images: Tensor, n_colour: int) -> Tensor:
    """Number what the four neighbours of each pixel show: (B, R, W), 0 to (K + 1)^4 - 1.

    A neighbour outside the image counts as one more colour.
    """
    _, rows, columns = images.shape
    framed = F.pad(images, (1, 1, 1, 0), value=n_colour)  # left, right, top, bottom
    number = torch.zeros_like(images)
    for up, left in NEIGHBOURS:
        top, side = 1 - up, 1 - left
        seen = framed[:, top : top + rows, side : side + columns]
        number = number * (n_colour + 1) + seen
    return number


def neighbour_bits(known: Tensor, images: Tensor, n_colour: int, trust: float) -> Tensor:
    """Price every pixel by what followed the same four neighbours: (B, R, W) -> (B, R, W).

    p = (count + trust * p of the place alone) / (number of times seen + trust): neighbours
    that never occurred leave the odds of the place.
    """
    n_context = (n_colour + 1) ** len(NEIGHBOURS)
    pairs = (contexts(known, n_colour) * n_colour + known).flatten()
    counts = torch.bincount(pairs, minlength=n_context * n_colour).view(n_context, n_colour)
    seen = counts[contexts(images, n_colour)]  # (B, R, W, K)
    odds = (seen + trust * place_odds(known, n_colour)) / (seen.sum(-1, keepdim=True) + trust)
    return -odds.gather(-1, images.unsqueeze(-1)).squeeze(-1).log2()
