"""fit_palette: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.question import Case, Exercise
from autograder.checks.slips import Slip
from solutions.palette import fit_palette


def _cloud(d, n, k, channels, dtype=torch.float32, **keywords):
    """Pixels around k places, and starting colours drawn apart from them."""
    places = d.normal(k, channels, std=3.0)
    pixels = places[d.integers(0, k, n)] + d.normal(n, channels, std=0.8)
    return [pixels.to(dtype), d.normal(k, channels, std=2.0, dtype=dtype)], keywords, False


def _lonely(d):
    """A starting colour so far off that no pixel is ever nearest to it."""
    (pixels, centres), keywords, gradient = _cloud(d, 30, 4, 2, rounds=4)
    centres[1] = 90.0
    return [pixels, centres], keywords, gradient


def _left_alone(d):
    """A colour that has a pixel in the first round and none in the second."""
    pixels = torch.tensor([[-1.7], [-1.7], [-1.0], [1.0], [1.7]])
    return [pixels, torch.tensor([[-3.0], [0.2], [3.0]])], {"rounds": 2}, False


def _unsettled(d):
    """Draw pixels whose colours still move in the last of the usual rounds, and would go on."""
    for _ in range(1000):
        # float64, so that in many rounds no rounding decides which colour a pixel goes to
        (pixels, centres), keywords, gradient = _cloud(d, 400, 9, 1, torch.float64)
        colours = {n: fit_palette(pixels, centres, n) for n in (10, 19, 20, 21)}
        moved = {n: float((colours[20] - colours[n]).abs().max()) for n in (10, 19, 21)}
        if moved[10] > 1e-2 and min(moved[19], moved[21]) > 1e-3:
            return [pixels, centres], keywords, gradient
    raise ValueError("no colours that still move")


def _dim(d):
    """Pixels so dark that every move is small."""
    (pixels, centres), keywords, gradient = _cloud(d, 400, 9, 1, rounds=19)
    return [1e-3 * pixels, 1e-3 * centres], keywords, gradient


QUESTION = Exercise(
    fit_palette,
    parts={
        "one round": 5,
        "many rounds": 6,
        "colours without pixels": 3,
        "arguments left alone": 1,
    },
    cases=[
        Case("one round", "one round, colours", lambda d: _cloud(d, 25, 4, 3, rounds=1)),
        Case("one round", "one round, grey", lambda d: _cloud(d, 20, 5, 1, rounds=1)),
        Case("one round", "one colour for all", lambda d: _cloud(d, 9, 1, 2, rounds=1)),
        Case("one round", "float64", lambda d: _cloud(d, 18, 3, 2, torch.float64, rounds=1)),
        Case("many rounds", "three rounds", lambda d: _cloud(d, 60, 5, 3, rounds=3)),
        Case("many rounds", "as many rounds as usual", _unsettled),
        Case("many rounds", "no round", lambda d: _cloud(d, 12, 3, 2, rounds=0)),
        Case(
            "many rounds", "fewer rounds than it needs", lambda d: _cloud(d, 400, 9, 1, rounds=19)
        ),
        Case("many rounds", "fewer rounds than it needs, in the dark", _dim),
        Case("colours without pixels", "a colour that nobody wants", _lonely),
        Case("colours without pixels", "a colour that is left alone", _left_alone),
    ],
    slips=[
        Slip(
            "one round only",
            fit_palette,
            "for _ in range(rounds):",
            "for _ in range(min(rounds, 1)):",
            "The pixels are assigned once and the colours move once. Then other colours may be "
            "nearest: assign anew and move again, in every one of `rounds` rounds.",
        ),
        Slip(
            "empty colours become black",
            fit_palette,
            "centres = torch.where(count > 0, means, centres)",
            "centres = means",
            "A colour without pixels moves to 0. It should stay where it is.",
        ),
        Slip(
            "empty colours become NaN",
            fit_palette,
            "means = own.to(pixels.dtype) @ pixels / count.clamp(min=1)\n"
            "        centres = torch.where(count > 0, means, centres)",
            "means = own.to(pixels.dtype) @ pixels / count\n        centres = means",
            "A colour without pixels becomes 0 / 0 = NaN. It should stay where it is.",
        ),
        Slip(
            "divided by all pixels",
            fit_palette,
            "/ count.clamp(min=1)",
            "/ len(pixels)",
            "The sum of a colour's pixels is divided by the number of all pixels: divide by "
            "the number of its own.",
        ),
        Slip(
            "half a step",
            fit_palette,
            "centres = torch.where(count > 0, means, centres)",
            "centres = torch.where(count > 0, (means + centres) / 2, centres)",
            "The colours move half of the way. In k-means they go to the mean of their pixels.",
        ),
        Slip(
            "median",
            fit_palette,
            "means = own.to(pixels.dtype) @ pixels / count.clamp(min=1)",
            "means = torch.stack([pixels[o].nanmedian(0).values if o.any() else c"
            " for o, c in zip(own, centres)])",
            "The colours move to the median of their pixels; the mean is asked for: it makes "
            "the squared distance smallest.",
        ),
        Slip(
            "palette sorted",
            fit_palette,
            "    return centres",
            "    return centres[centres[:, 0].argsort()]",
            "The colours come back in another order: colour k should be what starting colour "
            "k has become.",
        ),
        Slip(
            "starting colours changed",
            fit_palette,
            "centres = torch.where(count > 0, means, centres)",
            "centres.copy_(torch.where(count > 0, means, centres))",
            "The starting colours that were handed in are overwritten: work on a copy.",
        ),
    ],
    equivalent={
        "fit_palette: count.clamp(min=1) -> count": "where the count is 0 the mean is not used",
        "fit_palette: count.clamp(min=1) -> count.clamp(min=-1)": "a count is never negative",
        "fit_palette: count.clamp(min=1) -> count.clamp(min=0)": "a count is never negative",
        "fit_palette: own.sum(-1, keepdim=True) -> own.sum(1, keepdim=True)": "there are two axes",
        "fit_palette: torch.arange(len(centres), device=pixels.device) -> "
        "torch.arange(len(centres))": "the same on a CPU",
        "fit_palette: torch.arange(len(centres), device=pixels.device).unsqueeze(-1) -> "
        "torch.arange(len(centres), device=pixels.device).unsqueeze(1)": "the same axis",
    },
)
