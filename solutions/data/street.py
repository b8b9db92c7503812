"""Sentences with a long arm: the pronoun near the end is decided by the subject at the start.

"the animal did not cross the street because it was too tired ." and its like. Between subject and
pronoun stand two words (the short form, "the animal slept because it ..."), or six, or three more
for every phrase such as "behind the mill". Each sentence has one derivation, so its probability,
and the entropy of the whole, are known exactly.
"""

import math

import torch
from torch import Tensor

SUBJECTS = {
    "it": ("animal", "dog", "cat", "horse"),
    "she": ("woman", "girl", "queen", "aunt"),
    "he": ("man", "boy", "king", "uncle"),
    "they": ("animals", "dogs", "children", "women"),
}
RESTS = ("slept", "waited", "stopped", "left")
VERBS = ("cross", "leave", "reach", "find")
PLACES = ("street", "bridge", "square", "garden")
BESIDE = ("behind", "near")
THINGS = ("mill", "river", "church", "tower", "well", "barn", "hill", "gate")
REASONS = ("tired", "cold", "shy", "late", "slow", "hungry")
END = "."
DISTANCES = (2, 6, 9, 12)  # words between subject and pronoun in training, all equally likely

_FIXED = (END, "the", "did", "not", "because", "was", "were", "too")
_NAMES = tuple(name for names in SUBJECTS.values() for name in names)
WORDS = (*_FIXED, *SUBJECTS, *_NAMES, *RESTS, *VERBS, *PLACES, *BESIDE, *THINGS, *REASONS)
ID = {word: i for i, word in enumerate(WORDS)}


def draw_sentences(n: int, generator: torch.Generator, distance: int | None = None) -> Tensor:
    """Draw n sentences of one length as ids (n, T + 1), each with the full stop before it.

    `distance` words stand between subject and pronoun: 2, 6, 9, 12, 15 and so on; None draws one
    of DISTANCES, once for all n sentences, so that a batch needs no padding. T = distance + 7.
    """

    def pick(words: tuple[str, ...]) -> Tensor:
        ids = torch.tensor([ID[w] for w in words])
        return ids[torch.randint(len(words), (n,), generator=generator)]

    if distance is None:
        distance = DISTANCES[int(torch.randint(len(DISTANCES), (), generator=generator))]
    who = torch.randint(len(_NAMES), (n,), generator=generator)
    kind = who // (len(_NAMES) // len(SUBJECTS))  # which pronoun: the names stand in that order
    subject, pronoun = ID[_NAMES[0]] + who, ID["it"] + kind
    be = torch.where(pronoun == ID["they"], ID["were"], ID["was"])
    columns = [END, "the", subject]
    columns += [pick(RESTS)] if distance == 2 else ["did", "not", pick(VERBS), "the", pick(PLACES)]
    for _ in range(n_phrases(distance)):
        columns += [pick(BESIDE), "the", pick(THINGS)]
    columns += ["because", pronoun, be, "too", pick(REASONS), END]
    return torch.stack([torch.full((n,), ID[c]) if isinstance(c, str) else c for c in columns], 1)


def n_phrases(distance: int) -> int:
    """Return how many phrases of three words stand between subject and pronoun."""
    count, rest = divmod(max(distance, 6) - 6, 3)
    if rest or distance not in (2, *range(6, distance + 1)):
        raise ValueError(f"no sentence has {distance} words there: take 2, 6, 9, 12, 15, ...")
    return count


def next_word_pairs(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw a batch for training: words (n, T) and the word after each of them (n, T)."""
    ids = draw_sentences(n, generator)
    return ids[:, :-1], ids[:, 1:]


def text(ids: Tensor) -> str:
    """Write one row of ids as words."""
    return " ".join(WORDS[i] for i in ids.tolist())


def pronoun_place(distance: int) -> int:
    """Return the column of the pronoun in what `draw_sentences` gives."""
    return distance + 3


def nats_per_sentence(distance: int) -> float:
    """Return the exact surprise of a sentence: the logarithms of all choices made for it."""
    made = [DISTANCES, _NAMES, REASONS]
    made += [RESTS] if distance == 2 else [VERBS, PLACES]
    made += [BESIDE, THINGS] * n_phrases(distance)
    return sum(math.log(len(choices)) for choices in made)
