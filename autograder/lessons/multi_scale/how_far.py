"""how_far: an experiment, and what may be concluded from it."""

from autograder.checks.question import Conclusion
from solutions.multi_scale import MultiScaleViT


def _reach(own, seed):
    """Count the pixels that one token sees, with the learner's model."""
    from solutions.studies.window_reach import compare_reach

    stay, shift, merge = compare_reach(own.MultiScaleViT, seed).values()
    return {"first": stay[0], "stay": stay[-1], "shift": shift[-1], "merge": merge[-1]}


def _decide(measured: dict) -> str:
    grown = measured["stay"] > 1.5 * measured["first"], measured["shift"] > 1.5 * measured["first"]
    return {(True, True): "a", (False, True): "b", (False, False): "c", (True, False): "d"}[grown]


QUESTION = Conclusion(
    "how_far",
    points=8,
    probe=_reach,
    inputs=(0,),
    decide=_decide,
    answers={
        letter: "With {whose} model a token sees {first} pixels after one block. After four blocks "
        "it sees {stay} where the windows stay and {shift} where every second block shifts; three "
        "stages with merging, which stay, bring {merge} of 256."
        for letter in "abcd"
    },
    measures=[MultiScaleViT],
)
