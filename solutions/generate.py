"""From scores to text: temper them, cut the tail off, draw a token, go on."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from solutions.kv_cache import KVCache


def top_k_filter(scores: Tensor, k: int) -> Tensor:
    """Keep the k best tokens; give all others the score -inf, the probability zero.

    scores (..., V), k >= 1 -> (..., V), a new tensor: the kept scores as they are,
    each row for itself. Tokens are ranked by score, of equal scores the smaller id
    first: exactly k are kept, or all where k is V or more.

    >>> top_k_filter(torch.tensor([1.0, 3.0, 2.0, 3.0]), k=2)
    tensor([-inf, 3., -inf, 3.])
    """
    order = scores.argsort(dim=-1, descending=True, stable=True)  # ids, best first
    return scores.scatter(-1, order[..., k:], -math.inf)


def top_p_filter(scores: Tensor, p: float) -> Tensor:
    """Keep the fewest best tokens that have the probability p together.

    scores (..., V), p from 0 to 1 -> (..., V), a new tensor: the kept scores as
    they are, all others -inf, each row for itself. The probabilities are the
    softmax of the scores. Tokens are ranked by score, of equal scores the smaller
    id first. A token is kept where those ranked before it have less than p
    together: the token that crosses p is the last one kept. The first is always
    kept, also where p is 0; a p of 1 keeps all.

    >>> top_p_filter(torch.tensor([0.1, 0.6, 0.3]).log(), p=0.7).exp()
    tensor([0.0000, 0.6000, 0.3000])
    """
    if p >= 1:  # a sum of probabilities may come to 1 too early, by rounding
        return scores.clone()
    order = scores.argsort(dim=-1, descending=True, stable=True)  # ids, best first
    ranked = scores.softmax(-1).gather(-1, order)
    before = ranked.cumsum(-1) - ranked  # what those ranked before have together
    cut = before >= p
    cut[..., 0] = False
    return scores.masked_fill(torch.zeros_like(cut).scatter(-1, order, cut), -math.inf)


def sample_next(
    scores: Tensor,
    generator: torch.Generator,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Tensor:
    """Draw the next token of every text of a batch.

    scores (B, V) -> ids (B), int64. Divide the scores by the temperature; then
    `top_k_filter` where there is a top_k; then `top_p_filter` where there is a
    top_p, on what is left; then draw one token from the softmax of every row, each
    row for itself, with the generator and nothing else that is random. A
    temperature of 0 is greedy: the highest score, of equal ones the smallest id,
    whatever top_k and top_p.

    >>> sample_next(torch.tensor([[1.0, 5.0], [2.0, 0.0]]), torch.Generator(), temperature=0)
    tensor([1, 0])
    """
    if temperature == 0:
        return scores.argmax(dim=-1)
    scores = scores / temperature
    if top_k is not None:
        scores = top_k_filter(scores, top_k)
    if top_p is not None:
        scores = top_p_filter(scores, top_p)
    return torch.multinomial(scores.softmax(-1), 1, generator=generator).squeeze(-1)


def generate(
    model: nn.Module,
    ids: Tensor,
    n: int,
    generator: torch.Generator,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    end: int | None = None,
    cached: bool = True,
) -> Tensor:
    """Continue texts by n tokens: ids (B, T) -> (B, T + n), or shorter where all have ended.

    After the token `end` a text is filled up with it. The generator lives on the device of the
    ids. How long texts are read, and what `cached` does, is the rule of `stream`.
    """
    new = stream(model, ids, n, generator, temperature, top_k, top_p, end, cached)
    return torch.cat([ids, *(token.unsqueeze(-1) for token in new)], dim=-1)


@torch.no_grad()
def stream(
    model: nn.Module,
    ids: Tensor,
    n: int,
    generator: torch.Generator,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    end: int | None = None,
    cached: bool = True,
) -> Iterator[Tensor]:
    """Yield the tokens of `generate` one by one as they are drawn, (B) each.

    The model looks at a window of the text, at first all of it. Where the window has become
    longer than block_size it is cut to its last block_size // 2 tokens, which are read again
    from position 0; from there it grows anew. With `cached` every token of a window is read
    once; else the whole window is read again for each new one: the same text, more slowly.
    """
    room, was_training = model.config.block_size, model.training
    model.eval()
    window = unread = ids
    cache = KVCache(len(model.blocks))
    done = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    try:
        for _ in range(n):
            if window.size(-1) > room:
                window = unread = window[:, -max(1, room // 2) :]
                cache = KVCache(len(model.blocks))
            scores = (cache.read(model, unread) if cached else model(window))[:, -1]
            new = sample_next(scores, generator, temperature, top_k, top_p)
            if end is not None:
                new = new.masked_fill(done, end)
                done = done | (new == end)
            yield new
            if done.all():
                break
            unread = new.unsqueeze(-1)  # (B, 1)
            window = torch.cat([window, unread], dim=-1)
    finally:
        model.train(was_training)
