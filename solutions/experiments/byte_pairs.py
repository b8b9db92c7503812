"""byte_pairs: what a larger vocabulary buys, and what both ways of training and encoding cost."""

import time
from collections import Counter
from collections.abc import Callable

from solutions.byte_pairs import encode, train_bpe
from solutions.data.tiny_shakespeare import text
from solutions.fast_pairs import train_fast
from solutions.words import byte_ids, count_words, split_words

SEEDS = (0, 1, 2)
SIZES = (256, 512, 1024, 2048, 4096)  # vocabularies
CHARACTERS = (20_000, 60_000, 200_000, 400_000)  # texts of so many characters


def lengths(seed: int, sizes: tuple[int, ...] = SIZES) -> dict[str, list[float]]:
    """Hold a tenth of the plays back; measure tokens on it, beside a list of frequent words.

    "bytes per token": how long a token of byte pairs is on the held back text.
    "unknown": the share of its words that a list of the same number of most frequent words lacks.
    """
    whole = text()
    cut = len(whole) // 10
    start = (3 * seed + 1) * cut
    held, rest = whole[start : start + cut], whole[:start] + whole[start + cut :]
    merges = [*train_fast(count_words(rest), max(sizes) - 256).items()]
    frequent = [word for word, _ in Counter(split_words(rest)).most_common(max(sizes))]
    words = Counter(split_words(held))
    found = {"bytes per token": [], "unknown": []}
    for size in sizes:
        known, listed = dict(merges[: size - 256]), set(frequent[:size])
        tokens = sum(n * len(encode(byte_ids(word), known)) for word, n in words.items())
        found["bytes per token"].append(len(held) / tokens)
        lacking = sum(n for word, n in words.items() if word not in listed)
        found["unknown"].append(lacking / words.total())
    return found


def costs(characters: tuple[int, ...] = CHARACTERS, n_merges: int = 128) -> dict[str, list[float]]:
    """Time both ways of training, and encoding with and without keeping words, on longer texts."""
    found = {name: [] for name in ("plain", "in place", "every word", "kept words")}
    for n in characters:
        start = text()[:n]
        words = count_words(start)
        merges = train_fast(words, n_merges)
        found["plain"].append(seconds(train_bpe, words, n_merges))
        found["in place"].append(seconds(train_fast, words, n_merges))
        found["every word"].append(seconds(encode_every_word, start, merges))
        found["kept words"].append(seconds(encode_kept_words, start, merges))
    return found


def encode_every_word(said: str, merges: dict) -> list[int]:
    """Merge each word of a text, however often it was merged before."""
    return [i for word in split_words(said) for i in encode(byte_ids(word), merges)]


def encode_kept_words(said: str, merges: dict) -> list[int]:
    """Merge each different word once."""
    words = split_words(said)
    kept = {word: encode(byte_ids(word), merges) for word in set(words)}
    return [i for word in words for i in kept[word]]


def seconds(function: Callable, *arguments) -> float:
    """Return the CPU seconds of the quicker of two calls: others only make it slower."""
    spent = []
    for _ in range(2):
        start = time.process_time()
        function(*arguments)
        spent.append(time.process_time() - start)
    return min(spent)


RUNS = [(costs, {}), *((lengths, {"seed": seed}) for seed in SEEDS)]
