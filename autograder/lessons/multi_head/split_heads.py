"""split_heads: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.draw import args
from autograder.checks.question import Case, Exercise
from autograder.checks.slips import Slip
from solutions.multi_head import split_heads


def _split(*leading, heads=None, dtype=torch.float32):
    def draw(d):
        h, t, size = d.sizes(3)
        h = heads or h
        return args(d.normal(*leading, t, h * size, dtype=dtype), h)

    return draw


QUESTION = Exercise(
    split_heads,
    parts={"values": 10, "any leading axes": 5},
    cases=[
        Case("values", "a batch of tokens", _split(3)),
        Case("values", "one head", _split(2, heads=1)),
        Case("values", "one column a head", lambda d: args(d.normal(2, 3, 5), 5)),
        Case("values", "one token", lambda d: args(d.normal(2, 1, 12), 3)),
        Case("values", "a transposed tensor", lambda d: args(d.normal(2, 12, 5).mT, 3)),
        Case("values", "whole numbers", lambda d: args(torch.arange(48).reshape(2, 3, 8), 4)),
        Case("any leading axes", "no batch", _split()),
        Case("any leading axes", "two leading axes", _split(2, 3)),
    ],
    slips=[
        Slip(
            "reshaped without a transpose",
            split_heads,
            "x.unflatten(-1, (n_head, x.size(-1) // n_head)).transpose(-3, -2)",
            "x.reshape(*x.shape[:-2], n_head, x.size(-2), x.size(-1) // n_head)",
            "The shape is right but the numbers are dealt out in reading order: a head gets pieces "
            "of several tokens. Cut the last axis into (H, D) first, then exchange T and H.",
        ),
        Slip(
            "heads left behind the tokens",
            split_heads,
            ".transpose(-3, -2)",
            "",
            "The heads still stand behind the tokens, (..., T, H, D): exchange the two axes.",
        ),
        Slip(
            "every H-th column",
            split_heads,
            "x.unflatten(-1, (n_head, x.size(-1) // n_head)).transpose(-3, -2)",
            "x.unflatten(-1, (x.size(-1) // n_head, n_head)).movedim(-1, -3)",
            "Head h takes every H-th column; it should take D columns that lie side by side.",
        ),
        Slip(
            "H and D exchanged",
            split_heads,
            "(n_head, x.size(-1) // n_head)",
            "(x.size(-1) // n_head, n_head)",
            "H and D are exchanged: there are n_head heads of C // n_head columns each.",
        ),
        Slip(
            "the same columns for every head",
            split_heads,
            "x.unflatten(-1, (n_head, x.size(-1) // n_head)).transpose(-3, -2)",
            "x[..., : x.size(-1) // n_head].unsqueeze(-3).repeat_interleave(n_head, -3)",
            "Every head gets the first D columns; head h takes its own, from h * D on.",
        ),
        Slip(
            "tokens behind the columns",
            split_heads,
            ".transpose(-3, -2)",
            ".movedim(-3, -1)",
            "The tokens ended up last: (..., H, D, T). Only T and H change places.",
        ),
        Slip(
            "heads in reverse",
            split_heads,
            ".transpose(-3, -2)",
            ".transpose(-3, -2).flip(-3)",
            "The heads come in reverse order: head 0 gets the first D columns.",
        ),
    ],
    equivalent={
        "split_heads: x.size(-1) -> -1": "-1 // n_head is -1, and unflatten works that size out",
    },
)
