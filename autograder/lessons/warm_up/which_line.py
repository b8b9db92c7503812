"""which_line: a picture, and which slip could have drawn it."""

import torch

from autograder.checks.question import Choice, Puzzle
from autograder.checks.slips import patched
from autograder.lessons.warm_up.softmax import QUESTION as SOFTMAX


def puzzle() -> Puzzle:
    """What a softmax over the whole table looks like."""
    scores = torch.tensor([[1.0, 0.2, -0.5, 0.8], [2.4, 1.1, 1.9, 0.3], [-0.7, 0.1, -1.2, 0.6]])
    slip = next(s for s in SOFTMAX.slips if s.name == "flattened")
    weights = patched(slip)["softmax"](scores, -1)
    return Puzzle(weights, "weights made from a table of scores", "row", "column", sums=True)


QUESTION = Choice(
    "which_line",
    points=10,
    right="c",
    answers={
        "a": "With `softmax(scores, dim=-1)` every row would sum to one. In the picture they do "
        "not.",
        "b": "With `softmax(scores, dim=0)` every column would sum to one. In the picture they do "
        "not.",
        "c": "Only all twelve cells together sum to one: the scores were normalised as one long "
        "list, and the axis was never used.",
        "d": "A second softmax makes the rows nearly even, and they would still sum to one.",
    },
)
