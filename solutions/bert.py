"""Understand by filling gaps: an encoder that reads in both directions, and its pre-training."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from solutions.layer_norm import LayerNorm, TransformerBlock
from solutions.position import LearnedPositions
from solutions.queries_keys_values import padding_mask

IGNORE = -100  # the label of a place that is not asked for; F.cross_entropy leaves it out


def mask_tokens(
    ids: Tensor, draws: Tensor, n_vocab: int, n_special: int, mask_id: int, share: float = 0.15
) -> tuple[Tensor, Tensor]:
    """Hide some tokens and say what they were: the exercise that BERT sets itself.

    ids (...), whole numbers; draws (3, ...), uniform random numbers from 0 to 1 of any float
    type, three for each token -> the ids to read (...) and the labels (...), two new tensors
    like ids. Ids below n_special are special ([PAD], [CLS], ...) and never chosen. Any other
    token is chosen where draws[0] is below share. What is read at a chosen place: with draws[1]
    below 0.8 mask_id; from 0.8 on, below 0.9, a random token; from 0.9 on the token itself.
    The random token is n_special + int(draws[2] * (n_vocab - n_special)): never a special
    one, and now and then the token itself. The label of a chosen place is the token that
    stood there, in all three cases; the label of any other place is -100.

    >>> draws = torch.tensor([[0.9, 0.1, 0.1], [0.5, 0.5, 0.95], [0.0, 0.0, 0.0]])
    >>> mask_tokens(torch.tensor([7, 8, 9]), draws, n_vocab=10, n_special=4, mask_id=3)
    (tensor([7, 3, 9]), tensor([-100,    8,    9]))
    """
    chosen = (draws[0] < share) & (ids >= n_special)
    labels = torch.where(chosen, ids, IGNORE)
    other = n_special + (draws[2] * (n_vocab - n_special)).to(ids.dtype)
    hidden = torch.where(chosen & (draws[1] < 0.9), other, ids)
    return torch.where(chosen & (draws[1] < 0.8), mask_id, hidden), labels


class BERT(nn.Module):
    """Read a text in both directions and return one vector for every token.

    Words, positions and segments each have a learned table; blocks with the norm after the sum.
    """

    def __init__(
        self,
        n_vocab: int,
        block_size: int,
        n_embd: int,
        n_head: int,
        n_layer: int,
        n_hidden: int | None = None,
        n_segment: int = 2,
        dropout: float = 0.0,
        eps: float = 1e-12,
    ):
        super().__init__()
        self.token = nn.Embedding(n_vocab, n_embd)
        self.position = LearnedPositions(block_size, n_embd)
        self.segment = nn.Embedding(n_segment, n_embd)
        self.norm = LayerNorm(n_embd, eps=eps)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(
            TransformerBlock(
                n_embd, n_head, "post", n_hidden, F.gelu, bias=True, dropout=dropout, eps=eps
            )
            for _ in range(n_layer)
        )
        for table in (self.token, self.position.table, self.segment):
            nn.init.normal_(table.weight, std=n_embd**-0.5)  # the read-out starts at size 1

    def forward(self, ids: Tensor, segments: Tensor | None = None) -> Tensor:
        """Embed, normalise, drop out, and go up the blocks.

        ids (B, T), 0 is padding; segments (B, T), to which of several texts a token belongs,
        all 0 when it is None -> (B, T, C). A token's vector is the sum of its rows of `token`
        and `segment` and of its `position`; then comes `norm`, then `dropout`. In every block
        each token may look at all tokens before and behind it, but nobody at padding.
        """
        segments = torch.zeros_like(ids) if segments is None else segments
        x = self.position(self.token(ids) + self.segment(segments))
        x = self.dropout(self.norm(x))
        mask = padding_mask(ids)  # (B, 1, T)
        for block in self.blocks:
            x = block(x, mask)
        return x


class MaskedLanguageModel(nn.Module):
    """Put a read-out on top of BERT that says which word stands, or stood, at every place."""

    def __init__(self, bert: BERT):
        super().__init__()
        n_vocab, n_embd = bert.token.weight.shape
        self.bert = bert
        self.transform = nn.Linear(n_embd, n_embd)
        self.norm = LayerNorm(n_embd, eps=bert.norm.eps)
        self.bias = nn.Parameter(torch.zeros(n_vocab))

    def forward(self, ids: Tensor, segments: Tensor | None = None) -> Tensor:
        """Score every word of the vocabulary at every place.

        ids, segments (B, T) -> scores (B, T, V), no softmax. Each vector that `bert` returns
        goes through `transform`, `F.gelu` and `norm`; a word's score is its product with the
        word's row of bert.token.weight, the very table that reads words in, plus the word's
        number in `bias`.
        """
        x = self.norm(F.gelu(self.transform(self.bert(ids, segments))))
        return x @ self.bert.token.weight.T + self.bias

    def loss(self, ids: Tensor, labels: Tensor, segments: Tensor | None = None) -> Tensor:
        """Compare the scores with the labels where there is one: their mean cross-entropy.

        ids, labels (B, T); a label of -100 is not asked for -> one number. The mean runs over
        all places with a label, of all texts together; it is 0 where there are none.
        """
        scores = self(ids, segments).flatten(0, -2)  # (B * T, V)
        labels = labels.flatten()
        total = F.cross_entropy(scores, labels, ignore_index=IGNORE, reduction="sum")
        return total / (labels != IGNORE).sum().clamp(min=1)
