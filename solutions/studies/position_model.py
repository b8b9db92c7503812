"""A small encoder with three places where a position may come in, for any scheme.

The sums `x + ...` and `nn.LayerNorm` in its blocks are the subject of the next two lessons; here
they are given, because two layers train badly without them.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, nn

from solutions.data.places import FILLERS, draw_order
from solutions.multi_head import merge_heads, split_heads
from solutions.queries_keys_values import causal_mask
from solutions.train import Recipe, train


class NoPositions(nn.Module):
    """Say nothing about positions; a scheme changes one of the three methods."""

    def add(self, x: Tensor) -> Tensor:
        """Change the embeddings (B, T, C) of the tokens, once, before the first block."""
        return x

    def turn(self, x: Tensor) -> Tensor:
        """Change the queries and the keys (B, H, T, D), in every block."""
        return x

    def bias(self, length: int) -> Tensor | float:
        """Return what is added to the scores (H, T, T), in every block."""
        return 0.0


class Added(NoPositions):
    """Add a table made by `positions(length, n_embd)` to the embeddings."""

    def __init__(self, positions: Callable[[int, int], Tensor]):
        super().__init__()
        self.positions = positions

    def add(self, x: Tensor) -> Tensor:
        return x + self.positions(x.size(-2), x.size(-1)).to(x)


class Block(nn.Module):
    """Attend, then think about each token by itself."""

    def __init__(self, n_embd: int, n_head: int):
        super().__init__()
        self.n_head = n_head
        self.norm, self.norm_2 = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd)
        self.qkv = nn.Linear(n_embd, 3 * n_embd, bias=False)
        self.out = nn.Linear(n_embd, n_embd, bias=False)
        self.think = nn.Sequential(
            nn.Linear(n_embd, 2 * n_embd), nn.ReLU(), nn.Linear(2 * n_embd, n_embd)
        )

    def forward(self, x: Tensor, scheme: NoPositions, mask: Tensor | None):
        """x (B, T, C) -> (B, T, C), and where each head looked: (B, H, T, T)."""
        parts = self.qkv(self.norm(x)).chunk(3, dim=-1)
        q, k, v = (split_heads(part, self.n_head) for part in parts)
        q, k = scheme.turn(q), scheme.turn(k)  # never the values
        scores = q @ k.mT / math.sqrt(q.size(-1)) + scheme.bias(x.size(-2))
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(-1)
        x = x + self.out(merge_heads(weights @ v))
        return x + self.think(self.norm_2(x)), weights


class PositionModel(nn.Module):
    """Read token ids (B, T); score the whole text (pool=True) or every place of it."""

    def __init__(
        self,
        scheme: NoPositions,
        n_token: int,
        n_out: int,
        causal: bool,
        pool: bool,
        n_embd: int = 32,
        n_head: int = 4,
        n_layer: int = 2,
    ):
        super().__init__()
        self.scheme, self.causal, self.pool = scheme, causal, pool
        self.embed = nn.Embedding(n_token, n_embd)
        self.blocks = nn.ModuleList(Block(n_embd, n_head) for _ in range(n_layer))
        self.norm = nn.LayerNorm(n_embd)
        self.read = nn.Linear(n_embd, n_out)

    def look(self, ids: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return the scores, (B, n_out) or (B, T, n_out), and every block's weights."""
        mask = causal_mask(ids.size(-1)).to(ids.device) if self.causal else None
        x, looked = self.scheme.add(self.embed(ids)), []
        for block in self.blocks:
            x, weights = block(x, self.scheme, mask)
            looked.append(weights)
        x = self.norm(x)
        return self.read(x.mean(-2) if self.pool else x), looked

    def forward(self, ids: Tensor) -> Tensor:
        return self.look(ids)[0]


TINY = Recipe(steps=120, batch=32, lr=3e-2, warmup=10)  # half a second


def order_at_two_lengths(positions: Callable[[int, int], Tensor], seed: int = 0) -> dict:
    """Train two tiny encoders on 8 tokens, without and with positions, and test them at 8 and 48.

    `positions(length, n_embd)` makes the table to add, the reference's or your own.
    """

    def right(model: nn.Module, length: int) -> float:
        ids, target = draw_order(300, length, torch.Generator().manual_seed(1))
        with torch.no_grad():
            return (model(ids).argmax(-1) == target).float().mean().item()

    found = {}
    for name, scheme in {"without": NoPositions(), "with": Added(positions)}.items():
        torch.manual_seed(seed)
        model = PositionModel(scheme, 2 + FILLERS, 2, False, True, n_embd=16, n_head=1, n_layer=1)
        train(model, lambda n, g: draw_order(n, 8, g), replace(TINY, seed=seed), progress=False)
        found[name] = {length: right(model, length) for length in (8, 48)}
    return found
