"""encode: the cases it is tried in, and the slips that are known."""

from autograder.checks.question import Case, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.byte_pairs.shared import drawn_word, drawn_words
from solutions.byte_pairs import encode, train_bpe


def _encoded(own, name, ids, merges):
    """Encode one word; a list is as good as a tuple."""
    given = list(ids) if isinstance(ids, list) else ids
    ranks = dict(merges)
    result = own.encode(given, ranks)
    result = list(result) if isinstance(result, list | tuple) else result
    return {"result": result, "inputs": [list(given), list(ranks.items())]}


def _trained(longest: int, n_merges: int = 12):
    def draw(d):
        return drawn_word(d, longest), train_bpe(drawn_words(d, 14), n_merges)

    return draw


_RANKS = {(2, 3): 256, (1, 2): 257, (3, 4): 258, (256, 4): 259}


QUESTION = Exercise(
    encode,
    parts={"order of the merges": 9, "all occurrences": 3, "small words": 3},
    cases=[
        Case("order of the merges", "learned merges", _trained(8), _encoded),
        Case("order of the merges", "a long word", _trained(40, 20), _encoded),
        Case(
            "order of the merges",
            "the later pair stands first",
            lambda d: ((1, 2, 3), _RANKS),
            _encoded,
        ),
        Case("order of the merges", "a chain", lambda d: ((1, 2, 3, 4, 9), _RANKS), _encoded),
        Case(
            "order of the merges",
            "down to one token",
            lambda d: ((1, 2, 3), {(2, 3): 256, (1, 2): 257, (1, 256): 258}),
            _encoded,
        ),
        Case("order of the merges", "a list", lambda d: ([1, 2, 3, 4, 2], _RANKS), _encoded),
        Case(
            "order of the merges",
            "a longer token that training would not make",
            lambda d: ((1, 2, 3), {(1, 2): 256, (2, 3): 257, (256, 9): 258, (1, 257): 259}),
            _encoded,
        ),
        Case("all occurrences", "a pair twice", lambda d: ((2, 3, 7, 2, 3), _RANKS), _encoded),
        Case(
            "all occurrences",
            "a run of one letter",
            lambda d: ((5,) * 7, {(5, 5): 256, (256, 256): 257, (257, 256): 258}),
            _encoded,
        ),
        Case("small words", "two tokens", lambda d: ((2, 3), _RANKS), _encoded),
        Case("small words", "one token", lambda d: ((9,), _RANKS), _encoded),
        Case("small words", "no token", lambda d: ((), _RANKS), _encoded),
        Case("small words", "no merges", lambda d: (drawn_word(d), {}), _encoded),
        Case("small words", "nothing to merge", lambda d: ((9, 8, 7), _RANKS), _encoded),
    ],
    slips=[
        Slip(
            "from left to right",
            encode,
            "min(pairs, key=merges.get)",
            "pairs[0]",
            "The leftmost pair that can be merged is merged. Training merged the earliest learned "
            "pair first: take the pair with the smallest new id.",
        ),
        Slip(
            "merges taken out",
            encode,
            "merges[first]",
            "merges.pop(first)",
            "Every merge that is used is taken out of `merges`: the next word is encoded without "
            "it. Leave the dictionary as it is.",
        ),
        Slip(
            "too few rounds",
            encode,
            "for _ in ids[1:]:",
            "for _ in ids[1::2]:",
            "Merging stops too early: a word of n ids may take n - 1 merges. Go on until it holds "
            "no pair of merges.",
        ),
        Slip(
            "latest merge first",
            encode,
            "min(pairs, key=merges.get)",
            "max(pairs, key=merges.get)",
            "The latest learned pair is merged first; the earliest comes first, as in training.",
        ),
        Slip(
            "smallest pair of ids first",
            encode,
            "min(pairs, key=merges.get)",
            "min(pairs)",
            "Pairs are ordered by their own ids: what counts is when a pair was learned, its new "
            "id.",
        ),
        Slip(
            "most frequent in the word first",
            encode,
            "min(pairs, key=merges.get)",
            "max(pairs, key=pairs.count)",
            "The pair that is most frequent in this word is merged first. Nothing is counted when "
            "encoding: the order was learned.",
        ),
        Slip(
            "one merge only",
            encode,
            "for _ in ids[1:]:",
            "for _ in ids[1:2]:",
            "After one merge the word is returned: look again, until no pair is in merges.",
        ),
        Slip(
            "longest match",
            encode,
            "    for _ in ids[1:]:  # a merge shortens the word, so there are no more than this\n"
            "        pairs = [pair for pair in pairwise(ids) if pair in merges]\n"
            "        if not pairs:\n            break\n"
            "        first = min(pairs, key=merges.get)\n"
            "        ids = merge_pair(ids, first, merges[first])\n    return ids",
            "    made = {i: (i,) for i in range(256)}\n"
            "    for a, b in merges: made[merges[a, b]] = made[a] + made[b]\n    out = []\n"
            "    while ids:\n"
            "        best = max((i for i in made if ids[: len(made[i])] == made[i]),"
            " key=lambda i: len(made[i]))\n"
            "        ids = out.append(best) or ids[len(made[best]) :]\n    return tuple(out)",
            "The longest token that fits is taken from the left. That needs no merges, but it is "
            "another rule: replay the merges in the order learned.",
        ),
        Slip(
            "new id is the rank",
            encode,
            "merge_pair(ids, first, merges[first])",
            "merge_pair(ids, first, 256 + pairs.index(first))",
            "The new id is counted in this word: it is merges[pair].",
        ),
    ],
    equivalent={
        "encode: ids = tuple(ids) -> pass": "a list is merged as well",
        "encode: tuple(ids) -> ids": "a list is merged as well",
        "encode: ids[1:] -> ids": "one round more finds nothing left to merge",
        "encode: ids[1:] -> ids[0:]": "one round more finds nothing left to merge",
        "encode: ids[1:] -> ids[:]": "one round more finds nothing left to merge",
    },
)
