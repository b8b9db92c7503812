"""softmax: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.draw import args
from autograder.checks.question import ARGUMENTS, Case, Exercise
from autograder.checks.slips import Slip
from solutions.warm_up import softmax


# float32 tells numbers near 10,000 apart to a thousandth only; in float64 an answer may subtract
# in any order
def _one_huge_row(by, dtype):
    def draw(d):
        x = d.normal(3, 4, dtype=dtype)
        x[1] += by
        return args(x, -1)

    return draw


def _one_huge_score(d):
    x = d.normal(2, 3, 5, dtype=torch.float64)
    x[0, 1, 2], x[1, 0, 4] = 10_000, -10_000
    return args(x, -1)


QUESTION = Exercise(
    softmax,
    parts={"values": 8, "every axis": 6, "large scores": 7, "gradient": 5, ARGUMENTS: 4},
    cases=[
        Case("values", "one row of scores", lambda d: args(d.normal(*d.sizes(1)), 0)),
        Case("values", "a batch of rows", lambda d: args(d.normal(*d.sizes(3)), -1)),
        Case("values", "an axis of length one", lambda d: args(d.normal(3, 1), -1)),
        Case("values", "float64", lambda d: args(d.normal(3, 5, dtype=torch.float64), -1)),
        Case("values", "a transposed tensor", lambda d: args(d.normal(4, 3).T, -1)),
        Case("every axis", "the columns of a table", lambda d: args(d.normal(*d.sizes(2)), 0)),
        Case("every axis", "the middle axis of three", lambda d: args(d.normal(*d.sizes(3)), 1)),
        Case("every axis", "axis -2 of four", lambda d: args(d.normal(*d.sizes(4)), -2)),
        Case("large scores", "one score of 10,000, one of -10,000", _one_huge_score),
        Case("large scores", "one row raised by 10,000", _one_huge_row(10_000, torch.float64)),
        Case("large scores", "one row raised by 100", _one_huge_row(100, torch.float32)),
        Case("large scores", "one row lowered by 10,000", _one_huge_row(-10_000, torch.float64)),
    ],
    slips=[
        Slip(
            "no maximum subtracted",
            softmax,
            "x - x.amax(dim, keepdim=True)",
            "x",
            "The maximum is not subtracted first: `exp` of a large score is infinite, and infinity "
            "divided by infinity is not a number.",
        ),
        Slip(
            "normalised over the whole tensor",
            softmax,
            "exponentials.sum(dim, keepdim=True)",
            "exponentials.sum()",
            "You divide by the sum of the whole tensor: the weights of each slice along `dim` must "
            "sum to one by themselves.",
        ),
        Slip(
            "flattened",
            softmax,
            "x.amax(dim, keepdim=True)  # the weights depend on differences only\n"
            "    exponentials = shifted.exp()\n"
            "    return exponentials / exponentials.sum(dim, keepdim=True)",
            "x.max()\n    exponentials = shifted.exp()\n"
            "    return exponentials / exponentials.sum()",
            "This is a softmax over all numbers of the tensor together: `dim` is not used. Every "
            "slice along `dim` must sum to one.",
        ),
        Slip(
            "always the last axis",
            softmax,
            "x.amax(dim, keepdim=True)  # the weights depend on differences only\n"
            "    exponentials = shifted.exp()\n"
            "    return exponentials / exponentials.sum(dim, keepdim=True)",
            "x.amax(-1, keepdim=True)\n    exponentials = shifted.exp()\n"
            "    return exponentials / exponentials.sum(-1, keepdim=True)",
            "The last axis is normalised whatever `dim` says.",
        ),
        Slip(
            "always the first axis",
            softmax,
            "x.amax(dim, keepdim=True)  # the weights depend on differences only\n"
            "    exponentials = shifted.exp()\n"
            "    return exponentials / exponentials.sum(dim, keepdim=True)",
            "x.amax(0, keepdim=True)\n    exponentials = shifted.exp()\n"
            "    return exponentials / exponentials.sum(0, keepdim=True)",
            "The first axis is normalised whatever `dim` says.",
        ),
        Slip(
            "one maximum for the whole tensor",
            softmax,
            "x.amax(dim, keepdim=True)",
            "x.max()",
            "One maximum is subtracted from the whole tensor. A row far below it underflows to "
            "zeros and becomes 0/0: take the maximum along `dim`.",
        ),
        Slip(
            "softmax twice",
            softmax,
            "exponentials / exponentials.sum(dim, keepdim=True)",
            "(exponentials / exponentials.sum(dim, keepdim=True)).softmax(dim)",
            "The softmax is taken twice: the weights are far too even.",
        ),
        Slip(
            "not divided by the sum",
            softmax,
            "return exponentials / exponentials.sum(dim, keepdim=True)",
            "return exponentials",
            "The weights are positive but do not sum to one: divide by their sum along `dim`.",
        ),
        Slip(
            "divided by the mean",
            softmax,
            "exponentials.sum(dim, keepdim=True)",
            "exponentials.mean(dim, keepdim=True)",
            "You divide by the mean: the weights sum to the length of the axis, not to one.",
        ),
        Slip(
            "logarithm of the weights",
            softmax,
            "return exponentials / exponentials.sum(dim, keepdim=True)",
            "return shifted - exponentials.sum(dim, keepdim=True).log()",
            "These are the logarithms of the weights (log-softmax): all negative. Take `exp` once "
            "more, or divide instead of subtracting.",
        ),
        Slip(
            "powers of two",
            softmax,
            "shifted.exp()",
            "shifted.exp2()",
            "The weights are powers of 2, not of e.",
        ),
        Slip(
            "no exponential",
            softmax,
            "shifted = x - x.amax(dim, keepdim=True)  # the weights depend on differences only\n"
            "    exponentials = shifted.exp()",
            "shifted = x\n    exponentials = shifted",
            "The scores are divided by their sum without `exp`: negative scores give negative "
            "weights.",
        ),
        Slip(
            "sum detached",
            softmax,
            "exponentials.sum(dim, keepdim=True)",
            "exponentials.sum(dim, keepdim=True).detach()",
            "The values are right but the gradient is not: the sum in the denominator depends on "
            "the scores too, so it must not be detached.",
        ),
        Slip(
            "argument overwritten",
            softmax,
            "x - x.amax(dim, keepdim=True)",
            "x.sub_(x.amax(dim, keepdim=True))",
            "The call changes its own argument: `x -= ...` and methods ending in `_` write into "
            "the caller's tensor. Make a new one: `x - ...`.",
        ),
    ],
)
