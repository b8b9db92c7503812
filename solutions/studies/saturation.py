"""Watch a softmax saturate: random queries and keys of growing width, with any attention."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

SCALES = {"not divided": 0.0, "divided by the root of D": 0.5, "divided by D": 1.0}


def saturation(
    attention: Callable, width: int, seed: int = 0, n_row: int = 200, n_key: int = 64
) -> dict[str, dict[str, float]]:
    """Measure the weights of one query over n_key random keys, for three ways to divide.

    `attention(q, k, v)` divides by the root of the width by itself; the other two ways hand it
    longer or shorter queries. Every number of queries, keys and values has variance one.
    """
    draw = torch.Generator().manual_seed(1000 * seed + width)
    q = torch.randn(n_row, 1, width, generator=draw)
    k = torch.randn(n_row, n_key, width, generator=draw)
    pull = torch.randn(n_row, n_key, generator=draw)  # value . incoming gradient, one per key
    found = {}
    for name, power in SCALES.items():
        weights = weights_of(attention, q * width ** (0.5 - power), k)[:, 0]  # (n_row, n_key)
        gradient = score_gradient(weights, pull).norm(dim=-1)
        found[name] = {
            "entropy": entropy(weights).mean().item(),
            "largest": weights.amax(-1).mean().item(),
            "gradient": gradient.median().item(),
            "mean gradient": gradient.mean().item(),
        }
    return found


def weights_of(attention: Callable, q: Tensor, k: Tensor) -> Tensor:
    """Read off an attention's weights: it averages the rows of the identity, so they come out."""
    identity = torch.eye(k.size(-2), dtype=k.dtype, device=k.device)
    return attention(q, k, identity.expand(*k.shape[:-2], -1, -1))


def score_gradient(weights: Tensor, pull: Tensor) -> Tensor:
    """Give the gradient that arrives at the scores, p_s * (a_s - sum_j p_j a_j).

    weights p (..., S), and pull a (..., S): the value of each key times the incoming gradient.
    """
    return weights * (pull - (weights * pull).sum(-1, keepdim=True))


def entropy(weights: Tensor) -> Tensor:
    """Return the entropy of each row in nats: log S when all weights are equal, 0 for one key."""
    return -(weights * weights.clamp_min(1e-30).log()).sum(-1)


def even(n_key: int) -> float:
    """Return the entropy of even weights."""
    return math.log(n_key)
