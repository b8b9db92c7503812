"""count_pairs: the cases it is tried in, and the slips that are known."""

from autograder.checks.question import ARGUMENTS, Case, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.byte_pairs.shared import drawn_word, drawn_words
from solutions.byte_pairs import count_pairs


def _counted(own, name, words):
    """Count pairs, and see whether the words are left as they were."""
    given = dict(words)
    result = own.count_pairs(given)
    counts = dict(result) if isinstance(result, dict) else result  # also a Counter
    return {"result": counts, "inputs": list(given.items())}


QUESTION = Exercise(
    count_pairs,
    parts={"pairs": 5, "how often": 3, ARGUMENTS: 2},
    cases=[
        Case("pairs", "one word, once", lambda d: ({drawn_word(d): 1},), _counted),
        Case("pairs", "a run of one letter", lambda d: ({(7, 7, 7, 7): 1},), _counted),
        Case("pairs", "two words", lambda d: ({(1, 2): 1, (3, 4): 1},), _counted),
        Case("pairs", "words of one letter", lambda d: ({(1,): 3, (2,): 1},), _counted),
        Case("pairs", "no words", lambda d: ({},), _counted),
        Case("how often", "words that occur several times", lambda d: (drawn_words(d),), _counted),
        Case("how often", "one word, many times", lambda d: ({(5, 6, 5): 40},), _counted),
    ],
    slips=[
        Slip(
            "each word counted once",
            count_pairs,
            "+= n",
            "+= 1",
            "Every word counts once. A word that occurs n times brings each of its pairs n times.",
        ),
        Slip(
            "pairs across word borders",
            count_pairs,
            "for ids, n in words.items():",
            "for ids, n in [(sum(([*w] * n for w, n in words.items()), []), 1)]:",
            "A pair reaches from the end of one word into the next: count inside each word only.",
        ),
        Slip(
            "overlapping pairs left out",
            count_pairs,
            "pairwise(ids)",
            "zip(ids[::2], ids[1::2], strict=False)",
            "The word is cut into pairs side by side. Every two neighbours are a pair: the second "
            "token of one pair is the first of the next.",
        ),
        Slip(
            "each pair once a word",
            count_pairs,
            "in pairwise(ids)",
            "in set(pairwise(ids))",
            "A pair that stands in a word twice counts twice; a set has forgotten how often.",
        ),
        Slip(
            "order of the pair lost",
            count_pairs,
            "counts[pair] += n",
            "counts[tuple(sorted(pair))] += n",
            "(a, b) and (b, a) are two pairs: keep the order of the two ids.",
        ),
        Slip(
            "last pair forgotten",
            count_pairs,
            "pairwise(ids)",
            "zip(ids[:-1], ids[1:-1], strict=False)",
            "The last pair of every word is missing: a word of n tokens has n - 1 pairs.",
        ),
        Slip(
            "tokens counted, not pairs",
            count_pairs,
            "in pairwise(ids)",
            "in ids",
            "Single tokens are counted; what may be merged are two neighbours.",
        ),
        Slip(
            "overwritten, not added",
            count_pairs,
            "+= n",
            "= n",
            "The count of a pair is overwritten by the last word that holds it: add up.",
        ),
    ],
    equivalent={"count_pairs: dict(counts) -> counts": "a Counter is a dict too"},
)
