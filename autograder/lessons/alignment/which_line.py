"""which_line: a picture, and which slip could have drawn it."""

import torch

from autograder.checks.draw import Draw
from autograder.checks.question import Choice, Puzzle
from autograder.checks.slips import patched
from autograder.lessons.alignment.masked_softmax import QUESTION as MASKED


def puzzle() -> Puzzle:
    """Weights over a sentence of four words and two places of padding, masked after the softmax."""
    slip = next(s for s in MASKED.slips if s.name == "mask after the softmax")
    scores = Draw("alignment puzzle").normal(5, 6)
    mask = torch.tensor([True, True, True, True, False, False])
    weights = patched(slip)["masked_softmax"](scores, mask)
    return Puzzle(weights, "weights: 5 queries, 4 words, 2 of padding", "query", "place", sums=True)


QUESTION = Choice(
    "which_line",
    points=8,
    right="c",
    answers={
        "a": "Without the mask the last two columns would not be empty, and every row would sum "
        "to one.",
        "b": "With the softmax over the queries every column of words would sum to one. Here no "
        "column does.",
        "c": "The padding has no weight, but the rows sum to less than one: it "
        "was part of the softmax, and its share was thrown away afterwards.",
        "d": "A score of 0 is not a weight of 0: the last two columns would be filled, and every "
        "row would sum to one.",
    },
)
