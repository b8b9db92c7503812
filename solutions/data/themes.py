"""Stories from a grammar with two hidden switches, and the exact odds of every hidden word.

A story has a theme (sea or farm), which shows in many of its words, and a mood (glad or sad),
which shows in three. It is told in notes, as in a log-book. Nine words have a tag that depends
on where they stand: "light rose slowly today" has a noun and a verb, "light rose drifted today"
an adjective and a noun.
"""

import random
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

import torch
from torch import Tensor

from solutions.data.themes_words import EVERYDAY, MOOD, SEVERAL_TAGS, THEME

PAD, CLS, SEP, MASK = range(4)
SPECIAL = ["[PAD]", "[CLS]", "[SEP]", "[MASK]"]
THEMES, MOODS = ("sea", "farm"), ("glad", "sad")
TAGS = ("noun", "verb", "adjective")
TAG_OF = {"noun": 0, "transitive": 1, "intransitive": 1, "adjective": 2}
SHARES = {"theme": 0.75, "everyday": 0.1, "several tags": 0.15}  # where a word comes from
# Words in capitals are slots. The five kinds of note are equally likely, and equally long.
SENTENCES = [
    "please TRANSITIVE ADJECTIVE NOUN .",
    "please TRANSITIVE NOUN HOW .",
    "NOUN INTRANSITIVE near NOUN .",
    "ADJECTIVE NOUN INTRANSITIVE WHEN .",
    "NOUN INTRANSITIVE HOW WHEN .",
]
STORY = ["tale", "tale", "felt FEELING .", "tale", "tale", "we DEED .", "tale", "tale"]
STORY += ["then came END ."]


@cache
def choices(slot: str, theme: int, mood: int) -> dict[str, float]:
    """Return the words a slot may hold and their probabilities, which sum to one."""
    kind = slot.lower()
    if kind in MOOD:
        return _fading(MOOD[kind][mood])
    if kind in ("how", "when"):
        return _fading(EVERYDAY[kind])
    several = [word for word, kinds in SEVERAL_TAGS.items() if kind in kinds]
    lists = {"theme": THEME[kind][theme], "everyday": EVERYDAY[kind], "several tags": several}
    return {w: SHARES[k] * p for k, words in lists.items() for w, p in _fading(words).items()}


def _fading(words: list[str]) -> dict[str, float]:
    """Give the first words of a list more weight than the last: 1/7, 1/8, 1/9, ..."""
    weights = [1 / (rank + 7) for rank in range(len(words))]
    return {word: w / sum(weights) for word, w in zip(words, weights, strict=True)}


@cache
def _pickable(slot: str, theme: int, mood: int) -> tuple[list[str], list[float]]:
    odds = choices(slot, theme, mood)
    return list(odds), list(accumulate(odds.values()))


@dataclass(frozen=True)
class Text:
    """One text: its words, the slot each word fills ("" for a fixed word), its two switches."""

    words: list[str]
    slots: list[str]
    theme: int
    mood: int

    def cues(self) -> int:
        """Count the words that tell the theme."""
        return sum(word in theme_words() for word in self.words)


@cache
def theme_words() -> frozenset[str]:
    return frozenset(w for pair in THEME.values() for words in pair for w in words)


def _filled(sentence: str, theme: int, mood: int, rng: random.Random) -> tuple[list, list]:
    words, slots = [], []
    for part in sentence.split():
        slot = part if part.isupper() else ""
        if slot:
            names, up_to = _pickable(slot, theme, mood)
            part = rng.choices(names, cum_weights=up_to)[0]
        words.append(part)
        slots.append(slot)
    return words, slots


def draw_text(rng: random.Random, parts: list[str]) -> Text:
    """Draw a theme, a mood and the sentences named: "tale" is any of the five kinds."""
    theme, mood, words, slots = rng.randrange(2), rng.randrange(2), [], []
    for part in parts:
        sentence = rng.choice(SENTENCES) if part == "tale" else part
        more_words, more_slots = _filled(sentence, theme, mood, rng)
        words += more_words
        slots += more_slots
    return Text(words, slots, theme, mood)


def draw_stories(n: int, seed: int) -> list[Text]:
    """Draw whole stories: six tales of one theme, and three sentences that tell the mood."""
    rng = random.Random(seed)
    return [draw_text(rng, STORY) for _ in range(n)]


def draw_sentences(n: int, seed: int, n_cue: int) -> list[Text]:
    """Draw single sentences with exactly n_cue words (1 to 3) that tell their theme."""
    rng, found = random.Random(seed), []
    while len(found) < n:
        text = draw_text(rng, ["tale"])
        if text.cues() == n_cue:
            found.append(text)
    return found


def draw_tagged(n: int, seed: int) -> tuple[list[Text], list[int]]:
    """Draw sentences with one word of several tags; return where it stands (from 0) in each."""
    rng, found, places = random.Random(seed), [], []
    while len(found) < n:
        text = draw_text(rng, ["tale"])
        where = [i for i, w in enumerate(text.words) if w in SEVERAL_TAGS and text.slots[i]]
        if len(where) == 1:
            found.append(text)
            places.append(where[0])
    return found, places


def tag(text: Text, place: int) -> int:
    """Say which of TAGS the word at a place has there."""
    return TAG_OF[text.slots[place].lower()]


@cache
def vocabulary() -> list[str]:
    """Return the special tokens, then every word of the grammar by the alphabet."""
    slots = {p for s in [*SENTENCES, *STORY] for p in s.split() if p.isupper()}
    words = {p for s in [*SENTENCES, *STORY[2:]] for p in s.split() if not p.isupper()} - {"tale"}
    for slot in slots:
        for theme in (0, 1):
            for mood in (0, 1):
                words |= set(choices(slot, theme, mood))
    return SPECIAL + sorted(words)


@cache
def ids_of() -> dict[str, int]:
    return {word: i for i, word in enumerate(vocabulary())}


def encode(texts: list[list[str]]) -> Tensor:
    """Turn texts into ids (B, T): [CLS], the words, [SEP], padding up to the longest."""
    rows = [[CLS, *(ids_of()[w] for w in words), SEP] for words in texts]
    longest = max(map(len, rows))
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])
