"""complete_image: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.question import Case, Exercise
from autograder.checks.slips import Slip
from solutions.image_gpt import complete_image


def _complete(own, name, place, table, images, rows, draws):
    """Complete images with a small causal model: its scores rest on the place and on the past.

    It has places for the start token and all pixels but the last, as many as it needs. What it
    reads beyond them is told, not refused.
    """
    import torch

    longest = [0]

    def model(ids):
        longest.append(ids.size(1) + 1)
        places = place[torch.arange(longest[-1]).clamp(max=len(place) - 1)]
        past = torch.cumsum(table[ids] * places[:-1, :1], dim=1)  # (B, N, K)
        past = torch.cat([torch.zeros(len(ids), 1, table.size(1)), past], dim=1)
        return places + past

    given, numbers = images.clone(), draws.clone()
    result = getattr(own, name)(model, given, rows, numbers)
    seen = {"result": result, "too many pixels for the model": max(longest) > len(place)}
    return seen | {"inputs": [given, numbers]}


def _halves(rows=None, b=None, r=None, c=None):
    def draw(d):
        k, size, high, wide = d.sizes(4, 3, 6)
        high, wide = r or high, c or wide
        kept = high // 2 if rows is None else rows
        place, table = d.normal(high * wide, k), d.normal(k, k, std=0.7)
        images = d.integers(0, k, b or size, high, wide)
        draws = torch.rand(images.shape, generator=d.generator)
        return place, table, images, kept, draws

    return draw


def _large(d):
    """Scores whose exponentials overflow."""
    place, *rest = _halves()(d)
    return place + 200, *rest


def _exact(d):
    """Four colours with even odds, and numbers that meet a sum exactly."""
    images, draws = d.integers(0, 4, 3, 4, 2), d.integers(0, 4, 3, 4, 2) / 4
    return torch.zeros(8, 4), torch.zeros(4, 4), images, 1, draws


def _rounding(d):
    """Odds whose sum stays below the largest number under 1, as floats add up."""
    top = 1 - 2.0**-24
    for _ in range(10_000):
        scores = torch.randn(11, generator=d.generator)
        scores[-1] = 2.0  # the last colour is likely: no other is near
        if float(scores.softmax(-1).cumsum(-1)[-1]) <= top:
            break
    place = scores.repeat(4, 1)
    return place, torch.zeros(11, 11), d.integers(0, 11, 1, 2, 2), 1, torch.full((1, 2, 2), top)


DRAWN = "passed = (sums <= draws[:, n : n + 1]).sum(-1)  # (B)"


QUESTION = Exercise(
    complete_image,
    parts={"completed": 10, "from nothing": 3, "how it is drawn": 4, "arguments left alone": 1},
    cases=[
        Case("completed", "the lower half", _halves(), _complete),
        Case("completed", "one image", _halves(b=1), _complete),
        Case("completed", "square images", _halves(r=4, c=4, b=3), _complete),
        Case("completed", "all but the first row", _halves(rows=1), _complete),
        Case("completed", "nothing to do", _halves(r=3, rows=3), _complete),
        Case("from nothing", "new images", _halves(rows=0), _complete),
        Case("from nothing", "images of one pixel", _halves(r=1, c=1, rows=0), _complete),
        Case("how it is drawn", "even odds, numbers on the border", _exact, _complete),
        Case("how it is drawn", "a sum that stays below", _rounding, _complete),
        Case("how it is drawn", "large scores", _large, _complete),
    ],
    slips=[
        Slip(
            "true lower half seen",
            complete_image,
            "model(ids[:, :n])",
            "model(images.flatten(1)[:, :n])",
            "The model is shown the true pixels below instead of those it has drawn: every pixel "
            "is easy, and the completion says nothing.",
        ),
        Slip(
            "the whole image read",
            complete_image,
            "model(ids[:, :n])[:, -1]",
            "model(ids)[:, n]",
            "The model is given all R * W pixels, and with the start token that is one more than "
            "it has places for. Give it the pixels before this one: ids[:, :n].",
        ),
        Slip(
            "always the likeliest colour",
            complete_image,
            DRAWN,
            "passed = scores.argmax(-1)  # (B)",
            "The likeliest colour is taken everywhere, so that all completions of an image are "
            "equal. Draw with the given numbers.",
        ),
        Slip(
            "raster order transposed",
            complete_image,
            "ids, draws = images.flatten(1).clone(), draws.flatten(1)  # (B, N)",
            "ids, draws = images.mT.flatten(1), draws.mT.flatten(1)  # (B, N)",
            "The image is laid out column by column. Raster order goes through the top row first.",
        ),
        Slip(
            "one number for all pixels",
            complete_image,
            "draws[:, n : n + 1]",
            "draws[:, :1]",
            "Every pixel is drawn with the number of the first. Each has its own in `draws`.",
        ),
        Slip(
            "numbers taken from the start",
            complete_image,
            "draws[:, n : n + 1]",
            "draws[:, n - rows * images.size(2) : n - rows * images.size(2) + 1]",
            "The numbers are used up from the start of `draws`; each pixel has the number at "
            "its own place.",
        ),
        Slip(
            "scores of the first pixel",
            complete_image,
            "[:, -1]  # (B, K)",
            "[:, 0]  # (B, K)",
            "The scores for the first pixel are used at every place: the next pixel's are the "
            "last ones.",
        ),
        Slip(
            "rows counted as pixels",
            complete_image,
            "range(rows * images.size(2),",
            "range(rows,",
            "`rows` pixels are kept; asked for are that many rows, each W pixels wide.",
        ),
        Slip(
            "nothing kept",
            complete_image,
            "range(rows * images.size(2), ids.size(1))",
            "range(ids.size(1))",
            "The whole image is drawn anew; its first rows should stay.",
        ),
        Slip(
            "softmax left out",
            complete_image,
            "scores.softmax(-1).cumsum(-1)",
            "scores.cumsum(-1)",
            "Scores are added up as if they were probabilities: softmax first.",
        ),
        Slip(
            "softmax over the images",
            complete_image,
            "scores.softmax(-1)",
            "scores.softmax(0)",
            "The softmax runs over the images of the batch; it must run over the colours.",
        ),
        Slip(
            "border to the lower colour",
            complete_image,
            "(sums <= draws",
            "(sums < draws",
            "Where the sum meets the number exactly, the lower colour is taken; the first sum that "
            "is greater is asked for.",
        ),
        Slip(
            "images changed",
            complete_image,
            "images.flatten(1).clone()",
            "images.view(len(images), -1)",
            "The images that were handed in are overwritten: work on a copy.",
        ),
    ],
    equivalent={
        f"complete_image: {old} -> {new}": "there are two axes"
        for old, new in {
            "(sums <= draws[:, n:n + 1]).sum(-1)": "(sums <= draws[:, n:n + 1]).sum(1)",
            "ids.size(1)": "ids.size(-1)",
            "scores.size(-1)": "scores.size(1)",
            "scores.softmax(-1)": "scores.softmax(1)",
            "scores.softmax(-1).cumsum(-1)": "scores.softmax(-1).cumsum(1)",
        }.items()
    },
)
