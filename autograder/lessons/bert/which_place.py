"""which_place: an experiment, and what may be concluded from it."""

from autograder.checks.question import Conclusion
from solutions.bert import BERT, MaskedLanguageModel, mask_tokens


def _fill_gaps(own, seed):
    """Train the tiny model under test on hidden words and ask it at every place."""
    from solutions.studies.gap_practice import theme_by_place

    found = theme_by_place(own.BERT, own.MaskedLanguageModel, own.mask_tokens, seed)
    names = ("first", "second", "third", "fourth", "last")
    return dict(zip(names, found["one hidden"], strict=True)) | {"blind": found["all hidden"]}


def _which_place(measured: dict) -> str:
    first, middle, last = measured["first"], measured["third"], measured["last"]
    if min(first, middle, last) > 0.85:
        return "c"
    if max(first, middle, last) < 0.7:
        return "d"
    return "a" if last > first + 0.15 else "b"


QUESTION = Conclusion(
    "which_place",
    points=8,
    probe=_fill_gaps,
    inputs=(0,),
    decide=_which_place,
    measures=[mask_tokens, BERT, MaskedLanguageModel],
    answers={
        letter: "With {whose} model the right theme has the probability {first:.2f} at the first "
        "place, {third:.2f} in the middle and {last:.2f} at the last; where every word is hidden "
        "it has {blind:.2f}."
        for letter in "abcd"
    },
)
