"""window_partition: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.draw import args
from autograder.checks.question import GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from solutions.multi_scale import window_partition

CUT = (
    "x = x.unflatten(-2, (columns // size, size)).unflatten(-4, (rows // size, size))\n"
    "    x = x.transpose(-4, -3)  # (..., rows // M, columns // M, M, M, C)\n"
    "    return x.flatten(-3, -2).flatten(-4, -3)"
)


def _grid(*leading, rows=2, columns=3, size=2, c=5, dtype=torch.float32):
    """Draw a grid of so many rows and columns of windows."""
    return lambda d: args(d.normal(*leading, rows * size, columns * size, c, dtype=dtype), size)


def _refused(own, name, x, size):
    """Say whether sizes that do not fit are refused, and how."""
    try:
        getattr(own, name)(x, size)
    except ValueError:
        return "a ValueError"
    except NotImplementedError:
        raise  # the body is still empty
    except Exception as error:
        return f"a {type(error).__name__}"
    return "no error"


QUESTION = Exercise(
    window_partition,
    parts={"values": 8, "any leading axes": 3, "sizes that do not fit": 2, GRADIENT: 2},
    cases=[
        Case("values", "a batch of grids, wider than high", _grid(2)),
        Case("values", "higher than wide", _grid(2, rows=4, columns=2, size=3, c=4)),
        Case("values", "rows, columns and width alike", _grid(2, rows=2, columns=2, c=4)),
        Case("values", "windows of one token", _grid(2, rows=3, columns=2, size=1)),
        Case("values", "one window covers the grid", _grid(3, rows=1, columns=1, size=4)),
        Case("values", "one column of numbers", _grid(2, rows=3, columns=2, c=1)),
        Case("values", "float64", _grid(2, dtype=torch.float64)),
        Case("values", "a permuted grid", lambda d: args(d.normal(2, 5, 4, 6).movedim(1, -1), 2)),
        Case("values", "a batch of one", _grid(1)),
        Case("values", "whole numbers", lambda d: args(torch.arange(144).reshape(2, 4, 6, 3), 2)),
        Case("any leading axes", "one grid", _grid()),
        Case("any leading axes", "two axes in front", _grid(2, 3, rows=3, columns=2)),
        Case("sizes that do not fit", "rows", lambda d: (d.normal(2, 5, 6, 3), 3), _refused),
        Case("sizes that do not fit", "columns", lambda d: (d.normal(2, 6, 4, 3), 3), _refused),
        Case("sizes that do not fit", "both", lambda d: (d.normal(5, 7, 4), 2), _refused),
        Case(
            "sizes that do not fit",
            "as many tokens as fit",
            lambda d: (d.normal(2, 2, 8, 3), 4),
            _refused,
        ),
    ],
    slips=[
        Slip(
            "dealt out in reading order",
            window_partition,
            CUT,
            "lead, c = x.shape[:-3], x.size(-1)\n    n = (rows // size) * (columns // size)\n"
            "    return x.reshape(*lead, n, size * size, c)",
            "The shape is right, but the tokens are dealt out as one reads: a window holds a "
            "strip of the image, not a square. Cut rows and columns first, then exchange axes.",
        ),
        Slip(
            "windows over channels",
            window_partition,
            "x = x.unflatten(-2,",
            "x = x.mT.unflatten(-2,",
            "The last axis is taken for the columns of the grid, so windows are cut across the "
            "channels: C stays whole, rows and columns are the two axes before it.",
        ),
        Slip(
            "tokens from all over the grid",
            window_partition,
            "x = x.unflatten(-2, (columns // size, size)).unflatten(-4, (rows // size, size))\n"
            "    x = x.transpose(-4, -3)  # (..., rows // M, columns // M, M, M, C)",
            "x = x.unflatten(-2, (size, columns // size)).unflatten(-4, (size, rows // size))\n"
            "    x = x.movedim((-4, -2), (-5, -4))",
            "Each window collects every so-many-th token, so it is a coarse copy of the whole "
            "grid. Cut an axis into (number of windows, M), in this order.",
        ),
        Slip(
            "windows in column order",
            window_partition,
            "x = x.transpose(-4, -3)",
            "x = x.transpose(-4, -3).transpose(-5, -4)",
            "The windows come down the first column, then down the second. Reading order runs "
            "along the rows: the column of windows must change fastest.",
        ),
        Slip(
            "tokens of a window in column order",
            window_partition,
            "return x.flatten(-3, -2)",
            "return x.transpose(-3, -2).flatten(-3, -2)",
            "The windows are in the right order, but each is written down column by column: its "
            "first M tokens should be its top edge.",
        ),
        Slip(
            "windows as columns",
            window_partition,
            "flatten(-4, -3)",
            "flatten(-4, -3).transpose(-3, -2)",
            "The tokens of a window stand before the windows, (..., M * M, N, C): exchange them.",
        ),
        Slip(
            "grid of windows not flattened",
            window_partition,
            ".flatten(-4, -3)",
            "",
            "The windows still stand in a grid: make one axis of its rows and columns.",
        ),
        Slip(
            "windows not flattened",
            window_partition,
            "return x.flatten(-3, -2).flatten(-4, -3)",
            "return x.flatten(-5, -4)",
            "A window is still a square, (M, M, C): list its tokens, (M * M, C).",
        ),
        Slip(
            "rows of windows from below",
            window_partition,
            "return x.flatten(-3, -2)",
            "return x.flip(-5).flatten(-3, -2)",
            "The rows of windows come from the bottom up: row 0 of a tensor is the top.",
        ),
        Slip(
            "edges cut off silently",
            window_partition,
            'raise ValueError(f"a grid of {rows} x {columns} cannot be cut into windows of '
            '{size}")',
            "x = x[..., : rows // size * size, : columns // size * size, :]",
            "Sizes that do not fit pass without a word (tokens are dropped, or added): raise a "
            "ValueError.",
        ),
        Slip(
            "no gradient",
            window_partition,
            "x = x.unflatten(-2,",
            "x = x.detach().unflatten(-2,",
            "The values are right, but no gradient flows back: is there a detach() or .data?",
        ),
    ],
)
