"""Attention with three roles: a query asks, keys answer, values are handed over."""

import math

import torch
from torch import Tensor


def scaled_dot_product_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None):
    """Mix the values by how well each query matches each key.

    q (..., T, D), k (..., S, D), v (..., S, E), mask (..., T, S) True where looking is allowed
    -> (..., T, E). A query that may look at nothing gets zeros.
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # (..., T, S)
    if mask is None:
        return scores.softmax(-1) @ v
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
    return weights.masked_fill(~mask.any(-1, keepdim=True), 0.0) @ v


def causal_mask(n_query: int, n_key: int | None = None) -> Tensor:
    """Allow each token to look at itself and at what came before.

    -> (T, S) bool, True where looking is allowed. With more keys than queries the queries are
    the last ones: query i stands at position i + S - T.
    """
    n_key = n_query if n_key is None else n_key
    return torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query)
