"""Attention in a translator: score, weigh, average, and do it anew for every word written."""

import torch
from torch import Tensor, nn

from solutions.data.tiny_french import EOS, PAD, SOS
from solutions.encoder import Encoder


def dot_scores(query: Tensor, keys: Tensor) -> Tensor:
    """Score how well each query matches each key by their dot product, without any scaling.

    query (..., T, D), keys (..., S, D) -> (..., T, S).

    >>> dot_scores(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 0.0], [0.0, 1.0]]))
    tensor([[3., 2.]])
    """
    return query @ keys.transpose(-2, -1)


def additive_scores(query: Tensor, keys: Tensor, v: Tensor) -> Tensor:
    """Score by a small network: add the query to the key, take tanh, weigh the columns by v.

    query (..., T, A), keys (..., S, A), v (A) -> (..., T, S): score[t, s] is the dot product of v
    with tanh(query[t] + keys[s]). Query and keys come already multiplied by their matrices.

    >>> v = torch.tensor([2.0, 1.0])
    >>> additive_scores(torch.tensor([[0.5, 0.0]]), torch.tensor([[-0.5, 0.0], [0.5, 1.0]]), v)
    tensor([[0.0000, 2.2848]])
    """
    pairs = query.unsqueeze(-2) + keys.unsqueeze(-3)  # (..., T, 1, A) + (..., 1, S, A)
    return torch.tanh(pairs) @ v


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Turn scores into weights along the last axis, with none for the forbidden places.

    scores (..., S); mask, bool, True where looking is allowed, is broadcast to the shape of the
    scores -> weights of the shape and dtype of the scores. Forbidden places get exactly 0, the
    allowed ones of a row sum to one. A row in which nothing is allowed gets zeros, not nan, and
    its scores a gradient of zeros. Works in half precision too, whose largest number is 65,504,
    and for any finite scores.

    >>> masked_softmax(torch.tensor([0.0, 5.0, 0.0]), torch.tensor([True, False, True]))
    tensor([0.5000, 0.0000, 0.5000])
    """
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
    return weights.masked_fill(~mask, 0.0)  # a row without any allowed place was nan


def context(weights: Tensor, values: Tensor) -> Tensor:
    """Average the values with the weights, once for every query.

    weights (..., T, S), values (..., S, K) -> (..., T, K).

    >>> context(torch.tensor([[0.25, 0.75]]), torch.tensor([[0.0, 8.0], [4.0, 0.0]]))
    tensor([[3., 2.]])
    """
    return weights @ values


class AttentionDecoder(nn.Module):
    """Write a sentence word by word, looking back at the source before each word."""

    def __init__(self, n_vocab: int, n_embd: int, n_hidden: int, n_memory: int):
        super().__init__()
        self.embed = nn.Embedding(n_vocab, n_embd)
        self.query = nn.Linear(n_hidden, n_hidden, bias=False)  # W
        self.key = nn.Linear(n_memory, n_hidden, bias=False)  # U
        self.v = nn.Parameter(torch.randn(n_hidden) * n_hidden**-0.5)
        self.cell = nn.GRUCell(n_embd + n_memory, n_hidden)
        self.out = nn.Linear(n_hidden + n_memory, n_vocab)

    def forward(self, tokens: Tensor, state: Tensor, memory: Tensor, mask: Tensor):
        """Read the tokens one after another; before each one look at the memory anew.

        tokens (B, T) ids y_0 ... y_{T-1}, state (B, n_hidden) s_0, memory (B, S, n_memory)
        h_1 ... h_S, mask (B, S) True at words. For i = 1 ... T, [a, b] meaning side by side:
            scores    e_i = additive_scores with query(s_{i-1}), key(h) and v
            weights   a_i = masked_softmax of e_i
            context   c_i = average of the memory h with the weights a_i
            state     s_i = cell([embed(y_{i-1}), c_i], s_{i-1})
            logits    l_i = out([s_i, c_i])
        -> logits (B, T, n_vocab), the last state s_T (B, n_hidden), weights (B, T, S).
        """
        words, keys = self.embed(tokens), self.key(memory)  # (B, T, E), (B, S, A)
        states, contexts, weights = [], [], []
        for word in words.unbind(1):
            scores = additive_scores(self.query(state).unsqueeze(1), keys, self.v)  # (B, 1, S)
            a = masked_softmax(scores, mask.unsqueeze(1))
            c = context(a, memory).squeeze(1)
            state = self.cell(torch.cat([word, c], -1), state)
            states.append(state)
            contexts.append(c)
            weights.append(a.squeeze(1))
        known = torch.cat([torch.stack(states, 1), torch.stack(contexts, 1)], -1)
        return self.out(known), state, torch.stack(weights, 1)


class Seq2Seq(nn.Module):
    """Translate: an encoder reads the source, an attention decoder writes the target.

    With attend=False the decoder sees a single vector, the encoder's summary, instead of a state
    for every word: there is only one place to look at, so its weight is always 1.
    """

    def __init__(
        self,
        n_source: int,
        n_target: int,
        n_embd: int = 64,
        n_hidden: int = 96,
        bidirectional: bool = True,
        attend: bool = True,
    ):
        super().__init__()
        self.attend = attend
        self.encoder = Encoder(n_source, n_embd, n_hidden, bidirectional)
        self.decoder = AttentionDecoder(n_target, n_embd, n_hidden, n_hidden)

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return what the decoder needs: its first state, the memory and the mask.

        source (B, S) ids -> s_0 (B, n_hidden), memory (B, S, n_hidden), mask (B, S). The first
        state is zeros: what the decoder knows of the source, it knows from the memory.
        """
        mask = source != PAD
        memory, summary = self.encoder(source, mask)
        if not self.attend:
            memory, mask = summary.unsqueeze(1), mask[:, :1]
        return torch.zeros_like(summary), memory, mask

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Score every next word, given the right words before it (teacher forcing).

        source (B, S), target (B, T) y_1 ... y_T, which ends in EOS and is filled up with PAD
        -> logits (B, T, n_target); those at place i are for target[:, i]. The decoder reads SOS,
        y_1, ..., y_{T-1}: the target one place to the right, so that it never sees the answer.
        """
        start = torch.full_like(target[:, :1], SOS)
        return self.decoder(torch.cat([start, target[:, :-1]], 1), *self.encode(source))[0]

    def translate(self, source: Tensor, n_max: int) -> Tensor:
        """Write the best scored word, read it back, and so on (greedy decoding).

        source (B, S) -> ids (B, n_max), always n_max columns: the words, EOS, then PAD. A sentence
        without EOS among its n_max words is cut there.
        """
        state, memory, mask = self.encode(source)
        word = torch.full_like(source[:, :1], SOS)
        done = torch.zeros_like(word, dtype=torch.bool)
        written = []
        for _ in range(n_max):
            logits, state, _ = self.decoder(word, state, memory, mask)
            word = logits.argmax(-1).masked_fill(done, PAD)  # (B, 1)
            done = done | (word == EOS)
            written.append(word)
        return torch.cat(written, 1)
