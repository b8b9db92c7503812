"""Tiny tales: stories from a grammar of our own, so simple that the odds of every word are known.

A teller goes through a story word by word. At each word it says what may come next and how likely
that is; whoever asks says which word came. Everything that can vary is visible in the text the
moment it is decided, except one thing: the mood, glad or gloomy, that tints three of the words.
"""

import math
from collections.abc import Generator
from itertools import product

import torch
from torch import Tensor

Odds = dict[str, float]

PADDING, START, END = "<pad>", "<s>", "</s>"
HE = ["tom", "ben", "max", "leo", "hugo", "finn"]
SHE = ["mia", "ruth", "zoe", "lily", "nora", "jane"]
ANIMALS = ["fox", "badger", "mouse", "heron", "toad", "goose", "bear", "wolf"]
PLACES = ["forest", "harbour", "mill", "castle", "meadow", "bridge", "lake", "tower"]
TIMES = {"morning": 0.4, "evening": 0.3, "night": 0.2, "sunday": 0.1}
COLOURS = ["red", "blue", "green", "yellow", "black", "white", "golden", "silver"]
THINGS = ["ball", "key", "hat", "bell", "drum", "kite", "lamp", "coin", "shell", "ring"]
THIEVES = ["magpie", "sailor", "ghost"]
# the tinted words; a gloomy teller prefers the second half as a glad one prefers the first
FEELINGS = ["happy", "proud", "lucky", "calm", "sad", "tired", "cold", "lonely"]
DEEDS = ["danced", "sang", "laughed", "smiled", "wept", "sighed", "shivered", "hid"]
ENDINGS = ["feast", "song", "rainbow", "party", "storm", "quarrel", "fever", "fog"]
PREFERENCE = 5.0  # how many times likelier a word of the own half is
MOODS = ("glad", "gloomy")
# every word that does not vary, once
FRAME = (
    "once the lived by . he she had a friend called there too one found and felt gave to wanted "
    "but kept it took brought back then so belongs all ended with"
)


def even(words: list[str]) -> Odds:
    return {word: 1 / len(words) for word in words}


def falling(words: list[str]) -> Odds:
    """Make the first word likely, the second half as likely, the third a third as likely ..."""
    total = sum(1 / n for n in range(1, len(words) + 1))
    return {word: 1 / n / total for n, word in enumerate(words, 1)}


def tinted(words: list[str], mood: str) -> Odds:
    """Prefer one half of the words, by the mood."""
    half = len(words) // 2
    ours = words[:half] if mood == "glad" else words[half:]
    total = half * (PREFERENCE + 1)
    return {word: (PREFERENCE if word in ours else 1.0) / total for word in words}


def tell(mood: str) -> Generator[Odds, str, None]:
    """Tell one story: yield the odds of the next word, be sent the word that came."""

    def say(text: str) -> Generator[Odds, str, None]:
        for word in text.split():
            yield {word: 1.0}

    yield from say("once")
    hero = yield even(HE + SHE)
    pronoun = "he" if hero in HE else "she"
    yield from say("the")
    yield falling(ANIMALS)
    yield from say("lived by the")
    place = yield even(PLACES)
    yield from say(".")

    others = even([name for name in HE + SHE if name != hero])
    how = yield {pronoun: 0.6, **{name: 0.4 * p for name, p in others.items()}}
    if how == pronoun:
        yield from say("had a friend called")
        friend = yield others
        yield from say(".")
    else:
        friend = how
        yield from say("the")
        yield falling(ANIMALS)
        yield from say("lived there too .")

    yield from say("one")
    yield TIMES
    yield from say(f"{hero} found a")
    colour = yield falling(COLOURS)
    thing = yield even(THINGS)
    yield from say("and felt")
    yield tinted(FEELINGS, mood)
    yield from say(".")

    how = yield {pronoun: 0.5, friend: 0.3, "a": 0.2}
    owner = friend if how == pronoun else hero
    if how == pronoun:
        yield from say(f"gave the {colour} {thing} to {friend} .")
    elif how == friend:
        yield from say(f"wanted the {thing} but {hero} kept it .")
    else:
        yield even(THIEVES)
        yield from say(f"took the {colour} {thing} but {friend} brought it back .")

    yield from say("then")
    yield {hero: 0.5, friend: 0.5}
    yield tinted(DEEDS, mood)
    yield from say(f"by the {place} . so the {colour} {thing} belongs to {owner} .")
    yield from say("it all ended with a")
    yield tinted(ENDINGS, mood)
    yield from say(".")


