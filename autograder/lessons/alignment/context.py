"""context: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.draw import args
from autograder.checks.question import GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from solutions.alignment import context


def _context(*leading):
    def draw(d):
        t, s, width = d.sizes(3)
        return args(d.rows(*leading, t, s), d.normal(*leading, s, width))

    return draw


QUESTION = Exercise(
    context,
    parts={"values": 3, "batches": 2, GRADIENT: 1},
    cases=[
        Case("values", "a few queries", _context()),
        Case("values", "as many of all", lambda d: args(d.rows(4, 4), d.normal(4, 4))),
        Case("values", "one place", lambda d: args(d.rows(3, 1), d.normal(1, 4))),
        Case("values", "zeros for weights", lambda d: args(torch.zeros(2, 3), d.normal(3, 4))),
        Case("batches", "a batch", _context(3)),
        Case("batches", "a batch of one query", lambda d: args(d.rows(3, 1, 5), d.normal(3, 5, 2))),
        Case("batches", "two leading axes", _context(2, 3)),
    ],
    slips=[
        Slip(
            "only the best place",
            context,
            "weights @ values",
            "(weights == weights.amax(-1, keepdim=True)).to(values) @ values",
            "Only the value with the largest weight is taken. That is a hard choice, through which "
            "no gradient flows; average all of them.",
        ),
        Slip(
            "weights transposed",
            context,
            "weights @ values",
            "weights.transpose(-2, -1) @ values",
            "The weights are transposed: row t says how query t mixes the values.",
        ),
        Slip(
            "plain mean",
            context,
            "weights @ values",
            "(weights * 0 + 1 / weights.size(-1)) @ values",
            "This is the plain mean of the values: the weights are not used.",
        ),
        Slip(
            "softmax again",
            context,
            "weights @ values",
            "weights.softmax(-1) @ values",
            "The weights are weights already; another softmax makes them nearly equal.",
        ),
        Slip(
            "averaged over the batch",
            context,
            "weights @ values",
            "weights @ (values if values.dim() < 3 else values.mean(0, keepdim=True))",
            "The values of all sentences are mixed: every sentence has its own.",
        ),
        Slip(
            "divided by the number of places",
            context,
            "weights @ values",
            "weights @ values / values.size(-2)",
            "The weights sum to one, so the weighted sum is the average already: do not divide by "
            "the number of places.",
        ),
    ],
)
