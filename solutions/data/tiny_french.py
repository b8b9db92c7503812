"""A small French-English grammar: pairs of sentences, and which word came from which.

    le petit livre vert de Marie   ->   Marie 's small green book
    en septembre Jane visite l' Afrique   ->   Jane visits Africa in September

Adjectives stand before or after the noun, adverbs after the verb, the owner after the thing, and a
time may come first, so the words do not correspond in order. What a verb means may depend on what
follows: porte un chapeau -> wears a hat, porte un couteau -> carries a knife. Gender, elision (l',
d', cet, bel, vieil, nouvel, du) and "an" are right; sentences are not capitalised.
"""

import random
import zlib
from collections.abc import Iterator
from functools import cache
from itertools import accumulate, count
from typing import NamedTuple

import torch
from torch import Tensor

from solutions.data.tiny_french_words import (
    ADVERBS,
    AFTER,
    BEFORE,
    BEFORE_VOWEL,
    DETERMINERS,
    JOINTS,
    NAMES,
    NOUNS,
    PLACES,
    TIMES,
    VERBS,
    table,
    vocabularies,
)

PAD, SOS, EOS = 0, 1, 2
SPECIAL = ("<pad>", "<sos>", "<eos>")
MAX_WORDS = 16  # of either sentence
FRENCH, ENGLISH = ((*SPECIAL, *words) for words in vocabularies())
FRENCH_ID, ENGLISH_ID = ({word: i for i, word in enumerate(words)} for words in (FRENCH, ENGLISH))


class Pair(NamedTuple):
    """Two sentences, and for each English word the place of the French word it comes from."""

    french: tuple[str, ...]
    english: tuple[str, ...]
    source: tuple[int, ...]


def arrange(pieces: list[Pair], spoken: list[int]) -> Pair:
    """Join pieces in their French order; their English comes in the order `spoken`."""
    starts = [0, *accumulate(len(piece.french) for piece in pieces)]
    return Pair(
        tuple(word for piece in pieces for word in piece.french),
        tuple(word for i in spoken for word in pieces[i].english),
        tuple(starts[i] + place for i in spoken for place in pieces[i].source),
    )


def one(french: str, english: str) -> Pair:
    """Make a piece of one word in each language; "" leaves the English word out."""
    return Pair((french,), (english,), (0,)) if english else Pair((french,), (), ())


def noun_phrase(rng: random.Random, kind: str, owner: bool) -> Pair:
    """Make a determiner, a noun and up to two adjectives, perhaps with an owner."""
    noun, gender, english = rng.choice(table(NOUNS[kind]))
    form = "mf".index(gender)
    owned = owner and rng.random() < 0.2
    *forms, the = ("le", "la", "") if owned else rng.choice(table(DETERMINERS))
    pieces = [one(forms[form], the)]
    order = [0]
    if rng.random() < 0.3:
        *forms, word = rng.choice(table(BEFORE["person" if kind == "person" else "other"]))
        order.append(len(pieces))
        pieces.append(one(forms[form], word))
    pieces.append(one(noun, english))
    at = len(pieces) - 1
    if rng.random() < 0.75:
        *forms, word = rng.choice(table(AFTER[kind]))
        order.append(len(pieces))
        pieces.append(one(forms[form], word))
    phrase = arrange(pieces, [*order, at])  # all English adjectives before the noun
    return arrange([phrase, whose(rng)], [1, 0]) if owned else phrase


def whose(rng: random.Random) -> Pair:
    """Make an owner: de Marie, d' Anne, du roi, de la reine -> Marie 's, ..., the queen 's."""
    if rng.random() < 0.6:
        name = rng.choice(NAMES)
        return arrange([one("de", "'s"), one(name, name)], [1, 0])
    noun, gender, english = rng.choice(table(NOUNS["person"]))
    if gender == "m" and not vowel(noun):  # de + le
        return Pair(("du", noun), ("the", english, "'s"), (0, 1, 0))
    article = one("le" if gender == "m" else "la", "the")
    return arrange([one("de", "'s"), article, one(noun, english)], [1, 2, 0])


