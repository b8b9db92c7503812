"""who_notices: an experiment, and what may be concluded from it."""

from autograder.checks.question import Conclusion
from solutions.vit import ViT


def _shuffled(own, seed):
    """Train two tiny models with the learner's code; shuffle the patches of new images."""
    from solutions.studies.shuffled_patches import shuffle_test

    seen = shuffle_test(own.ViT, seed)
    return {name: 100 * shares["changed"] for name, shares in seen.items()}


def _decide(measured: dict) -> str:
    with_, without = measured["with"] > 30, measured["without"] > 30
    return {(True, True): "a", (False, False): "b", (True, False): "c", (False, True): "d"}[
        with_, without
    ]


QUESTION = Conclusion(
    "who_notices",
    7,
    probe=_shuffled,
    inputs=(0,),
    decide=_decide,
    answers={
        "a": "With positions {with:.0f}% of {whose} answers change, without {without:.0f}%. "
        "To the model without positions the shuffled image is the same bag of patches.",
        "b": "With positions {with:.0f}% of {whose} answers change, without {without:.0f}%. "
        "Attention by itself does not care for order; the positions that were added do.",
        "c": "With positions {with:.0f}% of the answers change, without {without:.0f}%: a model "
        "without positions sees a bag of patches, in which order does not exist.",
        "d": "With positions {with:.0f}% of {whose} answers change, without {without:.0f}%. "
        "It is the other way round: positions are what tells two orders apart.",
    },
    measures=[ViT],
)
