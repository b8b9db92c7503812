"""which_line: a picture, and which slip could have drawn it."""

import torch

from autograder.checks.draw import Draw
from autograder.checks.question import Choice, Puzzle
from autograder.checks.slips import patched
from autograder.lessons.layer_norm.layer_norm import QUESTION as NORM


def puzzle() -> Puzzle:
    """How strongly each token acts on each normalised token, where the norm ran over the batch."""
    slip = next(s for s in NORM.slips if s.name == "normalised over the batch")
    x = Draw("puzzle").normal(3, 3, 5)  # 3 sentences of 3 tokens
    slopes = torch.autograd.functional.jacobian(patched(slip)["layer_norm"], x)
    table = slopes.square().sum((2, 5)).sqrt().reshape(9, 9)
    title = "how strongly input token j acts on output token i\n(three sentences of three tokens)"
    return Puzzle(table, title, "output token i", "input token j")


QUESTION = Choice(
    "which_line",
    points=10,
    right="b",
    answers={
        "a": "With `x.mean(-2)` the tokens of one sentence would mix: the filled cells would form "
        "squares of three by three on the diagonal. In the picture no token acts on its "
        "neighbour.",
        "b": "With `x.mean(0)` the first tokens of all sentences share their statistics, and so do "
        "the second and the third ones: token 0 acts on 0, 3 and 6. One reader's sentence changes "
        "another's.",
        "c": "With `x.mean()` every token would act on every other: no cell would be empty.",
        "d": "The unbiased variance changes the numbers a little, but still belongs to one token: "
        "only the diagonal would be filled.",
    },
)
