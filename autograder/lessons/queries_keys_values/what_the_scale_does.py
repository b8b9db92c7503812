"""what_the_scale_does: an experiment, and what may be concluded from it."""

from autograder.checks.question import Conclusion
from solutions.queries_keys_values import scaled_dot_product_attention


def _narrow_and_wide(own, seed):
    """Look at the weights of the attention under test for widths 4 and 1,024."""
    from solutions.studies.saturation import saturation

    found = {}
    for width in (4, 1024):
        ways = saturation(own.scaled_dot_product_attention, width, seed, n_row=100, n_key=32)
        for name, way in (("plain", "not divided"), ("root", "divided by the root of D")):
            for what in ("largest", "gradient"):
                found[f"{name}_{what}_{width}"] = ways[way][what]
    return found


def _what_the_scale_does(measured: dict) -> str:
    def piled(name: str) -> bool:
        return not measured[f"{name}_largest_1024"] < 0.5

    return {(False, False): "a", (True, False): "b", (False, True): "c", (True, True): "d"}[
        piled("plain"), piled("root")
    ]


QUESTION = Conclusion(
    "what_the_scale_does",
    points=10,
    probe=_narrow_and_wide,
    inputs=(0,),
    decide=_what_the_scale_does,
    measures=[scaled_dot_product_attention],
    answers={
        letter: "With {whose} attention, from D = 4 to D = 1,024: divided by the root, the largest "
        "weight went from {root_largest_4:.2f} to {root_largest_1024:.2f} and the typical gradient "
        "from {root_gradient_4:.1g} to {root_gradient_1024:.1g}; not divided, from "
        "{plain_largest_4:.2f} to {plain_largest_1024:.2f} and from {plain_gradient_4:.1g} to "
        "{plain_gradient_1024:.1g}."
        for letter in "abcd"
    },
)
