"""Where are you, seen from me? A number for every offset within a window."""

import torch
from torch import Tensor


def window_offsets(size: int) -> Tensor:
    """Number the offsets between the tokens of a window of M x M: row of a table of biases.

    M = size -> (M * M, M * M) whole numbers from 0 to (2 M - 1)^2 - 1. The entry for a query at
    (r, c) and a key at (r', c') is (r - r' + M - 1) * (2 M - 1) + (c - c' + M - 1).

    >>> window_offsets(2)
    tensor([[4, 3, 1, 0],
            [5, 4, 2, 1],
            [7, 6, 4, 3],
            [8, 7, 5, 4]])
    """
    place = torch.cartesian_prod(torch.arange(size), torch.arange(size))  # (M * M, 2)
    offset = place[:, None] - place + size - 1  # (M * M, M * M, 2), from 0 on
    return offset[..., 0] * (2 * size - 1) + offset[..., 1]
