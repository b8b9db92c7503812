"""warm_up: softmax, weighted averages, one-hot rows."""

import math

import torch

from autograder.exercise import ARGUMENTS, Case, Choice, Conclusion, Exercise, args
from autograder.puzzle import Puzzle
from autograder.slips import Slip, patched
from solutions.warm_up import one_hot_rows, softmax, weighted_average


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


SOFTMAX = Exercise(
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


def _average(*leading_w, leading_v=None):
    def draw(d):
        t, s, c = d.sizes(3)
        values = leading_w if leading_v is None else leading_v
        return args(d.rows(*leading_w, t, s), d.normal(*values, s, c))

    return draw


AVERAGE = Exercise(
    weighted_average,
    parts={"values": 10, "batches": 6, "gradient": 4},
    cases=[
        Case("values", "a few rows", _average()),
        Case("values", "as many rows as columns", lambda d: args(d.rows(4, 4), d.normal(4, 4))),
        Case("values", "one token", lambda d: args(d.rows(1, 1), d.normal(1, 3))),
        Case("batches", "a batch", _average(3)),
        Case(
            "batches",
            "a batch as long as its rows",
            lambda d: args(d.rows(3, 3, 3), d.normal(3, 3, 3)),
        ),
        Case("batches", "two leading axes", _average(2, 3)),
        Case("batches", "one table of values for all", _average(5, leading_v=())),
        Case("batches", "one table of weights for all", _average(leading_v=(5,))),
        Case("batches", "leading axes of length one", _average(2, 1, leading_v=(3,))),
        Case(
            "batches", "a transposed table", lambda d: args(d.rows(2, 3, 4), d.normal(2, 5, 4).mT)
        ),
    ],
    slips=[
        Slip(
            "weights transposed",
            weighted_average,
            "weights @ values",
            "weights.transpose(-2, -1) @ values",
            "The weights are transposed: row t of `weights` says how token t mixes the values.",
        ),
        Slip(
            "multiplied element by element",
            weighted_average,
            "weights @ values",
            "weights * values",
            "`*` multiplies place by place; a weighted sum over the rows is a matrix product, `@`.",
        ),
        Slip(
            "softmax again",
            weighted_average,
            "weights @ values",
            "weights.softmax(-1) @ values",
            "The weights sum to one already; another softmax makes them nearly equal.",
        ),
        Slip(
            "plain mean",
            weighted_average,
            "weights @ values",
            "(weights * 0 + 1 / weights.size(-1)) @ values",
            "This is the plain mean of the values: the weights are not used.",
        ),
        Slip(
            "only the best row",
            weighted_average,
            "weights @ values",
            "(weights == weights.amax(-1, keepdim=True)).to(values) @ values",
            "Only the row with the largest weight is taken: that is argmax, not an average.",
        ),
        Slip(
            "divided by the number of rows",
            weighted_average,
            "weights @ values",
            "weights @ values / values.size(-2)",
            "The weights sum to one, so the weighted sum is the average already: do not divide by "
            "the number of rows.",
        ),
        Slip(
            "divided by the sum of the weights",
            weighted_average,
            "weights @ values",
            "weights @ values / weights.sum(-1, keepdim=True)",
            "The result is right, but you divide by the sum of the weights, which is one already: "
            "the gradient with respect to the weights becomes another.",
        ),
        Slip(
            "columns normalised",
            weighted_average,
            "weights @ values",
            "(weights / weights.sum(-2, keepdim=True)) @ values",
            "The weights are divided by the sum of each column; they come normalised by rows.",
        ),
        Slip(
            "one batch for all",
            weighted_average,
            "weights @ values",
            "weights @ (values if values.dim() < 3 else values[:1])",
            "Every batch is averaged with the values of the first one.",
        ),
    ],
)


def _as_float(own, name, ids, n):
    """What the rows say, whatever their dtype, and the ids as they were left."""
    import torch

    rows = getattr(own, name)(ids, n)
    rows = rows.to(torch.float32) if isinstance(rows, torch.Tensor) else rows
    return {"result": rows, "inputs": [ids]}


def _dtype(own, name, ids, n):
    rows = getattr(own, name)(ids, n)
    return {"dtype": str(getattr(rows, "dtype", type(rows).__name__))}


ONE_HOT = Exercise(
    one_hot_rows,
    parts={"values": 8, "any shape": 4, "dtype": 3},
    cases=[
        Case("values", "a list of ids", lambda d: (d.integers(0, 5, 7), 5), _as_float),
        Case("values", "all ids in turn", lambda d: (torch.arange(4), 4), _as_float),
        Case("values", "more columns than ids", lambda d: (d.integers(0, 6, 2), 9), _as_float),
        Case("values", "one column", lambda d: (torch.zeros(3, dtype=torch.long), 1), _as_float),
        Case("any shape", "a batch of sentences", lambda d: (d.integers(0, 6, 2, 3), 6), _as_float),
        Case("any shape", "a single id", lambda d: (torch.tensor(2), 4), _as_float),
        Case("any shape", "three axes", lambda d: (d.integers(0, 5, 2, 3, 4), 5), _as_float),
        Case("dtype", "float32 asked for", lambda d: (d.integers(0, 5, 3), 5), _dtype),
    ],
    slips=[
        Slip(
            "whole numbers",
            one_hot_rows,
            ".float()",
            ".long()",
            "The rows are whole numbers (int64): a matrix product with a float table of "
            "embeddings fails. Return float32.",
        ),
        Slip(
            "booleans",
            one_hot_rows,
            ".float()",
            "",
            "The rows are booleans: return float32, 1.0 and 0.0.",
        ),
        Slip(
            "double precision",
            one_hot_rows,
            ".float()",
            ".double()",
            "The rows are float64 where float32 is asked for.",
        ),
        Slip(
            "counted from one",
            one_hot_rows,
            "ids.unsqueeze(-1)",
            "(ids.unsqueeze(-1) - 1)",
            "The column is one too far left: ids count from 0.",
        ),
        Slip(
            "one column too far right",
            one_hot_rows,
            "ids.unsqueeze(-1)",
            "(ids.unsqueeze(-1) + 1)",
            "The column is one too far right: id 0 belongs in column 0.",
        ),
        Slip(
            "all columns up to the id",
            one_hot_rows,
            "==",
            ">=",
            "All columns up to the id are filled; only column `id` may be 1.",
        ),
        Slip(
            "ones and zeros exchanged",
            one_hot_rows,
            "==",
            "!=",
            "Ones and zeros are exchanged: the 1 belongs in column `id` only.",
        ),
        Slip(
            "flattened ids",
            one_hot_rows,
            "ids.unsqueeze(-1)",
            "ids.flatten().unsqueeze(-1)",
            "The shape of the ids is lost: (B, T) ids give (B, T, n).",
        ),
        Slip(
            "columns in front",
            one_hot_rows,
            ".float()",
            ".float().movedim(-1, 0)",
            "The n columns come first; they belong in the last axis: (..., n).",
        ),
    ],
    equivalent={
        "one_hot_rows: torch.arange(n, device=ids.device) -> torch.arange(n)": "the checks run on "
        "the CPU, where tensors are made anyway; on another device the comparison would raise",
    },
)


def puzzle() -> Puzzle:
    """What a softmax over the whole table looks like."""
    scores = torch.tensor([[1.0, 0.2, -0.5, 0.8], [2.4, 1.1, 1.9, 0.3], [-0.7, 0.1, -1.2, 0.6]])
    slip = next(s for s in SOFTMAX.slips if s.name == "flattened")
    weights = patched(slip)["softmax"](scores, -1)
    return Puzzle(weights, "weights made from a table of scores", "row", "column", sums=True)


WHICH_LINE = Choice(
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


def _shift_and_scale(own, rows, columns):
    """How far the weights move when 1,000 is added to all scores, and when they are tenfold."""
    import torch

    scores = torch.randn(rows, columns, generator=torch.Generator().manual_seed(7))
    before = own.softmax(scores, -1)
    added, tenfold = own.softmax(scores + 1000, -1), own.softmax(scores * 10, -1)
    return {
        "added": float((added - before).abs().max()),
        "tenfold": float((tenfold - before).abs().max()),
        "largest_before": float(before.amax(-1).mean()),
        "largest_after": float(tenfold.amax(-1).mean()),
    }


def _what_moves(measured: dict) -> str:
    def moved(change: float) -> bool:
        return math.isnan(change) or change > 0.01  # not a number: surely not what it was

    return {(True, True): "a", (True, False): "b", (False, True): "c", (False, False): "d"}[
        moved(measured["added"]), moved(measured["tenfold"])
    ]


WHAT_MOVES = Conclusion(
    "what_moves",
    points=15,
    probe=_shift_and_scale,
    inputs=(200, 6),
    decide=_what_moves,
    measures=[softmax],
    answers={
        "a": "With {whose} softmax, adding 1,000 moved the weights by {added:.2g} at most and "
        "multiplying by ten by {tenfold:.2g}.",
        "b": "With {whose} softmax, adding 1,000 moved the weights by {added:.2g} at most and "
        "multiplying by ten by {tenfold:.2g}.",
        "c": "Adding 1,000 moved the weights by {added:.2g} at most: they depend on differences. "
        "Multiplying by ten moved them by up to {tenfold:.2g}: the mean largest weight went from "
        "{largest_before:.2f} to {largest_after:.2f}.",
        "d": "With {whose} softmax, adding 1,000 moved the weights by {added:.2g} at most and "
        "multiplying by ten by {tenfold:.2g}.",
    },
)

QUESTIONS = [SOFTMAX, AVERAGE, ONE_HOT, WHICH_LINE, WHAT_MOVES]
