"""The same merges, learned in place: a merge changes the counts beside it, and no others."""

from collections import defaultdict
from heapq import heapify, heappop, heappush
from itertools import pairwise

from solutions.vocabulary import Pair


def train_fast(words: dict[tuple[int, ...], int], n_merges: int) -> dict[Pair, int]:
    """Learn the merges of `train_bpe` with its tie rule `min`, without counting all anew."""
    times, words = [*words.values()], [[*ids] for ids in words]
    counts, where = defaultdict(int), defaultdict(set)  # how often a pair occurs, in which words
    for w, ids in enumerate(words):
        for pair in pairwise(ids):
            counts[pair] += times[w]
            where[pair].add(w)
    # the top is the most frequent pair and, among equals, the smallest; an entry may be too high
    queue = [(-n, pair) for pair, n in counts.items()]
    heapify(queue)
    merges = {}
    while queue and len(merges) < n_merges:
        n, pair = heappop(queue)
        if -n != counts[pair]:  # it has become rarer: back into the queue, where it belongs now
            if counts[pair]:
                heappush(queue, (-counts[pair], pair))
            continue
        merges[pair] = 256 + len(merges)
        changes = {}
        for w in where.pop(pair):
            for changed, n in merge_in_place(words[w], pair, merges[pair]):
                changes[changed] = changes.get(changed, 0) + n * times[w]
                if n > 0:
                    where[changed].add(w)
        for changed, n in changes.items():
            counts[changed] += n
            if n > 0:
                heappush(queue, (-counts[changed], changed))
    return merges


def merge_in_place(ids: list[int], pair: Pair, new_id: int) -> list[tuple[Pair, int]]:
    """Merge a pair in one word; list which other pairs that made (+1) and unmade (-1).

    >>> merge_in_place([9, 1, 2, 7], pair=(1, 2), new_id=256)
    [((9, 1), -1), ((9, 256), 1), ((2, 7), -1), ((256, 7), 1)]
    """
    (a, b), i, changes = pair, 0, []
    while i < len(ids) - 1:
        if ids[i] == a and ids[i + 1] == b:
            ids[i : i + 2] = [new_id]
            if i > 0:
                changes += [((ids[i - 1], a), -1), ((ids[i - 1], new_id), 1)]
            if i + 1 < len(ids):
                changes += [((b, ids[i + 1]), -1), ((new_id, ids[i + 1]), 1)]
        i += 1
    return changes
