"""what_moves: an experiment, and what may be concluded from it."""

import math

from autograder.checks.question import Conclusion
from solutions.warm_up import softmax


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


QUESTION = Conclusion(
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
