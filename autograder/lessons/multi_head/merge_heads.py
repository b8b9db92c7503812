"""merge_heads: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.draw import args
from autograder.checks.question import Case, Exercise
from autograder.checks.slips import Slip
from solutions.multi_head import merge_heads


def _merge(*leading):
    def draw(d):
        return args(d.normal(*leading, *d.sizes(3)))

    return draw


QUESTION = Exercise(
    merge_heads,
    parts={"values": 8, "any leading axes": 4, "any memory layout": 3},
    cases=[
        Case("values", "a batch of heads", _merge(3)),
        Case("values", "as many heads as tokens", lambda d: args(d.normal(2, 3, 3, 4))),
        Case("values", "one head", lambda d: args(d.normal(2, 1, 4, 3))),
        Case("values", "one token", lambda d: args(d.normal(2, 3, 1, 4))),
        Case("values", "whole numbers", lambda d: args(torch.arange(24).reshape(2, 3, 2, 2))),
        Case("any leading axes", "no batch", _merge()),
        Case("any leading axes", "two leading axes", _merge(2, 3)),
        Case(
            "any memory layout",
            "heads that were split",
            lambda d: args(d.normal(2, 4, 3, 5).transpose(1, 2)),
        ),
        Case(
            "any memory layout",
            "a permuted tensor",
            lambda d: args(d.normal(5, 2, 4, 3).movedim(0, -1)),
        ),
    ],
    slips=[
        Slip(
            "merged without a transpose",
            merge_heads,
            "x.transpose(-3, -2).flatten(-2)",
            "x.reshape(*x.shape[:-3], x.size(-2), x.size(-3) * x.size(-1))",
            "The shape is right but the tokens are mixed: bring the heads behind the tokens before "
            "you join the last two axes.",
        ),
        Slip(
            "heads interleaved",
            merge_heads,
            "x.transpose(-3, -2).flatten(-2)",
            "x.movedim(-3, -1).flatten(-2)",
            "The columns of the heads alternate; those of one head must stay side by side.",
        ),
        Slip(
            "heads averaged",
            merge_heads,
            "x.transpose(-3, -2).flatten(-2)",
            "x.mean(-3)",
            "The heads are averaged, and what each of them found is lost: set them side by side.",
        ),
        Slip(
            "heads added",
            merge_heads,
            "x.transpose(-3, -2).flatten(-2)",
            "x.sum(-3)",
            "The heads are added up, and what each of them found is lost: set them side by side.",
        ),
        Slip(
            "tokens flattened into the heads",
            merge_heads,
            "x.transpose(-3, -2).flatten(-2)",
            "x.flatten(-3, -2)",
            "Heads and tokens are joined into one axis; join heads and columns: (..., T, H * D).",
        ),
        Slip(
            "heads in reverse",
            merge_heads,
            "x.transpose(-3, -2)",
            "x.flip(-3).transpose(-3, -2)",
            "The heads are joined in reverse order: head 0's columns come first.",
        ),
        Slip(
            "not joined",
            merge_heads,
            ".flatten(-2)",
            "",
            "The axes are in the right order, (..., T, H, D), but the last two are not joined yet.",
        ),
    ],
)
