"""Other right answers to the exercises of alignment: each must get full marks."""

import torch
import torch.nn.functional as F

from solutions.alignment import (
    AttentionDecoder,
    Seq2Seq,
    additive_scores,
    context,
    masked_softmax,
)
from solutions.data.tiny_french import EOS, PAD, SOS


def additive_scores__summed_products(query, keys, v):
    return (torch.tanh(query[..., :, None, :] + keys[..., None, :, :]) * v).sum(-1)


def additive_scores__einsum(query, keys, v):
    pairs = torch.tanh(query.unsqueeze(-2) + keys.unsqueeze(-3))
    return torch.einsum("...tsa,a->...ts", pairs, v)


def additive_scores__loop_over_queries(query, keys, v):
    rows = [(query[..., t, None, :] + keys).tanh() @ v for t in range(query.size(-2))]
    return torch.stack(rows, dim=-2)


def additive_scores__by_exponentials(query, keys, v):
    twice = 2 * (query.unsqueeze(-2) + keys.unsqueeze(-3))
    return F.linear(2 * torch.sigmoid(twice) - 1, v[None]).squeeze(-1)


def masked_softmax__where_and_nan_to_num(scores, mask):
    low = torch.full((), float("-inf"), dtype=scores.dtype)
    return torch.nan_to_num(torch.where(mask, scores, low).softmax(-1))


def masked_softmax__exponentials(scores, mask):
    low = scores.masked_fill(~mask, -torch.inf)
    top = low.amax(-1, keepdim=True).detach().clamp_min(torch.finfo(scores.dtype).min)
    powers = (low - top).exp()
    total = powers.sum(-1, keepdim=True)
    return powers / total.masked_fill(total == 0, 1)


def masked_softmax__blind_rows_apart(scores, mask):
    mask = mask.expand_as(scores)
    blind = ~mask.any(dim=-1, keepdim=True)
    low = scores.masked_fill(~mask, float("-inf")).masked_fill(blind, 0.0)
    return F.softmax(low, dim=-1) * mask


def context__einsum(weights, values):
    return torch.einsum("...ts,...sk->...tk", weights, values)


def context__sum_over_places(weights, values):
    return (weights.unsqueeze(-1) * values.unsqueeze(-3)).sum(-2)


def context__loop_over_places(weights, values):
    return sum(weights[..., s, None] * values[..., None, s, :] for s in range(values.size(-2)))


class AttentionDecoder__logits_at_every_step(AttentionDecoder):
    def forward(self, tokens, state, memory, mask):
        logits, weights = [], []
        for i in range(tokens.size(1)):
            word = self.embed(tokens[:, i])
            scores = additive_scores(self.query(state)[:, None], self.key(memory), self.v)[:, 0]
            a = masked_softmax(scores, mask)
            c = context(a[:, None], memory)[:, 0]
            state = self.cell(torch.cat((word, c), dim=1), state)
            logits.append(self.out(torch.cat((state, c), dim=1)))
            weights.append(a)
        return torch.stack(logits, 1), state, torch.stack(weights, 1)


class AttentionDecoder__by_hand(AttentionDecoder):
    def forward(self, tokens, state, memory, mask):
        words = self.embed(tokens)
        keys = torch.einsum("bsk,ak->bsa", memory, self.key.weight)
        known, weights = [], []
        for i in range(tokens.shape[1]):
            query = torch.einsum("bh,ah->ba", state, self.query.weight)
            scores = (torch.tanh(query[:, None, :] + keys) * self.v).sum(-1)
            powers = (scores - scores.amax(-1, keepdim=True)).exp() * mask
            a = powers / powers.sum(-1, keepdim=True).clamp_min(1e-30)
            c = (a[..., None] * memory).sum(1)
            state = self.cell(torch.cat([words[:, i], c], -1), state)
            known.append(torch.cat([state, c], -1))
            weights.append(a)
        return self.out(torch.stack(known, 1)), state, torch.stack(weights, 1)


class AttentionDecoder__one_sentence_at_a_time(AttentionDecoder):
    def forward(self, tokens, state, memory, mask):
        logits, states, weights = [], [], []
        for ids, s, h, allowed in zip(tokens, state, memory, mask, strict=True):
            s, keys, own_logits, own_weights = s[None], self.key(h), [], []
            for word in self.embed(ids):
                a = masked_softmax(additive_scores(self.query(s), keys, self.v), allowed)  # (1, S)
                c = context(a, h)
                s = self.cell(torch.cat([word[None], c], -1), s)
                own_logits.append(self.out(torch.cat([s, c], -1)))
                own_weights.append(a)
            logits.append(torch.cat(own_logits))
            weights.append(torch.cat(own_weights))
            states.append(s[0])
        return torch.stack(logits), torch.stack(states), torch.stack(weights)


class Seq2Seq__padded_shift(Seq2Seq):
    def forward(self, source, target):
        state, memory, mask = self.encode(source)
        shifted = F.pad(target, (1, 0), value=SOS)[:, :-1]
        logits, _, _ = self.decoder(shifted, state, memory, mask)
        return logits

    def translate(self, source, n_max):
        state, memory, mask = self.encode(source)
        written = torch.full((len(source), n_max), PAD)
        word = torch.full((len(source),), SOS)
        open_rows = torch.ones(len(source), dtype=torch.bool)
        for i in range(n_max):
            logits, state, _ = self.decoder(word[:, None], state, memory, mask)
            word = torch.where(open_rows, logits[:, 0].argmax(-1), PAD)
            written[:, i] = word
            open_rows = open_rows & (word != EOS)
            if not open_rows.any():
                break
        return written


class Seq2Seq__all_again_for_every_word(Seq2Seq):
    """Read everything written so far anew at each step, and cut behind EOS at the end."""

    def forward(self, source, target):
        inputs = torch.empty_like(target)
        inputs[:, 0] = SOS
        inputs[:, 1:] = target[:, :-1]
        return self.decoder(inputs, *self.encode(source))[0]

    def translate(self, source, n_max):
        encoded = self.encode(source)
        words = source.new_full((source.size(0), 1), SOS)
        for _ in range(n_max):
            best = self.decoder(words, *encoded)[0][:, -1].argmax(-1, keepdim=True)
            words = torch.cat([words, best], 1)
        words = words[:, 1:]
        ended = (words == EOS).int().cumsum(1)
        behind = (ended > 0) & ~((words == EOS) & (ended == 1))
        return words.masked_fill(behind, PAD)


class Seq2Seq__one_step_at_a_time(Seq2Seq):
    def forward(self, source, target):
        state, memory, mask = self.encode(source)
        word, logits = torch.full_like(target[:, :1], SOS), []
        for i in range(target.size(1)):
            step, state, _ = self.decoder(word, state, memory, mask)
            logits.append(step)
            word = target[:, i : i + 1]
        return torch.cat(logits, 1)

    def translate(self, source, n_max):
        rows = []
        for sentence in source:
            state, memory, mask = self.encode(sentence[None])
            words = [SOS]
            while len(words) <= n_max and words[-1] != EOS:
                last = torch.tensor([[words[-1]]])
                logits, state, _ = self.decoder(last, state, memory, mask)
                words.append(int(logits.argmax()))
            rows.append(words[1:] + [PAD] * (n_max + 1 - len(words)))
        return torch.tensor(rows)
