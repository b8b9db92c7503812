"""who_grows: an experiment, and what may be concluded from it."""

from autograder.checks.question import Conclusion
from solutions.layer_norm import TransformerBlock


def _up_the_tower(own, n_layer, seed):
    """Send tokens up an untrained tower of the blocks under test, in both orders."""
    from solutions.studies.block_tower import depth_profile

    profiles = {n: depth_profile(own.TransformerBlock, n, n_layer, seed) for n in ("pre", "post")}
    return {
        f"{norm}_{what}": profile[key][at]
        for norm, profile in profiles.items()
        for what, key, at in (
            ("end", "size", -1),
            ("first_change", "change", 0),
            ("last_change", "change", -1),
        )
    }


def _who_grows(measured: dict) -> str:
    grows = tuple(measured[f"{norm}_end"] > 1.8 for norm in ("pre", "post"))
    return {(False, False): "a", (True, False): "b", (False, True): "c", (True, True): "d"}[grows]


QUESTION = Conclusion(
    "who_grows",
    points=10,
    probe=_up_the_tower,
    inputs=(12, 0),
    decide=_who_grows,
    measures=[TransformerBlock],
    answers={
        letter: "With {whose} block the numbers start at size 1 and leave the twelfth block at "
        "{pre_end:.2f} in pre-norm and at {post_end:.2f} in post-norm. The first pre-norm block "
        "moves its tokens by {pre_first_change:.2f} of their size, the last by "
        "{pre_last_change:.2f}."
        for letter in "abcd"
    },
)
