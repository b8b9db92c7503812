"""Predict the next token by counting: how often did it follow the last few tokens before?"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence


class NGram:
    """Count what follows every run of up to n - 1 tokens; n = 1 looks at nothing."""

    def __init__(self, n: int, n_token: int, texts: Iterable[Sequence[int]]):
        self.n, self.n_token = n, n_token
        self.followers: dict[tuple[int, ...], Counter] = defaultdict(Counter)
        for text in texts:
            for t in range(1, len(text)):  # the first token is given
                for back in range(min(n, t + 1)):
                    self.followers[tuple(text[t - back : t])][text[t]] += 1

    def probability(self, token: int, before: tuple[int, ...]) -> float:
        """Mix the counts after `before` with the guess of a shorter look back, worth one count."""
        shorter = self.probability(token, before[1:]) if before else 1 / self.n_token
        counts = self.followers.get(before)
        if counts is None:
            return shorter
        return (counts[token] + shorter) / (counts.total() + 1)

    def nats(self, text: Sequence[int]) -> float:
        """Return the surprise at all tokens of a text but the first."""
        return -sum(
            math.log(self.probability(text[t], tuple(text[max(0, t - self.n + 1) : t])))
            for t in range(1, len(text))
        )
