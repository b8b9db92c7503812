"""what_heads_buy: an experiment, and what may be concluded from it."""

from autograder.checks.question import Conclusion
from solutions.multi_head import MultiHeadAttention


def _one_head_or_two(own, seed):
    """Train the small lookup models with the layer under test."""
    from solutions.studies.lookup_model import compare_heads

    right = compare_heads(own.MultiHeadAttention, seed)
    return {"one": right["one head"]["both"], "two": right["two heads"]["both"]}


def _what_heads_buy(measured: dict) -> str:
    gain = measured["two"] - measured["one"]
    if abs(gain) > 0.2:
        return "b" if gain > 0 else "c"
    return "a" if measured["one"] > 0.5 else "d"


QUESTION = Conclusion(
    "what_heads_buy",
    points=15,
    probe=_one_head_or_two,
    inputs=(0,),
    decide=_what_heads_buy,
    measures=[MultiHeadAttention],
    answers={
        letter: "With {whose} layer, one head had both answers right in {one:.0%} of the scenes, "
        "two heads in {two:.0%}."
        for letter in "abcd"
    },
)
