"""what_positions_buy: an experiment, and what may be concluded from it."""

from autograder.checks.question import Conclusion
from solutions.position import sinusoidal_positions


def _order_at_two_lengths(own, seed):
    """Train the two tiny encoders with the positions under test."""
    from solutions.studies.position_model import order_at_two_lengths

    found = order_at_two_lengths(own.sinusoidal_positions, seed)
    return {
        "without": found["without"][8],
        "trained": found["with"][8],
        "longer": found["with"][48],
    }


def _what_positions_buy(measured: dict) -> str:
    if measured["trained"] < 0.75:
        return "a"
    if measured["without"] > 0.8:
        return "b"
    return "c" if measured["longer"] > 0.8 else "d"


QUESTION = Conclusion(
    "what_positions_buy",
    points=10,
    probe=_order_at_two_lengths,
    inputs=(0,),
    decide=_what_positions_buy,
    measures=[sinusoidal_positions],
    answers={
        letter: "With {whose} table, sentences of the trained length 8 came out right in "
        "{trained:.0%} (without positions {without:.0%}), sentences of 48 tokens in {longer:.0%}; "
        "guessing gets 50%."
        for letter in "abcd"
    },
)
