"""Other right answers to the exercises of queries_keys_values: each must get full marks."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from solutions.queries_keys_values import CrossAttention, scaled_dot_product_attention


def project_qkv__one_wide_matrix(x, w_q, w_k, w_v):
    sizes = [w.size(1) for w in (w_q, w_k, w_v)]
    return (x @ torch.cat([w_q, w_k, w_v], dim=1)).split(sizes, dim=-1)


def project_qkv__linear(x, w_q, w_k, w_v):
    return [F.linear(x, w.T) for w in (w_q, w_k, w_v)]


def project_qkv__columns(x, w_q, w_k, w_v):
    return tuple((w.T @ x.mT).mT for w in (w_q, w_k, w_v))


def project_qkv__einsum(x, w_q, w_k, w_v):
    return tuple(torch.einsum("...tc,cd->...td", x, w) for w in (w_q, w_k, w_v))


def scaled_dot_product_attention__torch_builtin(q, k, v, mask=None):
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    if mask is None:
        return out
    return torch.where(mask.any(-1, keepdim=True), out, torch.zeros_like(out))


def scaled_dot_product_attention__queries_divided_first(q, k, v, mask=None):
    scores = torch.matmul(q / q.shape[-1] ** 0.5, k.mT)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return torch.nan_to_num(weights) @ v


def scaled_dot_product_attention__lowest_number_then_zeros(q, k, v, mask=None):
    scores = torch.einsum("...td,...sd->...ts", q, k) * q.size(-1) ** -0.5
    if mask is None:
        return F.softmax(scores, -1) @ v
    scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
    return (F.softmax(scores, dim=-1) * mask) @ v


def scaled_dot_product_attention__exponentials_by_hand(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(k.size(-1))
    allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask
    highest = scores.masked_fill(~allowed, -torch.inf).amax(-1, keepdim=True)
    highest = highest.masked_fill(highest == -torch.inf, 0.0)
    powers = (scores - highest).masked_fill(~allowed, -torch.inf).exp()
    total = powers.sum(-1, keepdim=True)
    return powers @ v / total.masked_fill(total == 0, 1.0)


def scaled_dot_product_attention__one_query_at_a_time(q, k, v, mask=None):
    if mask is not None:
        mask = mask.expand(*q.shape[:-1], k.size(-2))
    rows = []
    for t in range(q.size(-2)):
        scores = (k * q[..., t : t + 1, :]).sum(-1) / math.sqrt(q.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~mask[..., t, :], -torch.inf)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights.masked_fill(~mask[..., t, :], 0.0)
        rows.append((weights.unsqueeze(-1) * v).sum(-2))
    return torch.stack(rows, dim=-2)


def causal_mask__positions_compared(n_query, n_key=None):
    if n_key is None:
        n_key = n_query
    query = torch.arange(n_key - n_query, n_key)
    return query[:, None] >= torch.arange(n_key)[None, :]


def causal_mask__upper_triangle_removed(n_query, n_key=None):
    n_key = n_key or n_query
    return ~torch.triu(torch.ones(n_query, n_key), diagonal=n_key - n_query + 1).bool()


def causal_mask__last_rows_of_a_square(n_query, n_key=None):
    n_key = n_query if n_key is None else n_key
    return torch.tril(torch.ones(n_key, n_key, dtype=torch.bool))[n_key - n_query :]


def causal_mask__lists(n_query, n_key=None):
    n_key = n_query if n_key is None else n_key
    return torch.tensor([[s <= t + n_key - n_query for s in range(n_key)] for t in range(n_query)])


def padding_mask__indexed(ids, padding=0):
    return ids.ne(padding)[..., None, :]


def padding_mask__not_equal(ids, padding=0):
    return torch.logical_not(ids == padding).unsqueeze(ids.dim() - 1)


def padding_mask__reshaped(ids, padding=0):
    return (ids != padding).reshape(*ids.shape[:-1], 1, ids.shape[-1])


class CrossAttention__torch_builtin(CrossAttention):
    def forward(self, x, context, mask=None):
        out = F.scaled_dot_product_attention(
            self.query(x), self.key(context), self.value(context), attn_mask=mask
        )
        return out if mask is None else out.masked_fill(~mask.any(-1, keepdim=True), 0.0)


class CrossAttention__weights_by_hand(CrossAttention):
    def forward(self, x, context, mask=None):
        scores = self.query(x) @ self.key(context).transpose(-2, -1)
        scores = scores / math.sqrt(self.key.weight.size(0))
        if mask is None:
            weights = scores.softmax(dim=-1)
        else:
            weights = torch.softmax(scores.masked_fill(~mask, -1e30), -1) * mask
        return weights @ self.value(context)


class CrossAttention__keys_and_values_in_one_product(nn.Module):
    def __init__(self, n_embd, n_context, head_size, bias=False):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=bias)
        self.key = nn.Linear(n_context, head_size, bias=bias)
        self.value = nn.Linear(n_context, head_size, bias=bias)

    def forward(self, x, context, mask=None):
        layers = (self.key, self.value)
        weight = torch.cat([layer.weight for layer in layers])
        bias = None if self.key.bias is None else torch.cat([layer.bias for layer in layers])
        k, v = F.linear(context, weight, bias).chunk(2, dim=-1)
        return scaled_dot_product_attention(self.query(x), k, v, mask)
