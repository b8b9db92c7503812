"""masked_softmax: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.draw import args
from autograder.checks.question import ARGUMENTS, GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from solutions.alignment import masked_softmax


def _masked(*leading, mask=None, dtype=torch.float32):
    """Draw scores (*leading, T, S) and a mask of the same shape, or with `mask` of another."""

    def draw(d):
        t, s = d.sizes(2, 3, 7)
        shapes = {"row": (s,), "sentence": (*leading, 1, s), None: (*leading, t, s)}
        return args(d.normal(*leading, t, s, dtype=dtype), d.mask(*shapes[mask]))

    return draw


def _all_allowed(d):
    scores = d.normal(2, *d.sizes(2))
    return args(scores, torch.ones_like(scores, dtype=torch.bool))


def _huge_forbidden(d):
    scores, mask = d.normal(3, 6), torch.tensor([True, True, False, True, False, True])
    scores[:, 2], scores[1, 4] = 10_000, 500
    return args(scores, mask)


def _large(d):
    return args(d.normal(4, 5, std=400, dtype=torch.float64), d.mask(4, 5))


def _one_allowed(low, dtype):
    """Scores as low as any "large negative number": the one allowed place gets all the weight."""

    def draw(d):
        mask = torch.nn.functional.one_hot(d.integers(0, 5, 3), 5).bool()
        return args(torch.full((3, 5), low, dtype=dtype), mask)

    return draw


def _forbidden(own, name, scores, mask):
    """Count the weights at forbidden places that are not exactly 0."""
    weights = getattr(own, name)(scores, mask.clone())
    return {"forbidden weights that are not 0": int((weights != 0)[~mask].sum())}


def _nothing(dtype=torch.float32):
    def draw(d):
        mask = d.mask(3, 4, 5)
        mask[1], mask[2, 3] = False, False
        return args(d.normal(3, 4, 5, dtype=dtype), mask)

    return draw


QUESTION = Exercise(
    masked_softmax,
    parts={
        "values": 4,
        "forbidden places": 4,
        "nothing allowed": 3,
        "half precision": 2,
        GRADIENT: 2,
        ARGUMENTS: 1,
    },
    cases=[
        Case("values", "everything allowed", _all_allowed),
        Case("values", "a single row", lambda d: args(d.normal(6), d.mask(6))),
        Case("values", "one place", lambda d: args(d.normal(3, 1), d.mask(3, 1))),
        Case("values", "large scores", _large),
        Case("forbidden places", "a mask for every score", _masked(3)),
        Case("forbidden places", "a mask for every sentence", _masked(3, mask="sentence")),
        Case("forbidden places", "one mask for all rows", _masked(mask="row")),
        Case("forbidden places", "a huge score at a forbidden place", _huge_forbidden),
        Case(
            "forbidden places",
            "scores of minus ten thousand million",
            _one_allowed(-1e10, torch.float64),
        ),
        Case(
            "forbidden places",
            "exactly nothing",
            lambda d: (d.normal(3, 5), d.mask(3, 5)),
            _forbidden,
        ),
        Case("nothing allowed", "some rows without a place to look at", _nothing()),
        Case(
            "nothing allowed",
            "no place at all",
            lambda d: (*args(d.normal(2, 3), torch.zeros(2, 3, dtype=torch.bool)), False),
        ),
        Case("half precision", "float16", _masked(2, dtype=torch.float16)),
        Case("half precision", "float16, nothing allowed", _nothing(torch.float16)),
        Case(
            "half precision",
            "float16, the lowest score there is",
            _one_allowed(-65504.0, torch.float16),
        ),
    ],
    slips=[
        Slip(
            "softmax over the queries",
            masked_softmax,
            ".softmax(-1)",
            ".softmax(-2)",
            "The softmax runs over the queries: each column sums to one. A query shares out its "
            "attention over the places it looks at, the last axis.",
        ),
        Slip(
            "mask not used",
            masked_softmax,
            "scores.masked_fill(~mask, -torch.inf).softmax(-1)\n"
            "    return weights.masked_fill(~mask, 0.0)",
            "(scores + 0 * mask).softmax(-1)\n    return weights",
            "The mask is not used: padding gets weight like any word.",
        ),
        Slip(
            "mask after the softmax",
            masked_softmax,
            "scores.masked_fill(~mask, -torch.inf).softmax(-1)",
            "scores.softmax(-1)",
            "The forbidden weights are set to zero after the softmax, and what is left no longer "
            "sums to one. Take the scores out before the softmax.",
        ),
        Slip(
            "mask inverted",
            masked_softmax,
            "scores.masked_fill(~mask, -torch.inf).softmax(-1)\n"
            "    return weights.masked_fill(~mask, 0.0)",
            "scores.masked_fill(mask, -torch.inf).softmax(-1)\n"
            "    return weights.masked_fill(mask, 0.0)",
            "The mask is the wrong way round: True means that looking is allowed.",
        ),
        Slip(
            "zero score for forbidden places",
            masked_softmax,
            "scores.masked_fill(~mask, -torch.inf).softmax(-1)\n"
            "    return weights.masked_fill(~mask, 0.0)",
            "scores.masked_fill(~mask, 0.0).softmax(-1)\n    return weights",
            "Forbidden scores are set to 0, and exp(0) is 1: a weight like any other. The score "
            "that gives no weight is minus infinity.",
        ),
        Slip(
            "nan where nothing is allowed",
            masked_softmax,
            "weights.masked_fill(~mask, 0.0)",
            "weights",
            "A row in which nothing is allowed becomes 0/0, not a number, and from there it "
            "spreads. Such a row should be zeros.",
        ),
        Slip(
            "even weights where nothing is allowed",
            masked_softmax,
            "scores.masked_fill(~mask, -torch.inf).softmax(-1)\n"
            "    return weights.masked_fill(~mask, 0.0)",
            "scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1)\n"
            "    return weights",
            "A row in which nothing is allowed shares its weight out evenly over forbidden places; "
            "such a row should be zeros.",
        ),
        Slip(
            "minus 1e9 for minus infinity",
            masked_softmax,
            "scores.masked_fill(~mask, -torch.inf)",
            "scores.masked_fill(~mask, -1e9)",
            "Forbidden scores are set to -1e9. Half precision ends at 65,504 and cannot hold it, "
            "and a lower score is possible: use minus infinity.",
        ),
        Slip(
            "no maximum subtracted",
            masked_softmax,
            "scores.masked_fill(~mask, -torch.inf).softmax(-1)\n"
            "    return weights.masked_fill(~mask, 0.0)",
            "scores.exp() * mask\n"
            "    return (weights / weights.sum(-1, keepdim=True)).masked_fill(~mask, 0.0)",
            "The exponentials overflow, or all become zero: subtract the largest allowed score "
            "first, or let `softmax` do it.",
        ),
        Slip(
            "normalised over the whole tensor",
            masked_softmax,
            ".softmax(-1)",
            ".flatten().softmax(0).view(scores.shape)",
            "All weights of the tensor sum to one together; every row should by itself.",
        ),
        Slip(
            "renormalised with an epsilon",
            masked_softmax,
            "scores.masked_fill(~mask, -torch.inf).softmax(-1)\n"
            "    return weights.masked_fill(~mask, 0.0)",
            "scores.softmax(-1) * mask\n"
            "    return weights / (weights.sum(-1, keepdim=True) + 1e-6)",
            "Weights are cut after a softmax over everything and divided by their sum and a small "
            "number. Where a forbidden score is huge nothing is left to divide: mask the scores.",
        ),
        Slip(
            "argument overwritten",
            masked_softmax,
            "scores.masked_fill(~mask, -torch.inf)",
            "scores.masked_fill_(~mask, -torch.inf)",
            "The call changes its own argument: methods ending in `_` write into the caller's "
            "tensor. `masked_fill` makes a new one.",
        ),
        Slip(
            "nan in the gradient",
            masked_softmax,
            "scores.masked_fill(~mask, -torch.inf)",
            "(scores + torch.zeros_like(scores).masked_fill(~mask, -torch.inf))",
            "The weights are right, but where nothing is allowed the gradient is not a number. "
            "Minus infinity is added to the scores; fill it in instead, and no gradient passes.",
        ),
        Slip(
            "no gradient",
            masked_softmax,
            "scores.masked_fill(~mask, -torch.inf)",
            "scores.detach().masked_fill(~mask, -torch.inf)",
            "The weights are right, but no gradient reaches the scores: is there a detach()?",
        ),
    ],
)
