"""which_line: a picture, and which slip could have drawn it."""

import torch

from autograder.checks.draw import Draw
from autograder.checks.question import Choice, Puzzle
from autograder.checks.slips import patched
from autograder.lessons.self_attention.self_attention import QUESTION as ALL


def puzzle() -> Puzzle:
    """The weights of a self-attention in which all words use those of the first."""
    slip = next(s for s in ALL.slips if s.name == "the first word's weights for all")
    words = Draw("puzzle").normal(5, 3, std=0.8)
    # the words beside an identity of length 0: what comes out are the weights
    marked = torch.cat([words, 1e-4 * torch.eye(5)], dim=-1)
    weights = patched(slip)["self_attention"](marked)[:, 3:] * 1e4
    return Puzzle(weights, "weights of five words", "word that looks", "word looked at", sums=True)


QUESTION = Choice(
    "which_line",
    points=10,
    right="d",
    answers={
        "a": "Normalised along the columns, every column would sum to one. Here the rows do.",
        "b": "Without the word itself, the diagonal would be empty.",
        "c": "A plain mean would have the same number in every cell, 0.20.",
        "d": "The rows sum to one, but they are all the same: whoever asks, the question is that "
        "of word 0.",
    },
)