def clause(rng: random.Random) -> Pair:
    """Make who does what, where and when; the time may come first in French, never in English."""
    person = rng.choice(NAMES) if rng.random() < 0.4 else ""
    subject = one(person, person) if person else noun_phrase(rng, "person", owner=False)
    kind = rng.choices([*VERBS], [2, 2, 2, 2, 3, 2])[0]
    verb = one(*rng.choice(table(VERBS[kind])))
    if rng.random() < 0.3:
        verb = arrange([verb, one(*rng.choice(table(ADVERBS)))], [1, 0])
    pieces = [subject, verb]
    place, inside, name = rng.choice(table(PLACES, "/"))
    if kind == "place":
        *article, noun = place.split()
        words = [one(word, "") for word in article] + [one(noun, name)]
        pieces.append(arrange(words, [len(words) - 1]))
    else:
        pieces.append(noun_phrase(rng, kind, owner=True))
        if rng.random() < 0.2:
            french = inside.split()
            pieces.append(arrange([one(french[0], "in"), one(french[1], name)], [0, 1]))
    if rng.random() < 0.45:
        french, english = (words.split() for words in rng.choice(table(TIMES, "/")))
        when = Pair(tuple(french), tuple(english), tuple(range(len(english))))
        if rng.random() < 0.5:
            return arrange([when, *pieces], [*range(1, len(pieces) + 1), 0])
        pieces.append(when)
    return arrange(pieces, [*range(len(pieces))])


def vowel(word: str) -> bool:
    """Say whether a French word makes the word before it give way: l' Afrique, l' horloge."""
    return word[0].lower() in "aeiouéêâ" or word == "horloge"


def finish(pair: Pair) -> Pair:
    """Let every word give way to the next: le ami -> l' ami, a old -> an old."""
    after = [*pair.french[1:], "."]
    french = [
        BEFORE_VOWEL.get(word, word) if vowel(following) else word
        for word, following in zip(pair.french, after, strict=True)
    ]
    after = [*pair.english[1:], "."]
    english = [
        "an" if word == "a" and (following[0] in "aeiou" or following == "honest") else word
        for word, following in zip(pair.english, after, strict=True)
    ]
    return Pair(tuple(french), tuple(english), pair.source)


def sentence(rng: random.Random) -> Pair:
    """Make one clause, or two with a joint between them."""
    if rng.random() < 0.55:
        return finish(clause(rng))
    pieces = [clause(rng), one(*rng.choice(table(JOINTS))), clause(rng)]
    return finish(arrange(pieces, [0, 1, 2]))


JANE = Pair(
    ("Jane", "visite", "l'", "Afrique", "en", "septembre"),
    ("Jane", "visits", "Africa", "in", "September"),
    (0, 1, 3, 4, 5),
)


def held_out(pair: Pair) -> bool:
    """Say whether a pair is for testing: one French sentence in eight, by its letters alone."""
    return pair == JANE or zlib.crc32(" ".join(pair.french).encode()) % 8 == 0


def draw_pairs(
    n: int, seed: int = 0, test: bool = False, shortest: int = 3, longest: int = MAX_WORDS
) -> list[Pair]:
    """Draw n different pairs of the training or of the test part, by French length.

    The parts have no sentence in common, whatever the seeds: the sentence itself decides.
    """
    pairs, found = part(seed, test), {}
    while len(found) < n:
        pair = next(pairs)
        if shortest <= len(pair.french) <= longest and len(pair.english) <= MAX_WORDS:
            found.setdefault(pair.french, pair)
    return list(found.values())


@cache
def drawn(seed: int, test: bool) -> tuple[random.Random, list[Pair]]:
    """Keep the dice of a part and what they have given: several lengths are asked of one part."""
    return random.Random(f"{seed} {test}"), []


def part(seed: int, test: bool) -> Iterator[Pair]:
    """Give the pairs of a part one after another, of any length, without end."""
    rng, pairs = drawn(seed, test)
    for i in count():
        while i == len(pairs):
            pair = sentence(rng)
            if held_out(pair) == test:
                pairs.append(pair)
        yield pairs[i]


def encode(pairs: list[Pair]) -> tuple[Tensor, Tensor, Tensor]:
    """Write pairs as ids: source (B, S), target (B, T), truth (B, T).

    A target ends with EOS; shorter rows are filled up with PAD. truth holds the place of the French
    word that each English word comes from, -1 at EOS and at PAD.
    """
    source = [[FRENCH_ID[word] for word in pair.french] for pair in pairs]
    target = [[*(ENGLISH_ID[word] for word in pair.english), EOS] for pair in pairs]
    return pad(source), pad(target), pad([[*pair.source, -1] for pair in pairs], -1)


def pad(rows: list[list[int]], filler: int = PAD) -> Tensor:
    """Fill rows of different lengths up to the longest -> (B, longest)."""
    longest = max(len(row) for row in rows)
    return torch.tensor([row + [filler] * (longest - len(row)) for row in rows])


def read(ids: Tensor, words: tuple[str, ...] = ENGLISH) -> str:
    """Turn ids (T) into text, up to the first EOS or PAD."""
    found = ids.tolist()
    stop = next((i for i, word in enumerate(found) if word in (PAD, EOS)), len(found))
    return " ".join(words[i] for i in found[:stop])
