"""Other right answers to the exercises of generate."""

import heapq
import math

import torch
from torch.nn import functional as F

from solutions.generate import top_k_filter, top_p_filter
from solutions.kv_cache import KVCache


def top_k_filter__with_ranks(scores, k):
    rank = scores.argsort(dim=-1, descending=True, stable=True).argsort(dim=-1)
    return torch.where(rank < k, scores, torch.full_like(scores, -math.inf))


def top_k_filter__row_by_row(scores, k):
    rows = scores.reshape(-1, scores.size(-1))
    result = torch.full_like(rows, float("-inf"))
    for i, row in enumerate(rows.tolist()):
        for j in sorted(range(len(row)), key=lambda j: (-row[j], j))[:k]:
            result[i, j] = rows[i, j]
    return result.reshape(scores.shape)


def top_k_filter__kept_scattered(scores, k):
    values, order = torch.sort(scores, dim=-1, descending=True, stable=True)
    return torch.full_like(scores, -torch.inf).scatter(-1, order[..., :k], values[..., :k])


def top_p_filter__shifted(scores, p):
    values, order = torch.sort(scores, dim=-1, descending=True, stable=True)
    sums = F.softmax(values, dim=-1).cumsum(-1)
    sums = torch.cat([torch.zeros_like(sums[..., :1]), sums[..., :-1]], dim=-1)
    keep = (sums < p) | (p == 1)
    keep[..., 0] = True
    values = torch.where(keep, values, torch.full_like(values, -torch.inf))
    return torch.empty_like(scores).scatter_(-1, order, values)


def top_p_filter__row_by_row(scores, p):
    rows = scores.reshape(-1, scores.size(-1))
    result = torch.full_like(rows, -torch.inf)
    for i, row in enumerate(rows.softmax(-1).tolist()):
        sofar = 0.0
        for j in sorted(range(len(row)), key=lambda j: (-row[j], j)):
            result[i, j] = rows[i, j]
            sofar += row[j]
            if sofar >= p and p < 1:
                break
    return result.reshape(scores.shape)


def sample_next__by_a_uniform_number(scores, generator, temperature=1.0, top_k=None, top_p=None):
    if temperature == 0:
        return torch.max(scores, dim=-1).indices
    scores = scores / temperature
    scores = scores if top_k is None else top_k_filter(scores, top_k)
    scores = scores if top_p is None else top_p_filter(scores, top_p)
    sums = scores.softmax(-1).cumsum(-1)
    level = torch.rand(len(scores), 1, generator=generator) * sums[:, -1:]
    return torch.searchsorted(sums, level, right=True).squeeze(1).clamp(max=scores.size(-1) - 1)


def sample_next__gumbel(scores, generator, temperature=1.0, top_k=None, top_p=None):
    if temperature < 1e-9:
        return scores.argmax(1)
    scores = scores * (1 / temperature)
    if top_k:
        scores = top_k_filter(scores, top_k)
    if top_p is not None:
        scores = top_p_filter(scores, top_p)
    noise = torch.rand(scores.shape, generator=generator, dtype=torch.float64)
    return (scores - torch.log(-torch.log(noise))).argmax(-1)


class KVCache__lists(KVCache):
    def extend(self, layer, k, v):
        old_k, old_v = self.keys[layer], self.values[layer]
        self.keys[layer] = k if old_k is None else torch.cat((old_k, k), 2)
        self.values[layer] = v if old_v is None else torch.cat((old_v, v), 2)
        return self.keys[layer], self.values[layer]

    def read(self, model, ids):
        start = len(self)
        places = torch.arange(start + ids.size(1), device=ids.device)
        mask = places[None, :] <= places[start:, None]
        x = model.dropout(model.token(ids))
        if model.position is not None:
            x = x + model.position.table.weight[places[start:]]
        for i, block in enumerate(model.blocks):
            x = block(x, mask, start=start, cache=self.at(i))
        return model.head(model.norm(x))


class KVCache__full_mask_cut(KVCache):
    def extend(self, layer, k, v):
        pairs = ((self.keys, k), (self.values, v))
        for kept, new in pairs:
            old = [] if kept[layer] is None else [kept[layer]]
            kept[layer] = torch.cat([*old, new], dim=-2)
        return self.keys[layer], self.values[layer]

    def read(self, model, ids):
        start = len(self)
        full = torch.ones(start + ids.size(1), start + ids.size(1)).tril().bool()
        x = model.token(ids)
        x = x if model.position is None else model.position(x, start)
        for i in range(len(model.blocks)):
            x = model.blocks[i](x, full[start:], start, self.at(i))
        return F.linear(model.norm(x), model.head.weight)


def beam_search__with_tensors(log_odds, start, end, width, n, alpha=0.0):
    ids, log_p = torch.tensor([start]), torch.zeros(1)
    done = []
    for step in range(n):
        more = log_odds(ids)
        total = (log_p[:, None] + more).flatten()
        text = torch.arange(len(ids)).repeat_interleave(more.size(1))
        token = torch.arange(more.size(1)).repeat(len(ids))
        pool = [(p / (len(t) - len(start)) ** alpha, p, t) for p, t in done]
        ranks = (total / (step + 1) ** alpha).tolist()
        rows = zip(ranks, total.tolist(), text.tolist(), token.tolist(), strict=True)
        pool += [(r, p, [*ids[i].tolist(), k]) for r, p, i, k in rows]
        pool = sorted(pool, key=lambda entry: -entry[0])[:width]
        open_ = [(p, t) for _, p, t in pool if len(t) == len(start) + step + 1 and t[-1] != end]
        done = [(p, t) for _, p, t in pool if (p, t) not in open_]
        if not open_:
            break
        ids, log_p = torch.tensor([t for _, t in open_]), torch.tensor([p for p, _ in open_])
    return [(p, t) for _, p, t in pool]


def beam_search__with_a_heap(log_odds, start, end, width, n, alpha=0.0):
    texts = [(0.0, tuple(start), False)]

    def rank(text):
        return text[0] / max(1, len(text[1]) - len(start)) ** alpha

    for _ in range(n):
        if all(done for _, _, done in texts):
            break
        grown = []
        for text in texts:
            if text[2]:
                grown.append(text)
                continue
            (row,) = log_odds(torch.tensor([text[1]])).tolist()
            for token, more in enumerate(row):
                grown.append((text[0] + more, (*text[1], token), token == end))
        texts = heapq.nlargest(width, grown, key=rank)
    return [(log_p, list(ids)) for log_p, ids, _ in texts]


def sample_next__token_by_token(scores, generator, temperature=1.0, top_k=None, top_p=None):
    """Which number a row gets depends on how many rows there are."""
    if temperature == 0:
        return scores.argmax(-1)
    scores = scores / temperature
    scores = scores if top_k is None else top_k_filter(scores, top_k)
    scores = scores if top_p is None else top_p_filter(scores, top_p)
    noise = torch.rand(scores.size(1), scores.size(0), generator=generator).T  # (B, V)
    return (scores - (-noise.log()).log()).argmax(-1)
