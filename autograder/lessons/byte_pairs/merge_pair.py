"""merge_pair: the cases it is tried in, and the slips that are known."""

from autograder.checks.draw import Draw
from autograder.checks.question import ARGUMENTS, Case, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.byte_pairs.shared import drawn_word
from solutions.byte_pairs import merge_pair


def _merged(own, name, ids, pair, new_id):
    """Merge; a list is as good as a tuple."""
    given = list(ids) if isinstance(ids, list) else ids
    result = own.merge_pair(given, pair, new_id)
    result = list(result) if isinstance(result, list | tuple) else result
    return {"result": result, "inputs": list(given)}


def _some_pair(d: Draw) -> tuple:
    ids = drawn_word(d, 9)
    at = d.random.randrange(8)
    return ids, ids[at : at + 2], 256 + d.random.randrange(50)


QUESTION = Exercise(
    merge_pair,
    parts={"values": 6, "overlaps": 4, ARGUMENTS: 2},
    cases=[
        Case("values", "a word", _some_pair, _merged),
        Case("values", "a pair at both ends", lambda d: ((1, 2, 9, 1, 2), (1, 2), 300), _merged),
        Case("values", "a pair beside itself", lambda d: ((1, 2, 1, 2, 1), (1, 2), 256), _merged),
        Case("values", "a pair that is not there", lambda d: ((2, 1, 3), (1, 2), 256), _merged),
        Case("values", "the two ids apart", lambda d: ((1, 3, 2), (1, 2), 256), _merged),
        Case(
            "values",
            "ids with the same digits",
            lambda d: ((31, 2, 1, 25, 1, 2), (1, 2), 256),
            _merged,
        ),
        Case("values", "a single token", lambda d: ((4,), (4, 4), 256), _merged),
        Case("values", "no tokens", lambda d: ((), (4, 4), 256), _merged),
        Case("values", "merged tokens", lambda d: ((300, 0, 300, 0), (300, 0), 301), _merged),
        Case("overlaps", "three equal tokens", lambda d: ((5, 5, 5), (5, 5), 256), _merged),
        Case("overlaps", "five, then another", lambda d: ((5,) * 5 + (7,), (5, 5), 260), _merged),
        Case("overlaps", "a list", lambda d: ([0, 0, 0, 0, 9, 0], (0, 0), 256), _merged),
        Case("values", "a list of ids", lambda d: ([3, 1, 2, 2], (1, 2), 256), _merged),
    ],
    slips=[
        Slip(
            "overlapping merges",
            merge_pair,
            "    merged = []\n    for i in ids:\n        if merged and (merged[-1], i) == pair:\n"
            "            merged[-1] = new_id\n        else:\n            merged.append(i)",
            "    merged, last = [], False\n    for k, i in enumerate(ids):\n        if tuple("
            "ids[k : k + 2]) == pair:\n            merged.append(new_id)\n        elif k == 0 or "
            "tuple(ids[k - 1 : k + 1]) != pair:\n            merged.append(i)",
            "In a run such as a a a the middle token is merged twice. After a merge go on behind "
            "both tokens: a token takes part in one merge only.",
        ),
        Slip(
            "right half left behind",
            merge_pair,
            "    merged = []\n    for i in ids:\n        if merged and (merged[-1], i) == pair:\n"
            "            merged[-1] = new_id\n        else:\n            merged.append(i)",
            "    merged = []\n    for k, i in enumerate(ids):\n        if tuple(ids[k : k + 2]) == "
            "pair:\n            merged.append(new_id)\n        else:\n            merged.append(i)",
            "The second token of a merged pair is still there: new_id takes the place of both, so "
            "go on two places further.",
        ),
        Slip(
            "first place only",
            merge_pair,
            "if merged and (merged[-1], i) == pair:",
            "if merged and (merged[-1], i) == pair and new_id not in merged:",
            "Only the first place is merged; every place of the pair has to be.",
        ),
        Slip(
            "from right to left",
            merge_pair,
            "    for i in ids:\n        if merged and (merged[-1], i) == pair:\n"
            "            merged[-1] = new_id\n        else:\n            merged.append(i)\n"
            "    return tuple(merged)",
            "    for i in ids[::-1]:\n        if merged and (i, merged[-1]) == pair:\n"
            "            merged[-1] = new_id\n        else:\n            merged.append(i)\n"
            "    return tuple(merged[::-1])",
            "Runs are merged from the right: of a a a the first two become one token, not the "
            "last two.",
        ),
        Slip(
            "either order",
            merge_pair,
            "(merged[-1], i) == pair",
            "{merged[-1], i} == {*pair}",
            "(b, a) is merged as well; only (a, b) in this order is the pair.",
        ),
        Slip(
            "last token lost",
            merge_pair,
            "for i in ids:",
            "for i in ids[:-1] if tuple(ids[-2:]) != pair else ids:",
            "The last token is lost where it is not part of the pair: it has no right neighbour, "
            "but it stays.",
        ),
        Slip(
            "the pair left out",
            merge_pair,
            "    return tuple(merged)",
            "    return tuple(i for i in merged if i != new_id)",
            "The pair is taken out, but nothing is put in its place: new_id belongs there.",
        ),
        Slip(
            "new id beside the pair",
            merge_pair,
            "merged[-1] = new_id",
            "merged += [i, new_id]",
            "The pair is still there beside new_id: new_id takes its place.",
        ),
    ],
    equivalent={"merge_pair: tuple(merged) -> merged": "a list is accepted as well"},
)
