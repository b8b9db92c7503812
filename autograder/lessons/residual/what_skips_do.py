"""what_skips_do: an experiment, and what may be concluded from it."""

import math

from autograder.checks.question import Conclusion
from solutions.residual import FeedForward, Residual, gradient_by_depth


def _three_stacks(own, seed):
    """Send a gradient through 64 layers, wired in three ways."""
    from solutions.studies.deep_stack import compare_depths

    return compare_depths(own.FeedForward, own.Residual, own.gradient_by_depth, seed)


def _what_skips_do(measured: dict) -> str:
    plain, skips, large = (measured[k] for k in ("plain", "skips", "large"))
    if plain < 1e-6 and 1e-3 < skips < 1e3:
        grown = large > 1e6 or math.isnan(large)
        return "b" if grown else "a"
    return "d" if plain > 1e3 * skips else "c"


QUESTION = Conclusion(
    "what_skips_do",
    points=10,
    probe=_three_stacks,
    inputs=(0,),
    decide=_what_skips_do,
    measures=[FeedForward, Residual, gradient_by_depth],
    answers={
        letter: "With {whose} code, a gradient of size 1 arrived with size {plain:.1e} at the "
        "input of the plain stack, {skips:.1e} with skips, {large:.1e} with skips and large "
        "weights."
        for letter in "abcd"
    },
)
