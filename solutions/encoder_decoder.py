"""The original Transformer: a stack that reads, a stack that writes, attention between them."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from solutions.data.tiny_french import EOS, PAD, SOS
from solutions.layer_norm import LayerNorm
from solutions.multi_head import MultiHeadAttention
from solutions.queries_keys_values import causal_mask, padding_mask
from solutions.residual import FeedForward
from solutions.teacher_forcing import shift_right
from solutions.transformer_encoder import Encoder, PlacedEmbedding


class DecoderBlock(nn.Module):
    """Look at what is written so far, look at the source, think: three branches with skips.

    norm: "pre" or "post", see `forward`; n_hidden: the width inside the feed-forward layer, 4 C
    when it is None.
    """

    def __init__(
        self,
        n_embd: int,
        n_head: int,
        norm: str = "pre",
        n_hidden: int | None = None,
        dropout: float = 0.0,
    ):
        super().__init__()
        if norm not in ("pre", "post"):
            raise ValueError(f"norm is {norm!r}; it must be 'pre' or 'post'")
        self.norm = norm
        self.attention = MultiHeadAttention(n_embd, n_head, bias=True)
        self.attention_norm = LayerNorm(n_embd)
        self.cross = MultiHeadAttention(n_embd, n_head, bias=True)
        self.cross_norm = LayerNorm(n_embd)
        self.feed_forward = FeedForward(n_embd, n_hidden)
        self.feed_forward_norm = LayerNorm(n_embd)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
    ) -> Tensor:
        """Send x through three branches f in turn: attention, cross, feed_forward.

        x (B, T, C), memory (B, S, C), mask (T, T), memory_mask (B, 1, S), both True where looking
        is allowed -> (B, T, C). In `attention` x looks at itself, under `mask`; in `cross` x asks
        and the memory, as it comes, is the context, under `memory_mask`. Each branch has the norm
        that bears its name:
        "pre":  x + dropout(f(norm(x)))      "post":  norm(x + dropout(f(x)))
        """
        if self.norm == "pre":
            x = x + self.dropout(self.attention(self.attention_norm(x), mask=mask))
            x = x + self.dropout(self.cross(self.cross_norm(x), memory, memory_mask))
            return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
        x = self.attention_norm(x + self.dropout(self.attention(x, mask=mask)))
        x = self.cross_norm(x + self.dropout(self.cross(x, memory, memory_mask)))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))


class Decoder(nn.Module):
    """Read what is written so far, with an eye on the source, and prepare the next word.

    causal=False leaves the mask out, to see what happens.
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
        causal: bool = True,
    ):
        super().__init__()
        self.causal = causal
        self.embedding = PlacedEmbedding(n_vocab, n_embd)
        self.blocks = nn.ModuleList(
            DecoderBlock(n_embd, n_head, norm, n_hidden, dropout) for _ in range(n_layer)
        )
        self.last_norm = LayerNorm(n_embd) if norm == "pre" else nn.Identity()

    def forward(self, tokens: Tensor, memory: Tensor, memory_mask: Tensor | None = None) -> Tensor:
        """Embed, send through all blocks, normalise (`last_norm`).

        tokens (B, T) ids, memory (B, S, C), memory_mask (B, 1, S) True at words -> (B, T, C).
        A token sees itself and the tokens before it; with `causal` False it sees all tokens. Every
        block looks at the same memory. Work on the device of the tokens.
        """
        x = self.embedding(tokens)
        mask = causal_mask(tokens.size(1)).to(tokens.device) if self.causal else None
        for block in self.blocks:
            x = block(x, memory, mask, memory_mask)
        return self.last_norm(x)


class Transformer(nn.Module):
    """Translate: the encoder reads the source, the decoder writes the target."""

    def __init__(
        self,
        n_source: int,
        n_target: int,
        n_embd: int = 64,
        n_head: int = 4,
        n_layer: int = 2,
        norm: str = "pre",
        n_hidden: int | None = None,
        dropout: float = 0.0,
        causal: bool = True,
    ):
        super().__init__()
        sizes = (n_embd, n_head, n_layer, norm, n_hidden, dropout)
        self.encoder = Encoder(n_source, *sizes)
        self.decoder = Decoder(n_target, *sizes, causal)
        self.out = nn.Linear(n_embd, n_target)

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """Read the source once: what the decoder will look at, and where it may look.

        source (B, S) ids, filled up with PAD -> memory (B, S, C) and mask (B, 1, S) bool, True at
        words. The encoder's words do not see padding either.
        """
        mask = padding_mask(source, PAD)
        return self.encoder(source, mask), mask

    def decode(self, tokens: Tensor, memory: Tensor, memory_mask: Tensor) -> Tensor:
        """Score what comes next after each token: (B, T) ids -> logits (B, T, n_target)."""
        return self.out(self.decoder(tokens, memory, memory_mask))

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Score every word of the target, given the source and the right words before it.

        source (B, S), target (B, T) y_1 ... y_T, which ends in EOS and is filled up with PAD
        -> logits (B, T, n_target); those at place i are for target[:, i]. The decoder reads the
        target shifted to the right. Work on the device of the ids.
        """
        return self.decode(shift_right(target), *self.encode(source))

    def translate(self, source: Tensor, n_max: int) -> Tensor:
        """Write greedily, source (B, S) -> ids (B, n_max), filled up with PAD (= 0)."""
        written = greedy_decode(self, source, n_max)
        return F.pad(written, (0, n_max - written.size(1)), value=PAD)


def smoothed_loss(
    logits: Tensor, target: Tensor, smoothing: float = 0.1, padding: int = PAD
) -> Tensor:
    """Average, over the words that are not padding, the cross-entropy with smoothed labels.

    logits (..., V), target (...) ids -> one number. The label of a word is not a one-hot row: it
    has smoothing / V in all V columns, and 1 - smoothing more in the column of the right word.
    Places where the target is `padding`, one of the ids, do not count, neither in the sum nor in
    the number of words it is divided by. Large logits must not overflow.

    >>> logits = torch.tensor([[0.0, 2.0, 0.0, 0.0]])  # V = 4
    >>> smoothed_loss(logits, torch.tensor([1]), smoothing=0.4)
    tensor(0.9408)
    """
    log_p = logits.log_softmax(-1)  # (..., V)
    right = log_p.gather(-1, target.unsqueeze(-1)).squeeze(-1)  # (...)
    each = -(1 - smoothing) * right - smoothing * log_p.mean(-1)
    counts = target != padding
    return each.masked_fill(~counts, 0.0).sum() / counts.sum()


def greedy_decode(model: nn.Module, source: Tensor, n_max: int) -> Tensor:
    """Write the best scored word, read it back, and so on, until all sentences have ended.

    model: has `encode(source)`, which returns memory and mask, and `decode(tokens, memory, mask)`
    -> logits (B, T, V), as in Transformer; encode the source once. source (B, S) -> ids (B, n):
    the words, EOS, then PAD, without SOS. Writing stops when the last sentence has written its
    EOS (n is the length of the longest one), and after n_max words in any case. Work on the device
    of the source.
    """
    memory, mask = model.encode(source)
    tokens = torch.full_like(source[:, :1], SOS)  # (B, 1)
    done = torch.zeros_like(source[:, 0], dtype=torch.bool)  # (B)
    for _ in range(n_max):
        logits = model.decode(tokens, memory, mask)[:, -1]  # (B, V): only the last place is new
        word = logits.argmax(-1).masked_fill(done, PAD)
        tokens = torch.cat([tokens, word.unsqueeze(1)], 1)
        done = done | (word == EOS)
        if done.all():
            break
    return tokens[:, 1:]
