"""Two spirals wound around each other: points in the plane that no straight line can part."""

import math

import torch
from torch import Tensor

TURNS = 2.0  # how often a spiral goes round
NOISE = 0.05


def draw_spirals(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw n points: where they lie (n, 2), within about 2 of the centre, and their spiral (n)."""
    spiral = torch.randint(2, (n,), generator=generator)
    way = torch.rand(n, generator=generator).sqrt()  # the root: evenly spread over the area
    angle = 2 * math.pi * TURNS * way + math.pi * spiral
    points = 2 * way.unsqueeze(-1) * torch.stack([angle.cos(), angle.sin()], dim=-1)
    return points + NOISE * torch.randn(n, 2, generator=generator), spiral