def next_word_odds(words: list[str]) -> list[Odds]:
    """Give the exact odds of every word of a story and of what comes after it, the mood unknown.

    -> one table for each word and one more; the odds of `END` are 1 after the last word. Each mood
    counts by how well it explains the words so far.
    """
    belief = dict.fromkeys(MOODS, 1 / len(MOODS))
    tellers = {mood: tell(mood) for mood in MOODS}
    said = {mood: next(teller) for mood, teller in tellers.items()}
    tables = []
    for word in [*words, END]:
        table: Odds = {}
        for mood, odds in said.items():
            for candidate, p in odds.items():
                table[candidate] = table.get(candidate, 0.0) + belief[mood] * p
        tables.append(table)
        if word == END:
            break
        if word not in table:
            raise ValueError(f"the grammar never says {word!r} after {' '.join(words[:8])!r} ...")
        belief = {mood: belief[mood] * said[mood].get(word, 0.0) for mood in MOODS}
        total = sum(belief.values())
        belief = {mood: p / total for mood, p in belief.items()}
        said = {mood: _go_on(teller, word) for mood, teller in tellers.items()}
    return tables


def _go_on(teller: Generator[Odds, str, None], word: str) -> Odds:
    try:
        return teller.send(word)
    except StopIteration:
        return {END: 1.0}


def draw_story(generator: torch.Generator) -> tuple[list[str], str]:
    """Draw a mood, then a story: its words, and the mood."""

    def draw(odds: Odds) -> str:
        if len(odds) == 1:
            return next(iter(odds))
        left = float(torch.rand((), generator=generator, dtype=torch.float64))
        for word, p in odds.items():
            left -= p
            if left < 0:
                return word
        return word

    mood = draw(even(list(MOODS)))
    teller, words = tell(mood), []
    odds = next(teller)
    while END not in odds:
        words.append(draw(odds))
        odds = _go_on(teller, words[-1])
    return words, mood


def story_nats(words: list[str]) -> float:
    """Return how surprising a story is to the grammar: -log of its probability."""
    tables = next_word_odds(words)
    return -sum(math.log(table[word]) for table, word in zip(tables, [*words, END], strict=True))


def entropy() -> float:
    """Return the mean surprise of a story in nats, exactly: no model can be below it.

    Every choice adds its own entropy, weighted by how often it comes up. The three tinted words
    depend on each other through the mood, so theirs is the entropy of all triples.
    """

    def nats(odds: Odds) -> float:
        return -sum(p * math.log(p) for p in odds.values())

    animal, others = nats(falling(ANIMALS)), math.log(len(HE + SHE) - 1)
    friend = nats({"called": 0.6, "there too": 0.4}) + others + 0.4 * animal
    object_ = nats(TIMES) + nats(falling(COLOURS)) + math.log(len(THINGS))
    events = nats({"gave": 0.5, "kept": 0.3, "took": 0.2}) + 0.2 * math.log(len(THIEVES))
    hero = math.log(len(HE + SHE)) + animal + math.log(len(PLACES))
    triples: Odds = {}
    for mood in MOODS:
        lists = [tinted(words, mood).items() for words in (FEELINGS, DEEDS, ENDINGS)]
        for (a, p), (b, q), (c, r) in product(*lists):
            triples[f"{a} {b} {c}"] = triples.get(f"{a} {b} {c}", 0.0) + p * q * r / len(MOODS)
    return hero + friend + object_ + events + math.log(2) + nats(triples)


def vocabulary() -> list[str]:
    """List every word the grammar can say, after the three marks; a word's id is its place."""
    lists = [HE, SHE, ANIMALS, PLACES, list(TIMES), COLOURS, THINGS, THIEVES]
    lists += [FEELINGS, DEEDS, ENDINGS, FRAME.split()]
    return [PADDING, START, END, *sorted({word for words in lists for word in words})]


WORDS = vocabulary()
IDS = {word: i for i, word in enumerate(WORDS)}


def story_ids(words: list[str], length: int) -> list[int]:
    """Number a story, with its marks, filled up with padding to a length."""
    ids = [IDS[START], *(IDS[word] for word in words), IDS[END]]
    return ids + [IDS[PADDING]] * (length - len(ids))


LENGTH = 63  # the longest stories have 61 words, and two marks


def draw_stories(n: int, generator: torch.Generator) -> tuple[Tensor]:
    """Draw n stories as ids: ((n, LENGTH),)."""
    return (torch.tensor([story_ids(draw_story(generator)[0], LENGTH) for _ in range(n)]),)
