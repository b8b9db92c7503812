"""which_line: a picture, and which slip could have drawn it."""

import torch

from autograder.checks.draw import Draw
from autograder.checks.question import Choice, Puzzle
from autograder.checks.slips import patched
from autograder.lessons.queries_keys_values.scaled_dot_product_attention import (
    QUESTION as ATTENTION,
)


def puzzle() -> Puzzle:
    """The weights under a causal mask whose forbidden scores were set to zero."""
    slip = next(s for s in ATTENTION.slips if s.name == "masked scores set to zero")
    draw = Draw("puzzle")
    q, k = draw.normal(5, 4), draw.normal(5, 4)
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    weights = patched(slip)["scaled_dot_product_attention"](q, k, torch.eye(5), mask)
    return Puzzle(weights, "weights under a causal mask", "query", "key", sums=True)


QUESTION = Choice(
    "which_line",
    points=8,
    right="b",
    answers={
        "a": "Masked after the softmax, the cells above the diagonal would be empty and the rows "
        "would sum to less than one. Here they are filled and the rows sum to one.",
        "b": "Above the diagonal each row repeats one number: exp(0) over the row's sum. The "
        "future has the same score everywhere, 0, and that is not the lowest there is.",
        "c": "With the mask the wrong way round, the cells on and below the diagonal would be "
        "empty, and the last row, which then may look at nothing, would be nan.",
        "d": "Without a mask the cells above the diagonal would differ from each other, as the "
        "keys do.",
    },
)
