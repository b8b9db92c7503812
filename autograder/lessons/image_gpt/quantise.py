"""quantise: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.draw import args
from autograder.checks.question import Case, Exercise
from autograder.checks.slips import Slip
from solutions.palette import quantise


def _pixels(*shape, k=None, channels=None, dtype=torch.float32):
    def draw(d):
        sizes = d.sizes(4, 3, 8)
        leading = shape or sizes[:2]
        colours, d_colour = k or sizes[2], channels or sizes[3]
        return args(
            d.normal(*leading, d_colour, dtype=dtype), d.normal(colours, d_colour, dtype=dtype)
        )

    return draw


def _equally_near(d):
    """Whole numbers, and a palette that holds a colour twice: which of two equal ones?"""
    palette = torch.tensor([[4.0], [0.0], [2.0], [0.0]])
    return args(d.integers(0, 5, 3, 6, 1).float(), palette)


def _forty_alike(d):
    """More colours than a sort keeps in order unasked; whole numbers, so that no rounding tells."""
    colour = d.integers(-4, 5, 1, 2).float()
    return args(d.integers(-4, 5, 6, 2).float(), colour.repeat(40, 1))


def _lone_pixel(d):
    """A pixel by itself, with no axis in front."""
    return args(d.normal(3), d.normal(5, 3))


def _turned(d):
    """Images whose channels came first and were moved: not contiguous."""
    return args(d.normal(2, 3, 4, 5).movedim(1, -1), d.normal(6, 3))


NEAREST = "return gaps.square().sum(-1).argmin(-1)"


QUESTION = Exercise(
    quantise,
    parts={"colours": 6, "grey": 3, "ties": 3},
    cases=[
        Case("colours", "pixels of several channels", _pixels()),
        Case("colours", "images of three channels", _pixels(2, 5, 4, k=7, channels=3)),
        Case("colours", "channels moved to the end", _turned),
        Case("colours", "one pixel", _pixels(1, k=5, channels=3)),
        Case("colours", "a pixel by itself", _lone_pixel),
        Case("colours", "float64", _pixels(dtype=torch.float64)),
        Case("grey", "grey pixels", _pixels(3, 7, k=5, channels=1)),
        Case("grey", "a palette of one colour", _pixels(4, k=1, channels=1)),
        Case("ties", "colours equally near", _equally_near),
        Case("ties", "a colour forty times", _forty_alike),
    ],
    slips=[
        Slip(
            "sum of absolute differences",
            quantise,
            "gaps.square()",
            "gaps.abs()",
            "The nearest colour is sought by the sum of absolute differences. Euclidean distance "
            "is asked for: square the differences, then add.",
        ),
        Slip(
            "largest channel difference",
            quantise,
            "gaps.square().sum(-1)",
            "gaps.abs().amax(-1)",
            "Only the channel that differs most decides. Euclidean distance adds the squares "
            "of all channels.",
        ),
        Slip(
            "farthest colour",
            quantise,
            ".argmin(-1)",
            ".argmax(-1)",
            "This is the colour farthest away: argmax of a distance. Take argmin.",
        ),
        Slip(
            "largest product",
            quantise,
            NEAREST,
            "return (pixels.unsqueeze(-2) * palette).sum(-1).argmax(-1)",
            "The colour with the largest product is taken, as in attention: a bright colour wins "
            "everywhere. The smallest distance is asked for.",
        ),
        Slip(
            "differences with their sign",
            quantise,
            "gaps.square().sum(-1)",
            "gaps.sum(-1)",
            "Differences are added with their signs: too dark in one channel makes up for too "
            "bright in another. Square them first.",
        ),
        Slip(
            "first channel only",
            quantise,
            "gaps.square().sum(-1)",
            "gaps.square()[..., 0]",
            "Only the first channel is compared; the distance is over all D of them.",
        ),
        Slip(
            "colours instead of numbers",
            quantise,
            NEAREST,
            "return palette[gaps.square().sum(-1).argmin(-1)]",
            "The nearest colours come back; asked for are their numbers in the palette.",
        ),
        Slip(
            "ties to the later colour",
            quantise,
            NEAREST,
            "return len(palette) - 1 - gaps.square().sum(-1).flip(-1).argmin(-1)",
            "Where two colours are equally near, the one with the higher number is taken; "
            "the lower is asked for.",
        ),
    ],
    equivalent={
        "quantise: pixels.unsqueeze(-2) - palette -> palette - pixels.unsqueeze(-2)": "the "
        "difference is squared",
    },
)
