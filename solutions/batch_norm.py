"""Batch normalisation, to stand beside layer normalisation: the same formula, another axis."""

import torch
from torch import Tensor, nn


def batch_norm(x: Tensor, eps: float = 1e-5) -> Tensor:
    """Bring every feature to mean 0 and variance 1 over all tokens of the batch.

    x (..., C) -> (..., C). This is what happens in training; for later use PyTorch's layer keeps
    running averages of the means and variances it has seen.
    """
    tokens = tuple(range(x.ndim - 1))  # every axis but the features
    mean = x.mean(tokens, keepdim=True)  # (1, ..., 1, C)
    variance = (x - mean).square().mean(tokens, keepdim=True)
    return (x - mean) / torch.sqrt(variance + eps)


class BatchNorm(nn.Module):
    """Normalise by the batch, with a gain and a bias for each feature; no running averages."""

    def __init__(self, n_embd: int, eps: float = 1e-5):
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.ones(n_embd))
        self.bias = nn.Parameter(torch.zeros(n_embd))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise x (..., C) -> (..., C) with the statistics of this very batch."""
        return self.gain * batch_norm(x, self.eps) + self.bias


class NoNorm(nn.Module):
    """Leave everything as it is: what a tower is without norms."""

    def __init__(self, n_embd: int, eps: float = 1e-5):
        super().__init__()

    def forward(self, x: Tensor) -> Tensor:
        """Return x."""
        return x
