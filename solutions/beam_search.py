"""Look for the most probable text, with several beginnings in the race at once."""

from collections.abc import Callable

import torch
from torch import Tensor

Beam = tuple[float, list[int]]  # the log-probability of a text, and its ids


def beam_search(
    log_odds: Callable[[Tensor], Tensor],
    start: list[int],
    end: int,
    width: int,
    n: int,
    alpha: float = 0.0,
) -> list[Beam]:
    """Continue a text by up to n tokens; keep the `width` best texts after every token.

    log_odds: ids (N, T) of N texts -> (N, V), the log-probability of every next
    token, for each text. -> a list of (log-probability, ids), the best first: the
    sum over the tokens after `start`, and the whole text, as a list with `start` in
    front. A text is finished when a token after `start` is `end`. In each of at
    most n rounds the candidates are every unfinished text with every token added,
    and every finished one as it is; the `width` of the highest rank stay (all,
    where there are fewer). The rank of a text is its log-probability divided by
    length ** alpha, where the length counts the tokens after `start`, `end` too.
    Stop early when all texts that stayed are finished. Where two rank alike, either
    may stay.

    >>> odds = lambda ids: torch.tensor([0.5, 0.1, 0.4]).log().expand(len(ids), 3)
    >>> [ids for _, ids in beam_search(odds, start=[1], end=2, width=2, n=2)]
    [[1, 2], [1, 0, 0]]
    """

    def finished(ids: list[int]) -> bool:
        return len(ids) > len(start) and ids[-1] == end

    def rank(beam: Beam) -> float:
        log_p, ids = beam
        return log_p / (len(ids) - len(start)) ** alpha

    beams = [(0.0, list(start))]
    for _ in range(n):
        growing = [beam for beam in beams if not finished(beam[1])]
        if not growing:
            break
        candidates = [beam for beam in beams if finished(beam[1])]
        rows = log_odds(torch.tensor([ids for _, ids in growing])).tolist()
        for (log_p, ids), row in zip(growing, rows, strict=True):
            candidates += [(log_p + p, [*ids, token]) for token, p in enumerate(row)]
        beams = sorted(candidates, key=rank, reverse=True)[:width]
    return beams
