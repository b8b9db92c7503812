"""Tell tokens where they stand: five ways, at three places of an attention layer."""

import torch
from torch import Tensor, nn


def sinusoidal_positions(n_position: int, n_embd: int) -> Tensor:
    """Write a position as sines and cosines of clocks of different speeds.

    -> (T, C) float32 for the positions 0 to n_position - 1; n_embd is even. Pair i
    of the columns has the angle t / 10000^(2i / C) at position t: its sine stands
    in column 2i, its cosine in column 2i + 1, side by side.

    >>> sinusoidal_positions(n_position=2, n_embd=4)
    tensor([[0.0000, 1.0000, 0.0000, 1.0000],
            [0.8415, 0.5403, 0.0100, 0.9999]])
    """
    position = torch.arange(n_position)[:, None]  # (T, 1)
    speed = 10000.0 ** (-torch.arange(0, n_embd, 2) / n_embd)  # (C / 2,)
    angle = position * speed
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)


class LearnedPositions(nn.Module):
    """Learn a vector for every position; add it to the token that stands there."""

    def __init__(self, block_size: int, n_embd: int):
        super().__init__()
        self.table = nn.Embedding(block_size, n_embd)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """Add to every token the row of its position, start + t for token t.

        x (..., T, C) -> (..., T, C). Past the end of the table raise a ValueError
        whose text names two numbers: how many rows the table has, and how many
        would be needed.
        """
        end, rows = start + x.size(-2), self.table.num_embeddings
        if end > rows:
            raise ValueError(
                f"LearnedPositions: the table has {rows} rows, this text needs {end}; "
                "use a larger block_size."
            )
        return x + self.table.weight[start:end]


class RelativeBias(nn.Module):
    """Learn, for every head, how welcome a key is by its distance from the query."""

    def __init__(self, n_head: int, max_distance: int):
        super().__init__()
        self.max_distance = max_distance
        self.table = nn.Embedding(2 * max_distance + 1, n_head)

    def forward(self, n_query: int, n_key: int | None = None) -> Tensor:
        """Look up what is added to the score of every head, query and key.

        -> (H, T, S). A key at offset o = (key's position - query's position) has
        row o + max_distance of the table; an offset beyond -max_distance or
        max_distance counts as that one. The keys stand at 0 to S - 1 (S = T when
        n_key is None); with more keys than queries the queries are the last ones:
        query i stands at position i + S - T.
        """
        n_key = n_query if n_key is None else n_key
        device, far = self.table.weight.device, self.max_distance
        query = torch.arange(n_key - n_query, n_key, device=device)[:, None]
        offset = torch.arange(n_key, device=device) - query  # (T, S)
        row = offset.clamp(-far, far) + far
        return self.table.weight[row].movedim(-1, 0)


def apply_rotary(x: Tensor, start: int = 0) -> Tensor:
    """Turn pairs of columns by an angle that grows with the position.

    x (..., T, D), queries or keys, D even -> (..., T, D) of x's dtype. Token t
    stands at position p = start + t. The pairs are interleaved: columns 2i and
    2i + 1, (a, b), become (a cos - b sin, a sin + b cos) of the angle
    p / 10000^(2i / D), that of `sinusoidal_positions`. Work the angles out in
    float32 also when x is of half precision.

    >>> apply_rotary(torch.tensor([[1.0, 0.0], [1.0, 0.0]]))
    tensor([[1.0000, 0.0000],
            [0.5403, 0.8415]])
    """
    t, size = x.shape[-2:]
    table = sinusoidal_positions(start + t, size)[start:].to(x)  # (T, D)
    sin, cos = table[:, ::2], table[:, 1::2]  # (T, D / 2)
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


def alibi_bias(
    n_head: int,
    n_query: int,
    n_key: int | None = None,
    causal: bool = True,
) -> Tensor:
    """Make keys less welcome in proportion to their distance, nothing learned.

    -> (H, T, S), to be added to the scores. Head h = 1, ..., H has the slope
    2^(-8h / H). A head that looks back gives -slope * distance to the query's own
    place and to the keys before it, and -inf to later keys. With causal=True every
    head looks back; with causal=False heads 2, 4, ... look ahead instead:
    -slope * distance from the own place on, -inf to the keys before it.
    Keys and queries stand as in `RelativeBias`: query i at position i + S - T.

    >>> alibi_bias(n_head=2, n_query=2)
    tensor([[[-0.0000,    -inf],
             [-0.0625, -0.0000]],
    <BLANKLINE>
            [[-0.0000,    -inf],
             [-0.0039, -0.0000]]])
    """
    n_key = n_query if n_key is None else n_key
    query = torch.arange(n_key - n_query, n_key)[:, None]  # (T, 1)
    back = query - torch.arange(n_key)  # (T, S): steps back to the key
    if not causal:
        ahead = torch.arange(n_head) % 2 == 1
        back = torch.where(ahead[:, None, None], -back, back)  # (H, T, S)
    slope = 2.0 ** (-8 * torch.arange(1, n_head + 1) / n_head)  # (H,)
    return (-slope[:, None, None] * back).masked_fill(back < 0, -torch.inf)
