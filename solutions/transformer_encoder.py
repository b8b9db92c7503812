"""The stack that reads: words with their places, then Transformer blocks on top of each other."""

import math

from torch import Tensor, nn

from solutions.layer_norm import LayerNorm, TransformerBlock
from solutions.position import sinusoidal_positions


class PlacedEmbedding(nn.Module):
    """Turn ids into vectors and add to each the mark of its place."""

    def __init__(self, n_vocab: int, n_embd: int):
        super().__init__()
        self.table = nn.Embedding(n_vocab, n_embd)
        nn.init.normal_(self.table.weight, std=n_embd**-0.5)

    def forward(self, ids: Tensor) -> Tensor:
        """Look up each id's row, times the root of C, and add the sinusoids of its place.

        ids (B, T) -> (B, T, C). The root brings the rows to the size of the sinusoids: without it
        the places would drown the words.
        """
        x = self.table(ids) * math.sqrt(self.table.embedding_dim)
        return x + sinusoidal_positions(ids.size(-1), x.size(-1)).to(x)


class Encoder(nn.Module):
    """Read a sentence: every word ends as a vector that knows its surroundings.

    norm: "pre" or "post", as in TransformerBlock. In pre-norm nobody normalises what leaves the
    last block, so a last norm does.
    """

    def __init__(
        self,
        n_vocab: int,
        n_embd: int,
        n_head: int,
        n_layer: int,
        norm: str = "pre",
        n_hidden: int | None = None,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.embedding = PlacedEmbedding(n_vocab, n_embd)
        self.blocks = nn.ModuleList(
            TransformerBlock(n_embd, n_head, norm, n_hidden, dropout=dropout)
            for _ in range(n_layer)
        )
        self.last_norm = LayerNorm(n_embd) if norm == "pre" else nn.Identity()

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Embed, send through all blocks, normalise.

        ids (B, S), mask (B, 1, S) or (B, S, S) True where looking is allowed -> (B, S, C).
        """
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x, mask)
        return self.last_norm(x)
