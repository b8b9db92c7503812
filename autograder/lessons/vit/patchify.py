"""patchify: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.draw import args
from autograder.checks.question import GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from solutions.vit import patchify

CUT = (
    "x = images.unflatten(-1, (columns, patch_size)).unflatten(-3, (rows, patch_size))\n"
    "    x = x.movedim((-4, -2), (-5, -4))  # (..., rows, columns, channels, P, P)\n"
    "    return x.flatten(-3).flatten(-3, -2)"
)


def _images(*leading, channels=3, rows=2, columns=4, size=3, dtype=torch.float32):
    return lambda d: args(
        d.normal(*leading, channels, rows * size, columns * size, dtype=dtype), size
    )


def _refused(own, name, images, patch_size):
    """Say whether sizes that do not fit are refused, and how."""
    try:
        getattr(own, name)(images, patch_size)
    except ValueError:
        return "a ValueError"
    except NotImplementedError:
        raise  # the body is still empty
    except Exception as error:
        return f"a {type(error).__name__}"
    return "no error"


def _whole_numbers(d):
    return args(torch.arange(2 * 2 * 4 * 6).reshape(2, 2, 4, 6), 2)


QUESTION = Exercise(
    patchify,
    parts={"values": 9, "any leading axes": 4, "sizes that do not fit": 3, GRADIENT: 2},
    cases=[
        Case("values", "a batch of images, wider than high", _images(2)),
        Case("values", "higher than wide", _images(2, channels=2, rows=5, columns=3, size=2)),
        Case("values", "one channel", _images(3, channels=1, rows=3, columns=2, size=2)),
        Case("values", "as many channels as pixels in a row", _images(2, channels=2, size=2)),
        Case("values", "patches of one pixel", _images(2, channels=3, size=1)),
        Case("values", "a single patch", _images(2, channels=2, rows=1, columns=1, size=4)),
        Case("values", "square images", _images(2, channels=2, rows=3, columns=3, size=2)),
        Case("values", "float64", _images(2, dtype=torch.float64)),
        Case("values", "a transposed tensor", lambda d: args(d.normal(2, 3, 8, 6).mT, 2)),
        Case("values", "a batch of one", _images(1)),
        Case("values", "whole numbers", _whole_numbers),
        Case("any leading axes", "one image", _images()),
        Case("any leading axes", "two axes in front", _images(2, 5, channels=3, size=2)),
        Case("sizes that do not fit", "height", lambda d: (d.normal(2, 3, 7, 6), 3), _refused),
        Case("sizes that do not fit", "width", lambda d: (d.normal(2, 3, 6, 7), 3), _refused),
        Case("sizes that do not fit", "both", lambda d: (d.normal(1, 5, 5), 2), _refused),
        Case(
            "sizes that do not fit",
            "as many pixels as fit",
            lambda d: (d.normal(2, 3, 2, 8), 4),
            _refused,
        ),
    ],
    slips=[
        Slip(
            "patches in column order",
            patchify,
            "(-5, -4))",
            "(-4, -5))",
            "The patches come down the first column, then down the second. Reading order runs "
            "along the rows: the column index must change fastest.",
        ),
        Slip(
            "image transposed",
            patchify,
            CUT,
            "x = images.mT.unflatten(-1, (rows, patch_size)).unflatten(-3, (columns, patch_size))"
            "\n    x = x.movedim((-4, -2), (-5, -4))\n    return x.flatten(-3).flatten(-3, -2)",
            "Height and width are exchanged: patches and pixels both run down the columns. No "
            "shape shows it, not even that of a wide image.",
        ),
        Slip(
            "pixels of a patch in column order",
            patchify,
            "return x.flatten(-3)",
            "return x.mT.flatten(-3)",
            "The patches are in the right order, but each is written down column by column: its "
            "first P numbers should be its top edge.",
        ),
        Slip(
            "channels interleaved",
            patchify,
            "return x.flatten(-3)",
            "return x.movedim(-3, -1).flatten(-3)",
            "The channels of a pixel stand side by side, (P, P, channels). All of channel 0 comes "
            "first, then channel 1: (channels, P, P), as in the weights of `nn.Conv2d`.",
        ),
        Slip(
            "dealt out in reading order",
            patchify,
            CUT,
            "x = images\n    n = rows * columns\n"
            "    return x.reshape(*x.shape[:-3], n, x.size(-3) * patch_size**2)",
            "The shape is right, but the pixels are dealt out in reading order: a row of numbers "
            "holds strips of the image, not a square. Cut height and width first, then move axes.",
        ),
        Slip(
            "pixels from all over the image",
            patchify,
            "images.unflatten(-1, (columns, patch_size)).unflatten(-3, (rows, patch_size))\n"
            "    x = x.movedim((-4, -2), (-5, -4))",
            "images.unflatten(-1, (patch_size, columns)).unflatten(-3, (patch_size, rows))\n"
            "    x = x.movedim((-3, -1), (-5, -4))",
            "Each patch takes every so-many-th pixel, so it is a small copy of the whole image. "
            "Cut an axis into (number of patches, P), in this order.",
        ),
        Slip(
            "patches as columns",
            patchify,
            "flatten(-3, -2)",
            "flatten(-3, -2).mT",
            "The result is (..., channels * P * P, N), as `F.unfold` gives it: tokens are rows, so "
            "exchange the last two axes.",
        ),
        Slip(
            "channels as patches of their own",
            patchify,
            CUT,
            "x = images.unflatten(-1, (columns, patch_size)).unflatten(-3, (rows, patch_size))\n"
            "    x = x.transpose(-3, -2)  # (..., channels, rows, columns, P, P)\n"
            "    return x.flatten(-2).flatten(-4, -2)",
            "Each channel makes patches of its own: too many rows, each too short. A patch has all "
            "channels of its square.",
        ),
        Slip(
            "grid not flattened",
            patchify,
            ".flatten(-3, -2)",
            "",
            "The patches still stand in a grid, (..., rows, columns, channels * P * P): make one "
            "axis of rows and columns.",
        ),
        Slip(
            "channels averaged",
            patchify,
            "return x.flatten(-3)",
            "return x.mean(-3).flatten(-2)",
            "The channels are averaged: a patch keeps all of them, one after the other.",
        ),
        Slip(
            "edges cut off silently",
            patchify,
            'raise ValueError(f"a {height} x {width} image cannot be cut into patches of '
            '{patch_size}")',
            "images = images[..., : height // patch_size * patch_size, "
            ": width // patch_size * patch_size]",
            "Sizes that do not fit pass without a word (pixels are dropped, or added): raise a "
            "ValueError.",
        ),
        Slip(
            "bottom row first",
            patchify,
            "return x.flatten(-3)",
            "return x.flip(-5).flatten(-3)",
            "The rows of patches come from the bottom up: row 0 of a tensor is the top.",
        ),
    ],
)
