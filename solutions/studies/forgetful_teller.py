"""A teller of tiny tales who knows the frame by heart and remembers nothing that was said."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable

from solutions.data import tiny_tales as tales

SLOTS = {
    "name": tales.HE + tales.SHE,
    "pronoun": ["he", "she"],
    "animal": tales.ANIMALS,
    "place": tales.PLACES,
    "time": list(tales.TIMES),
    "colour": tales.COLOURS,
    "thing": tales.THINGS,
    "thief": tales.THIEVES,
    "feeling": tales.FEELINGS,
    "deed": tales.DEEDS,
    "ending": tales.ENDINGS,
}
KIND = {word: slot for slot, words in SLOTS.items() for word in words}


class ForgetfulTeller:
    """Count what follows every beginning of a story, each word in a slot known by its kind alone.

    It knows that a name comes next, and how often each; never which one the story began with.
    """

    def __init__(self, stories: Iterable[list[str]]):
        self.followers: dict[tuple[str, ...], Counter] = defaultdict(Counter)
        for words in stories:
            for before, word in self.questions(words):
                self.followers[before][word] += 1

    def questions(self, words: list[str]) -> Iterable[tuple[tuple[str, ...], str]]:
        """Yield every word of a story and its end, with the kinds of all words before it."""
        kinds = tuple(KIND.get(word, word) for word in words)
        for t, word in enumerate([*words, tales.END]):
            yield kinds[:t], word

    def nats(self, words: list[str]) -> float:
        """Return the surprise at all words of a story and at its end."""
        found, even = 0.0, 1 / len(tales.WORDS)
        for before, word in self.questions(words):
            counts = self.followers[before]
            found -= math.log((counts[word] + even) / (counts.total() + 1))
        return found
