"""Tensors, axes and averages: the three functions every later lesson leans on."""

import torch
from torch import Tensor


def softmax(x: Tensor, dim: int) -> Tensor:
    """Turn scores into positive weights that sum to one along `dim`.

    x any shape, dim one of its axes (may be negative) -> same shape and dtype.
    Scores as large as 10,000 must not overflow: the result stays finite.

    >>> softmax(torch.tensor([0.0, 0.0, math.log(2.0)]), dim=0)
    tensor([0.2500, 0.2500, 0.5000])
    """
    shifted = x - x.amax(dim, keepdim=True)  # the weights depend on differences only
    exponentials = shifted.exp()
    return exponentials / exponentials.sum(dim, keepdim=True)


def weighted_average(weights: Tensor, values: Tensor) -> Tensor:
    """Average the rows of `values`, once for every row of `weights`.

    weights (..., T, S) each row sums to one, values (..., S, C) -> (..., T, C).
    The leading axes are broadcast: one table of values may serve a whole batch of weights.

    >>> weighted_average(torch.tensor([[0.25, 0.75]]), torch.tensor([[0.0, 8.0], [4.0, 0.0]]))
    tensor([[3., 2.]])
    """
    return weights @ values


def one_hot_rows(ids: Tensor, n: int) -> Tensor:
    """Write each id as a row of n numbers: 1.0 in column id, 0.0 elsewhere.

    ids (...) whole numbers from 0 to n - 1 -> (..., n) float32.

    >>> one_hot_rows(torch.tensor([2, 0]), n=3)
    tensor([[0., 0., 1.],
            [1., 0., 0.]])
    """
    columns = torch.arange(n, device=ids.device)
    return (ids.unsqueeze(-1) == columns).float()  # (..., 1) against (n) -> (..., n)
