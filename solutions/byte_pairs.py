"""Byte pair encoding, the plain way: count all pairs, merge the most frequent one, begin again."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

from solutions.vocabulary import Pair


def count_pairs(words: dict[tuple[int, ...], int]) -> dict[Pair, int]:
    """Count how often each pair of neighbours occurs inside the words.

    words: how often each word occurs, a word being a tuple of ids. Every place counts, also where
    two pairs overlap, and no pair reaches from one word into the next. Pairs that never occur are
    left out.

    >>> count_pairs({(5, 5, 5): 2, (5, 7): 1})
    {(5, 5): 4, (5, 7): 1}
    """
    counts = Counter()
    for ids, n in words.items():
        for pair in pairwise(ids):
            counts[pair] += n
    return dict(counts)


def merge_pair(ids: Sequence[int], pair: Pair, new_id: int) -> tuple[int, ...]:
    """Put new_id, which is not among the ids yet, in the place of every `pair`, left to right.

    A token takes part in one merge only: where pairs overlap, the left one is merged. The ids
    handed in, a tuple or a list, stay as they are.

    >>> merge_pair((5, 5, 5, 7, 5, 5), pair=(5, 5), new_id=256)
    (256, 5, 7, 256)
    """
    merged = []
    for i in ids:
        if merged and (merged[-1], i) == pair:
            merged[-1] = new_id
        else:
            merged.append(i)
    return tuple(merged)


def train_bpe(
    words: dict[tuple[int, ...], int], n_merges: int, tie: Callable[[list[Pair]], Pair] = min
) -> dict[Pair, int]:
    """Learn up to n_merges merges: {pair: new id} in the order learned.

    words: how often each word occurs, a word being a tuple of ids below 256 at first.
    The most frequent pair is merged in all words, then pairs are counted anew. `tie` chooses from
    the list of all pairs that are equally frequent: by `min`, the smallest pair of ids.
    New ids are 256, 257, ... Where no pair is left, the merges end early.

    >>> train_bpe({(1, 2, 3): 2, (2, 3): 1, (1, 2): 1}, n_merges=2)
    {(1, 2): 256, (256, 3): 257}
    """
    merges = {}
    for new_id in range(256, 256 + n_merges):
        counts = count_pairs(words)
        if not counts:
            break
        most = max(counts.values())
        pair = tie([p for p, n in counts.items() if n == most])
        merges[pair] = new_id
        words = {merge_pair(ids, pair, new_id): n for ids, n in words.items()}
    return merges


def encode(ids: Sequence[int], merges: dict[Pair, int]) -> tuple[int, ...]:
    """Merge the ids of one word as training did: of the pairs it holds, the earliest learned first.

    ids: the word in byte ids; merges: {pair: new id} in the order learned, so the earliest has the
    smallest new id. All its occurrences are merged, then the word is looked at anew, until it holds
    no pair of merges. Both arguments stay as they are.

    >>> encode((1, 2, 3), {(2, 3): 256, (1, 2): 257, (1, 256): 258})
    (258,)
    """
    ids = tuple(ids)
    for _ in ids[1:]:  # a merge shortens the word, so there are no more than this
        pairs = [pair for pair in pairwise(ids) if pair in merges]
        if not pairs:
            break
        first = min(pairs, key=merges.get)
        ids = merge_pair(ids, first, merges[first])
    return ids
