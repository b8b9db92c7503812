"""What the grammar of themes.py itself would fill in: the exact odds of hidden words."""

from itertools import product

import torch
from torch import Tensor

from solutions.data.themes import SENTENCES, STORY, choices, ids_of, vocabulary

HIDDEN = "?"
FIXED = [sentence for sentence in STORY if sentence != "tale"]
SWITCHES = list(product((0, 1), (0, 1)))  # (theme, mood), all equally likely beforehand


def sentences_of(words: list[str]) -> list[list[str]]:
    """Cut a text after every full stop; a full stop itself must not be hidden."""
    cut, start = [], 0
    for end in [i + 1 for i, word in enumerate(words) if word == "."]:
        cut.append(words[start:end])
        start = end
    return cut


def readings(sentence: list[str]) -> list[list[str]]:
    """Return every sentence of the grammar, as its parts, that the visible words allow."""
    made = [s.split() for s in [*SENTENCES, *FIXED]]
    return [
        parts
        for parts in made
        if len(parts) == len(sentence)
        and all(w in (HIDDEN, p) or p.isupper() for w, p in zip(sentence, parts, strict=True))
    ]


def likelihood(sentence: list[str], parts: list[str], theme: int, mood: int) -> float:
    """Return the probability of the visible words, given the kind of sentence and switches."""
    p = 1.0
    for word, part in zip(sentence, parts, strict=True):
        if word != HIDDEN and part.isupper():
            p *= choices(part, theme, mood).get(word, 0.0)
    return p


def switch_odds(words: list[str]) -> dict[tuple[int, int], float]:
    """Return the odds of (theme, mood) after reading the visible words, by Bayes' rule."""
    odds = {}
    for theme, mood in SWITCHES:
        odds[theme, mood] = 1.0
        for sentence in sentences_of(words):
            odds[theme, mood] *= sum(
                likelihood(sentence, parts, theme, mood) for parts in readings(sentence)
            )
    total = sum(odds.values())
    if total == 0:
        raise ValueError(f"the grammar cannot say: {' '.join(words)}")
    return {switches: p / total for switches, p in odds.items()}


def posterior(words: list[str]) -> dict[int, dict[str, float]]:
    """Return for each hidden place ("?") the exact odds of every word, given the visible ones.

    Sentences depend on each other through the two switches only. So sum over the switches, and
    within the place's own sentence over the kinds of sentence that the visible words allow.
    """
    found, start = {}, 0
    switches = switch_odds(words)
    for sentence in sentences_of(words):
        for place in [i for i, word in enumerate(sentence) if word == HIDDEN]:
            odds: dict[str, float] = {}
            for (theme, mood), p in switches.items():
                if p == 0:
                    continue
                weights = [likelihood(sentence, parts, theme, mood) for parts in readings(sentence)]
                for parts, weight in zip(readings(sentence), weights, strict=True):
                    part = parts[place]
                    here = choices(part, theme, mood) if part.isupper() else {part: 1.0}
                    for word, q in here.items():
                        odds[word] = odds.get(word, 0.0) + p * weight / sum(weights) * q
            found[start + place] = odds
        start += len(sentence)
    return found


def as_row(odds: dict[str, float]) -> Tensor:
    """Write odds as a row over the whole vocabulary."""
    row = torch.zeros(len(vocabulary()))
    for word, p in odds.items():
        row[ids_of()[word]] = p
    return row
