"""what_width_does: an experiment, and what may be concluded from it."""

from autograder.checks.question import Conclusion
from solutions.beam_search import beam_search


def _narrow_or_wide(own, seed):
    """Search the texts of twenty tables with the search under test."""
    from solutions.studies.table_model import widths_and_lengths

    found = widths_and_lengths(own.beam_search, seed)
    narrow, wide = found["width 1"], found["width 8"]
    return {
        "narrow": float(narrow["length"]),
        "wide": float(wide["length"]),
        "narrow_p": float(narrow["log-probability"]),
        "wide_p": float(wide["log-probability"]),
        "fair": float(found["width 8, alpha 1"]["length"]),
    }


def _what_width_does(measured: dict) -> str:
    if measured["wide_p"] < measured["narrow_p"]:
        return "d"
    if measured["wide"] < 0.6 * measured["narrow"]:
        return "b"
    return "a" if measured["wide"] > 1.2 * measured["narrow"] else "c"


QUESTION = Conclusion(
    "what_width_does",
    points=6,
    probe=_narrow_or_wide,
    inputs=(0,),
    decide=_what_width_does,
    measures=[beam_search],
    answers={
        letter: "With {whose} search, width 1 wrote {narrow:.1f} tokens at a log-probability of "
        "{narrow_p:.1f}, width 8 wrote {wide:.1f} at {wide_p:.1f}; divided by the length, width 8 "
        "wrote {fair:.1f}."
        for letter in "abcd"
    },
)
