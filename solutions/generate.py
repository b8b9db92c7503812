"""From scores to text: temper them, cut the tail off, draw a token, go on."""

import math

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


@torch.no_grad()
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

    After the token `end` a text is filled up with it. With `cached` every token is
    read once; else the whole text is read again for each new one: the same scores,
    more slowly. The generator lives on the device of the ids. The model reads T + n
    - 1 tokens; its block_size must hold them.
    """
    needed, room = ids.size(-1) + n - 1, model.config.block_size
    if needed > room:
        raise ValueError(
            f"generate: the model would have to look back on {needed} tokens, its block_size is "
            f"{room}; ask for fewer tokens or begin with a shorter text."
        )
    was_training = model.training
    model.eval()
    cache, unread = KVCache(len(model.blocks)), ids
    done = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    for _ in range(n):
        scores = (cache.read(model, unread) if cached else model(ids))[:, -1]
        new = sample_next(scores, generator, temperature, top_k, top_p)
        if end is not None:
            new = new.masked_fill(done, end)
            done = done | (new == end)
        unread = new.unsqueeze(-1)  # (B, 1)
        ids = torch.cat([ids, unread], dim=-1)
        if done.all():
            break
    model.train(was_training)
    return ids
