"""Other right answers to the exercises of position: each must get full marks."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from solutions.position import LearnedPositions, RelativeBias


def sinusoidal_positions__loops(n_position, n_embd):
    table = torch.zeros(n_position, n_embd)
    for t in range(n_position):
        for i in range(n_embd // 2):
            angle = t / 10000 ** (2 * i / n_embd)
            table[t, 2 * i] = math.sin(angle)
            table[t, 2 * i + 1] = math.cos(angle)
    return table


def sinusoidal_positions__written_into_columns(n_position, n_embd):
    table = torch.empty(n_position, n_embd)
    position = torch.arange(n_position, dtype=torch.float32)[:, None]
    div = torch.exp(torch.arange(0, n_embd, 2).float() * (-math.log(10000.0) / n_embd))
    table[:, 0::2] = torch.sin(position * div)
    table[:, 1::2] = torch.cos(position * div)
    return table


def sinusoidal_positions__sine_shifted_to_cosine(n_position, n_embd):
    column = torch.arange(n_embd)
    angle = torch.outer(torch.arange(n_position).double(), 10000.0 ** -(column // 2 * 2 / n_embd))
    return torch.sin(angle + (column % 2) * math.pi / 2).float()


def sinusoidal_positions__complex_numbers(n_position, n_embd):
    speed = torch.pow(torch.tensor(10000.0), -torch.arange(0, n_embd, 2).float() / n_embd)
    angle = torch.arange(n_position).float()[:, None] * speed
    turned = torch.polar(torch.ones_like(angle), math.pi / 2 - angle)  # its real part is the sine
    return torch.view_as_real(turned).reshape(n_position, n_embd)


class LearnedPositions__looked_up(LearnedPositions):
    def forward(self, x, start=0):
        t = x.shape[-2]
        rows = self.table.weight.shape[0]
        if start + t > rows:
            raise ValueError(f"{start + t} positions asked for, there are only {rows}")
        return self.table(torch.arange(start, start + t, device=x.device)) + x


class LearnedPositions__narrowed(LearnedPositions):
    def forward(self, x, start=0):
        last = start + x.size(-2) - 1
        if last >= self.table.num_embeddings:
            raise ValueError(f"no row for {last + 1} tokens: block_size={len(self.table.weight)}")
        return x.add(self.table.weight.narrow(0, start, x.size(-2)))


class LearnedPositions__token_by_token(nn.Module):
    def __init__(self, block_size, n_embd):
        super().__init__()
        self.table = nn.Embedding(block_size, n_embd)
        self.block_size = block_size

    def forward(self, x, start=0):
        tokens = x.unbind(-2)
        if start + len(tokens) > self.block_size:
            raise ValueError(f"need {start + len(tokens)} rows, have {self.block_size}")
        placed = [token + self.table.weight[start + i] for i, token in enumerate(tokens)]
        return torch.stack(placed, dim=-2)


class RelativeBias__loops(RelativeBias):
    def forward(self, n_query, n_key=None):
        n_key = n_key or n_query
        k, rows = self.max_distance, []
        for t in range(n_key - n_query, n_key):
            index = [max(-k, min(k, s - t)) + k for s in range(n_key)]
            rows.append(self.table(torch.tensor(index)))
        return torch.stack(rows).permute(2, 0, 1)


class RelativeBias__one_hot_product(RelativeBias):
    def forward(self, n_query, n_key=None):
        n_key = n_query if n_key is None else n_key
        place = torch.arange(n_key)
        offset = place[None, :] - place[n_key - n_query :, None]
        row = torch.clamp(offset + self.max_distance, 0, 2 * self.max_distance)
        chosen = F.one_hot(row, 2 * self.max_distance + 1).to(self.table.weight)
        return torch.einsum("tso,oh->hts", chosen, self.table.weight)


class RelativeBias__square_then_cut(RelativeBias):
    def forward(self, n_query, n_key=None):
        n_key = n_query if n_key is None else n_key
        grid = torch.arange(n_key).unsqueeze(0) - torch.arange(n_key).unsqueeze(1)
        grid = grid.clip(min=-self.max_distance, max=self.max_distance)[-n_query:]
        return F.embedding(grid + self.max_distance, self.table.weight).permute(2, 0, 1)


def apply_rotary__complex_numbers(x, start=0):
    t, d = x.shape[-2:]
    speed = 10000.0 ** (-torch.arange(0, d, 2).float() / d)
    angle = torch.arange(start, start + t).float()[:, None] * speed
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], d // 2, 2).contiguous())
    turned = pairs * torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(turned).flatten(-2).to(x.dtype)


def apply_rotary__quarter_turn(x, start=0):
    t, d = x.shape[-2:]
    speed = 1.0 / 10000 ** (torch.arange(0, d, 2) / d)
    angle = torch.outer(torch.arange(start, start + t).float(), speed).repeat_interleave(2, -1)
    quarter = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).reshape(x.shape)
    return x * angle.cos().to(x.dtype) + quarter * angle.sin().to(x.dtype)


def apply_rotary__matrices(x, start=0):
    t, d = x.shape[-2:]
    out = []
    for i in range(t):
        turn = torch.zeros(d, d)
        for j in range(0, d, 2):
            angle = torch.tensor((start + i) / 10000 ** (j / d))
            c, s = angle.cos(), angle.sin()
            turn[j, j], turn[j, j + 1], turn[j + 1, j], turn[j + 1, j + 1] = c, s, -s, c
        out.append(x[..., i, :] @ turn.to(x.dtype))
    return torch.stack(out, dim=-2)


def apply_rotary__written_into_place(x, start=0):
    d = x.size(-1)
    out = torch.empty_like(x)
    for i in range(d // 2):
        angle = torch.arange(start, start + x.size(-2)) / 10000 ** (2 * i / d)
        c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        out[..., 2 * i] = x[..., 2 * i] * c - x[..., 2 * i + 1] * s
        out[..., 2 * i + 1] = x[..., 2 * i] * s + x[..., 2 * i + 1] * c
    return out


def alibi_bias__loops(n_head, n_query, n_key=None, causal=True):
    n_key = n_key or n_query
    bias = torch.full((n_head, n_query, n_key), float("-inf"))
    for h in range(n_head):
        slope = 2 ** (-8 * (h + 1) / n_head)
        looks_ahead = not causal and h % 2 == 1
        for t in range(n_query):
            place = t + n_key - n_query
            for s in range(n_key):
                distance = s - place if looks_ahead else place - s
                if distance >= 0:
                    bias[h, t, s] = -slope * distance
    return bias


def alibi_bias__masked_by_triangles(n_head, n_query, n_key=None, causal=True):
    n_key = n_query if n_key is None else n_key
    place = torch.arange(n_key)
    distance = (place[n_key - n_query :, None] - place).abs()
    slope = torch.tensor([2 ** (-8 * h / n_head) for h in range(1, n_head + 1)])
    bias = -slope.view(-1, 1, 1) * distance.float()
    shift = n_key - n_query
    before = torch.ones(n_query, n_key, dtype=torch.bool).tril(shift)
    after = torch.ones(n_query, n_key, dtype=torch.bool).triu(shift)
    allowed = torch.stack([before if causal or h % 2 == 0 else after for h in range(n_head)])
    return torch.where(allowed, bias, torch.tensor(-torch.inf))


def alibi_bias__joined_heads(n_head, n_query, n_key=None, causal=True):
    n_key = n_query if n_key is None else n_key
    offset = torch.arange(n_key) - torch.arange(n_key - n_query, n_key)[:, None]
    heads = []
    for h in range(1, n_head + 1):
        signed = offset if causal or h % 2 else -offset  # at most 0 where looking is allowed
        bias = signed * 0.5 ** (8 * h / n_head)
        heads.append(bias + torch.zeros(bias.shape).masked_fill(signed > 0, -torch.inf))
    return torch.stack(heads)
