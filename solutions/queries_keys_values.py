"""Attention with three roles: a query asks, keys answer, values are handed over."""

import math

import torch
from torch import Tensor, nn


def project_qkv(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Turn every token into its query, its key and its value.

    x (..., T, C), tokens as rows; w_q (C, D), w_k (C, D), w_v (C, E)
    -> queries (..., T, D), keys (..., T, D), values (..., T, E). There are no biases.

    >>> x = torch.tensor([[1.0, 2.0]])
    >>> w_q, w_k = torch.tensor([[1.0], [0.0]]), torch.tensor([[0.0], [1.0]])
    >>> project_qkv(x, w_q, w_k, torch.eye(2))
    (tensor([[1.]]), tensor([[2.]]), tensor([[1., 2.]]))
    """
    return x @ w_q, x @ w_k, x @ w_v


def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> Tensor:
    """Mix the values by how well each query matches each key.

    q (..., T, D), k (..., S, D), v (..., S, E), mask (..., T, S), True where looking is
    allowed -> (..., T, E). A query that may look at nothing gets zeros.

    The scores are divided by the root of D, the width of the queries. `mask` is boolean
    and stretches to the scores like any tensor: (T, S), (B, T, S) or (B, 1, S). A
    forbidden place gets weight 0 exactly, in half precision too; each row of weights
    sums to one.

    >>> q = torch.tensor([[2.0, 0.0, 0.0, 0.0]])  # D = 4, so the scores are halved
    >>> k = torch.tensor([[0.0, 5.0, 0.0, 0.0], [math.log(3), 0.0, 0.0, 0.0]])
    >>> v = torch.tensor([[0.0], [8.0]])
    >>> scaled_dot_product_attention(q, k, v).round(decimals=3)  # weights 1/4, 3/4
    tensor([[6.]])
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))  # (..., T, S)
    if mask is None:
        return scores.softmax(-1) @ v
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
    return weights.masked_fill(~mask, 0.0) @ v  # a row of nothing but -inf is nan


def causal_mask(n_query: int, n_key: int | None = None) -> Tensor:
    """Allow each token to look at itself and at what came before.

    -> (T, S) bool, True where looking is allowed; S = T when n_key is None. With more
    keys than queries the queries are the last ones: query i stands at i + S - T.

    >>> causal_mask(2, 3)
    tensor([[ True,  True, False],
            [ True,  True,  True]])
    """
    n_key = n_query if n_key is None else n_key
    return torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query)


def padding_mask(ids: Tensor, padding: int = 0) -> Tensor:
    """Forbid looking at padding, wherever in a row it stands.

    ids (..., S), whole numbers; `padding` is the id that only fills up
    -> (..., 1, S) bool, True where the token is real: one row serves every query.

    >>> padding_mask(torch.tensor([[5, 7, 2], [3, 0, 0]]))
    tensor([[[ True,  True,  True]],
    <BLANKLINE>
            [[ True, False, False]]])
    """
    return (ids != padding).unsqueeze(-2)


class SelfAttention(nn.Module):
    """Let the tokens of one sequence ask each other."""

    def __init__(self, n_embd: int, head_size: int, bias: bool = False):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=bias)
        self.key = nn.Linear(n_embd, head_size, bias=bias)
        self.value = nn.Linear(n_embd, head_size, bias=bias)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Ask, answer and hand over within x.

        x (..., T, C), mask (..., T, T), True where looking is allowed -> (..., T, D).
        """
        q, k, v = self.query(x), self.key(x), self.value(x)
        return scaled_dot_product_attention(q, k, v, mask)


class CrossAttention(nn.Module):
    """Let the tokens of one sequence ask those of another."""

    def __init__(self, n_embd: int, n_context: int, head_size: int, bias: bool = False):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=bias)
        self.key = nn.Linear(n_context, head_size, bias=bias)
        self.value = nn.Linear(n_context, head_size, bias=bias)

    def forward(self, x: Tensor, context: Tensor, mask: Tensor | None = None) -> Tensor:
        """Ask from x; let the context answer and hand over.

        x (..., T, C), context (..., S, C') with a width of its own, mask (..., T, S),
        True where looking is allowed -> (..., T, D): a row for each query.
        """
        q, k, v = self.query(x), self.key(context), self.value(context)
        return scaled_dot_product_attention(q, k, v, mask)
