"""which_line: a picture, and which slip could have drawn it."""

import torch

from autograder.checks.question import Choice, Puzzle
from autograder.checks.slips import patched
from autograder.lessons.position.apply_rotary import QUESTION as ROTARY
from solutions.position import apply_rotary


def puzzle() -> Puzzle:
    """How one word matches itself at all pairs of positions, the keys turned the wrong way."""
    slip = next(s for s in ROTARY.slips if s.name == "turned the other way")
    word = torch.ones(6, 4)  # the same word at six positions
    q, k = apply_rotary(word), patched(slip)["apply_rotary"](word)
    title = "score of a query at t with a key at s, the same word everywhere"
    return Puzzle(q @ k.T, title, "query at t", "key at s")


QUESTION = Choice(
    "which_line",
    points=8,
    right="c",
    answers={
        "a": "If the keys were not turned, all keys would be the same vector: every row would "
        "hold one number six times. In the picture the rows change.",
        "b": "With halves for pairs, in queries and keys alike, the scores would still depend on "
        "t - s only: every diagonal would hold one number, with the largest on the main one.",
        "c": "Turned by +t and by -s, the vectors differ by the angle t + s: equal numbers stand "
        "on the lines from bottom left to top right. Both must turn the same way, so that the "
        "difference t - s is left.",
        "d": "Counted from 1 on both sides, t - s stays what it was: nothing would change at all.",
    },
)
