"""train_bpe: the cases it is tried in, and the slips that are known."""

from autograder.checks.question import ARGUMENTS, Case, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.byte_pairs.shared import drawn_words
from solutions.byte_pairs import train_bpe
from solutions.words import count_words


def _learned(own, name, words, n_merges, tie=None):
    """Learn merges, in order; a tie rule is named, since functions do not cross the wall."""
    given = dict(words)
    rules = {
        "max": max,
        "by second id": lambda pairs: min(pairs, key=lambda pair: pair[::-1]),
        "the middle one": lambda pairs: sorted(pairs)[len(pairs) // 2],  # it needs a list
    }
    result = own.train_bpe(given, n_merges, **({"tie": rules[tie]} if tie else {}))
    result = list(result.items()) if isinstance(result, dict) else result
    return {"result": result, "inputs": list(given.items())}


_TIES = {(9, 8): 2, (8, 9): 2, (7, 200): 2, (200, 3): 2}


QUESTION = Exercise(
    train_bpe,
    parts={"merges": 9, "ties": 5, "the end": 2, ARGUMENTS: 2},
    cases=[
        Case("merges", "a few words", lambda d: (drawn_words(d, 12), 5), _learned),
        Case("merges", "more letters", lambda d: (drawn_words(d, 20, 5), 8), _learned),
        Case("merges", "one merge", lambda d: (drawn_words(d, 12), 1), _learned),
        Case(
            "merges",
            "a text",
            lambda d: (count_words("low lower lowest slow slower new newer newest "), 12),
            _learned,
        ),
        Case(
            "merges",
            "a frequent word decides",
            lambda d: ({(1, 2): 1, (1, 2, 9): 1, (3, 4): 9, (1, 4): 4}, 4),
            _learned,
        ),
        Case("ties", "all pairs equally frequent", lambda d: (_TIES, 4), _learned),
        Case(
            "ties",
            "a tie with a new token",
            lambda d: ({(5, 6, 4): 2, (5, 6): 1, (7, 8): 2}, 3),
            _learned,
        ),
        Case("ties", "the largest pair", lambda d: (_TIES, 4, "max"), _learned),
        Case(
            "ties", "by the second id", lambda d: (drawn_words(d, 9), 5, "by second id"), _learned
        ),
        Case("ties", "the middle one", lambda d: (_TIES, 4, "the middle one"), _learned),
        Case("the end", "no pair left", lambda d: ({(1, 2, 3): 1, (4,): 2}, 9), _learned),
        Case("the end", "no merges asked for", lambda d: (drawn_words(d, 3), 0), _learned),
        Case("the end", "no words at all", lambda d: ({}, 3), _learned),
    ],
    slips=[
        Slip(
            "ties broken by first seen",
            train_bpe,
            "tie([p for p, n in counts.items() if n == most])",
            "max(counts, key=counts.get)",
            "Of equally frequent pairs the one seen first wins, so the result depends on the order "
            "of the words. Give all of them to `tie`.",
        ),
        Slip(
            "the tie rule is not used",
            train_bpe,
            "tie([p for p, n in counts.items() if n == most])",
            "min(p for p, n in counts.items() if n == most)",
            "The smallest pair is taken whatever `tie` says: call `tie` with the list of pairs.",
        ),
        Slip(
            "largest pair wins",
            train_bpe,
            "tie([p for p, n in counts.items() if n == most])",
            "max((n, p) for p, n in counts.items())[1]",
            "Of equally frequent pairs the largest is taken (max over (count, pair) does that). "
            "Give them to `tie`, which is `min` if nobody says otherwise.",
        ),
        Slip(
            "new ids from 0",
            train_bpe,
            "merges[pair] = new_id",
            "merges[pair] = new_id - 256",
            "New ids begin at 0, where the bytes are: the first is 256.",
        ),
        Slip(
            "new ids from 257",
            train_bpe,
            "range(256, 256 + n_merges)",
            "range(257, 257 + n_merges)",
            "The bytes have the ids 0 to 255, so the first new id is 256.",
        ),
        Slip(
            "counted only once",
            train_bpe,
            "        words = {merge_pair(ids, pair, new_id): n for ids, n in words.items()}",
            "        words = {(*p, -1, k): n for k, (p, n) in enumerate(counts.items()) if p != "
            "pair and k not in p and -1 not in p}",
            "Pairs were counted at the beginning only: after a merge the words are others, and new "
            "pairs with the new token have to be counted.",
        ),
        Slip(
            "rarest pair",
            train_bpe,
            "most = max(counts.values())",
            "most = min(counts.values())",
            "The rarest pair is merged; it should be the most frequent.",
        ),
        Slip(
            "how often is forgotten",
            train_bpe,
            "new_id): n for ids, n in words.items()}",
            "new_id): 1 for ids, n in words.items()}",
            "After the first merge every word counts once: carry along how often it occurs.",
        ),
        Slip(
            "rare pairs never merged",
            train_bpe,
            "if not counts:",
            "if not counts or max(counts.values()) < 2:",
            "The merges end as soon as every pair occurs once. Nobody asked for that: go on while "
            "there are pairs.",
        ),
        Slip(
            "one merge too few",
            train_bpe,
            "range(256, 256 + n_merges)",
            "range(256, 255 + n_merges)",
            "There is one merge too few: n_merges of them, from 256 to 255 + n_merges.",
        ),
        Slip(
            "counts of the words forgotten",
            train_bpe,
            "counts = count_pairs(words)",
            "counts = count_pairs({ids: 1 for ids in words})",
            "Every word counts once: hand count_pairs the words with how often they occur.",
        ),
    ],
)
