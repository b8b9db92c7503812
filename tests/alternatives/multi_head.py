"""Other right answers to the exercises of multi_head: each must get full marks."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from solutions.multi_head import MultiHeadAttention, merge_heads, split_heads


def split_heads__view_and_transpose(x, n_head):
    *leading, t, c = x.shape
    return x.contiguous().view(*leading, t, n_head, c // n_head).transpose(-3, -2)


def split_heads__chunk_and_stack(x, n_head):
    return torch.stack(x.chunk(n_head, dim=-1), dim=-3)


def split_heads__loop_over_heads(x, n_head):
    d = x.shape[-1] // n_head
    return torch.stack([x[..., h * d : (h + 1) * d] for h in range(n_head)], dim=-3)


def split_heads__loop_over_tokens(x, n_head):
    d = x.size(-1) // n_head
    tokens = [x[..., t, :].reshape(*x.shape[:-2], n_head, d) for t in range(x.size(-2))]
    return torch.stack(tokens, dim=-2)


def split_heads__permuted_and_contiguous(x, n_head):
    cut = x.reshape(*x.shape[:-1], n_head, -1)
    axes = list(range(cut.dim()))
    axes[-3], axes[-2] = axes[-2], axes[-3]
    return cut.permute(*axes).contiguous()


def split_heads__gathered_columns(x, n_head):
    columns = torch.arange(x.size(-1)).view(n_head, -1)
    return torch.movedim(x[..., columns], -2, -3)


def split_heads__unfold(x, n_head):
    d = x.size(-1) // n_head
    return x.unfold(-1, d, d).swapaxes(-2, -3)


def merge_heads__transpose_and_view(x):
    *leading, h, t, d = x.shape
    return x.transpose(-3, -2).contiguous().view(*leading, t, h * d)


def merge_heads__concatenated(x):
    return torch.cat(x.unbind(-3), dim=-1)


def merge_heads__written_into_place(x):
    *leading, h, t, d = x.shape
    out = torch.zeros(*leading, t, h * d, dtype=x.dtype)
    for i in range(h):
        out[..., i * d : (i + 1) * d] = x[..., i, :, :]
    return out


def merge_heads__loop_over_tokens(x):
    return torch.stack([x[..., t, :].flatten(-2) for t in range(x.size(-2))], dim=-2)


def merge_heads__swapped_axes_and_reshape(x):
    y = x.swapdims(-3, -2)
    return y.reshape((*y.shape[:-2], -1))


class MultiHeadAttention__torch_builtin(MultiHeadAttention):
    def forward(self, x, context=None, mask=None):
        if context is None:
            context = x
        q, k, v = (
            split_heads(project(y), self.n_head)
            for project, y in ((self.query, x), (self.key, context), (self.value, context))
        )
        if mask is not None:
            mask = mask[None, None] if mask.dim() == 2 else mask[:, None]
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        if mask is not None:  # a query that may look at nothing: nan in some versions
            heads = torch.where(mask.any(-1, keepdim=True), heads, torch.zeros_like(heads))
        return self.out(merge_heads(heads))


class MultiHeadAttention__einsum(MultiHeadAttention):
    def forward(self, x, context=None, mask=None):
        context = x if context is None else context
        h = self.n_head
        q = self.query(x).unflatten(-1, (h, -1))  # (B, T, H, D)
        k = self.key(context).unflatten(-1, (h, -1))
        v = self.value(context).unflatten(-1, (h, -1))
        scores = torch.einsum("bthd,bshd->bhts", q, k) * q.size(-1) ** -0.5
        if mask is None:
            weights = torch.softmax(scores, -1)
        else:
            allowed = (mask if mask.dim() == 3 else mask.unsqueeze(0)).unsqueeze(1)
            weights = torch.softmax(scores.masked_fill(~allowed, -1e30), -1) * allowed
        return self.out(torch.einsum("bhts,bshd->bthd", weights, v).flatten(2))


class MultiHeadAttention__one_head_at_a_time(MultiHeadAttention):
    def forward(self, x, context=None, mask=None):
        context = x if context is None else context
        d = x.size(-1) // self.n_head
        q, k, v = self.query(x), self.key(context), self.value(context)
        outputs = []
        for h in range(self.n_head):
            columns = slice(h * d, (h + 1) * d)
            scores = q[..., columns] @ k[..., columns].mT / math.sqrt(d)
            if mask is not None:
                scores = scores.masked_fill(~mask, float("-inf"))
            weights = scores.softmax(-1)
            if mask is not None:
                weights = torch.nan_to_num(weights)
            outputs.append(weights @ v[..., columns])
        return self.out(torch.cat(outputs, -1))


class MultiHeadAttention__heads_in_the_batch(MultiHeadAttention):
    def forward(self, x, context=None, mask=None):
        context = x if context is None else context
        b, t, c = x.shape
        s, h = context.shape[1], self.n_head
        q = self.query(x).view(b, t, h, c // h).transpose(1, 2).reshape(b * h, t, c // h)
        k = self.key(context).view(b, s, h, c // h).transpose(1, 2).reshape(b * h, s, c // h)
        v = self.value(context).view(b, s, h, c // h).transpose(1, 2).reshape(b * h, s, c // h)
        scores = torch.bmm(q / math.sqrt(c // h), k.transpose(1, 2))
        if mask is not None:
            allowed = mask.expand(b, t, s).repeat_interleave(h, dim=0)
            scores = scores + torch.zeros_like(scores).masked_fill(~allowed, -1e9)
            weights = scores.softmax(-1).masked_fill(~allowed, 0.0)
        else:
            weights = scores.softmax(-1)
        heads = torch.bmm(weights, v).view(b, h, t, c // h)
        return self.out(heads.permute(0, 2, 1, 3).reshape(b, t, c))


class MultiHeadAttention__fused_projection(MultiHeadAttention):
    def forward(self, x, context=None, mask=None):
        context = x if context is None else context
        weight = torch.cat([self.key.weight, self.value.weight])
        bias = None if self.key.bias is None else torch.cat([self.key.bias, self.value.bias])
        k, v = (split_heads(p, self.n_head) for p in F.linear(context, weight, bias).chunk(2, -1))
        q = split_heads(self.query(x), self.n_head)
        scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
        if mask is not None:
            mask = mask.unsqueeze(-3)
            scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights * mask.to(weights.dtype)
        return self.out(merge_heads(weights @ v))


class MultiHeadAttention__output_projected_by_heads(nn.Module):
    """The output projection is linear: project each head's answer by its columns and add."""

    def __init__(self, n_embd, n_head, bias=False):
        super().__init__()
        assert n_embd % n_head == 0
        self.n_head, self.size = n_head, n_embd // n_head
        self.query = nn.Linear(n_embd, n_embd, bias=bias)
        self.key = nn.Linear(n_embd, n_embd, bias=bias)
        self.value = nn.Linear(n_embd, n_embd, bias=bias)
        self.out = nn.Linear(n_embd, n_embd, bias=bias)

    def forward(self, x, context=None, mask=None):
        source = x if context is None else context
        q, k, v = self.query(x), self.key(source), self.value(source)
        total = 0 if self.out.bias is None else self.out.bias
        for head in range(self.n_head):
            own = slice(head * self.size, head * self.size + self.size)
            scores = torch.einsum("btd,bsd->bts", q[:, :, own], k[:, :, own]) / math.sqrt(self.size)
            if mask is not None:  # a large forbidden score must not be the one subtracted
                scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
            powers = (scores - scores.amax(-1, keepdim=True)).exp()
            if mask is not None:
                powers = powers * mask
            weights = powers / powers.sum(-1, keepdim=True).clamp_min(1e-20)
            total = total + weights @ v[:, :, own] @ self.out.weight[:, own].T
        return total
