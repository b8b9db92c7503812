"""Turn, zoom and move images a little: the same digit, written a little differently."""

import torch
from torch import Tensor
from torch.nn import functional as F


def warp(
    images: Tensor,
    generator: torch.Generator | None = None,
    turn: float = 0.2,
    zoom: float = 0.1,
    move: float = 0.12,
) -> Tensor:
    """Draw a turn, a zoom and a shift for each image, evenly between minus and plus the limits.

    images (B, channels, height, width) -> the same shape. `turn` is in radians, `zoom` a share of
    the size, `move` a share of half the height and half the width. Outside of an image lies 0.
    """

    def within(limit: float) -> Tensor:
        return limit * (2 * torch.rand(len(images), generator=generator) - 1)

    angle, size = within(turn), 1 + within(zoom)
    cos, sin, (right, down) = angle.cos() * size, angle.sin() * size, (within(move), within(move))
    maps = torch.stack([cos, -sin, right, sin, cos, down], dim=-1).view(-1, 2, 3)
    grid = F.affine_grid(maps.to(images), list(images.shape), align_corners=False)
    return F.grid_sample(images, grid, align_corners=False)
