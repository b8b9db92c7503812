"""Two dots side by side, of equal or of unlike colour: a question about neighbours, anywhere."""

import torch
from torch import Tensor

ROWS, COLUMNS = 2, 6


def draw_pair(row: Tensor, column: Tensor, left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
    """Draw images (B, 1, 2, 6), empty but for a pair of dots; the label is 1 where they are equal.

    row, column (B): where the left dot is; left, right (B): the two colours, 0 or 1. A dot of
    colour 0 is -1 in the image, one of colour 1 is +1, no dot is 0.
    """
    images = torch.zeros(len(row), 1, ROWS, COLUMNS)
    each = torch.arange(len(row))
    images[each, 0, row, column] = 2.0 * left - 1
    images[each, 0, row, column + 1] = 2.0 * right - 1
    return images, (left == right).long()


def draw_pairs(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw n pairs at random places in random colours."""

    def pick(high: int) -> Tensor:
        return torch.randint(high, (n,), generator=generator)

    return draw_pair(pick(ROWS), pick(COLUMNS - 1), pick(2), pick(2))


def all_pairs() -> tuple[Tensor, Tensor, Tensor]:
    """Draw every pair there is: images (40, 1, 2, 6), labels (40), column of the left dot."""
    sizes = [torch.arange(n) for n in (ROWS, COLUMNS - 1, 2, 2)]
    row, column, left, right = torch.cartesian_prod(*sizes).T
    return *draw_pair(row, column, left, right), column
