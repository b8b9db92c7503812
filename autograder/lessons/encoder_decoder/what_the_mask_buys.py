"""what_the_mask_buys: an experiment, and what may be concluded from it."""

from autograder.checks.question import Conclusion
from solutions.encoder_decoder import Transformer


def _with_and_without(own, seed):
    """Train a small Transformer with and without the causal mask, and let both write."""
    from solutions.studies.peeking import compare_masks

    found = compare_masks(own.Transformer, seed)
    with_mask, without = found["with the mask"], found["without"]
    return {
        "loss_with": sum(with_mask["loss"][-5:]) / 5,
        "loss_without": sum(without["loss"][-5:]) / 5,
        "right_with": 100 * with_mask["right"],
        "right_without": 100 * without["right"],
    }


def _what_the_mask_buys(measured: dict) -> str:
    low = measured["loss_without"] < 1.5 * measured["loss_with"]  # in most runs it is a fifth
    writes = measured["right_without"] > 0.5 * measured["right_with"]
    return {(False, False): "a", (True, False): "b", (False, True): "c", (True, True): "d"}[
        low, writes
    ]


QUESTION = Conclusion(
    "what_the_mask_buys",
    points=8,
    probe=_with_and_without,
    inputs=(0,),
    decide=_what_the_mask_buys,
    measures=[Transformer],
    answers={
        letter: "With {whose} Transformer the loss ended at {loss_with:.3f} with the mask and at "
        "{loss_without:.3f} without it; {right_with:.0f}% of new lists were written right with it "
        "and {right_without:.0f}% without."
        for letter in "abcd"
    },
)
