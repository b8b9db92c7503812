"""which_line: a picture, and which slip could have drawn it."""

import torch

from autograder.checks.question import Choice, Puzzle
from autograder.checks.slips import patched
from autograder.lessons.vit.patchify import QUESTION as PATCHIFY


def puzzle() -> Puzzle:
    """Number every pixel by the patch it lands in, with one line of `patchify` changed."""
    slip = next(s for s in PATCHIFY.slips if s.name == "pixels from all over the image")
    pixels = torch.arange(24).reshape(1, 4, 6)
    table = torch.empty(24)
    for number, patch in enumerate(patched(slip)["patchify"](pixels, 2)):
        table[patch] = number
    return Puzzle(
        table.reshape(4, 6),
        "the patch that each pixel of a 4 x 6 image lands in",
        "row of pixels",
        "column of pixels",
    )


QUESTION = Choice(
    "which_line",
    7,
    right="c",
    answers={
        "a": "The order of patches would be wrong, but each would still be a square of 2 x 2: the "
        "numbers 0 and 1 would lie below each other, in blocks.",
        "b": "Then the pixels are dealt out as one reads, four to a patch: the first row would "
        "read 0 0 0 0 1 1.",
        "c": "Yes. Cut into (P, columns), the neighbours in memory are the same place in "
        "neighbouring patches, so each patch collects every third pixel of every second row: a "
        "small, coarse copy of the whole image.",
        "d": "This changes the order of the four numbers within a patch, not which pixels it "
        "holds: the picture would show the blocks of a right answer.",
    },
)
