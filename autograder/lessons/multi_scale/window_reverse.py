"""window_reverse: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.draw import args
from autograder.checks.question import GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from solutions.multi_scale import window_reverse


def _windows(*leading, rows=2, columns=3, size=2, c=5, dtype=torch.float32):
    def draw(d):
        x = d.normal(*leading, rows * columns, size * size, c, dtype=dtype)
        return args(x, (rows * size, columns * size))

    return draw


BACK = "windows.unflatten(-2, (size, size)).unflatten(-4, (rows // size, columns // size))"


QUESTION = Exercise(
    window_reverse,
    parts={"values": 6, "any leading axes": 2, GRADIENT: 2},
    cases=[
        Case("values", "a batch of grids, wider than high", _windows(2)),
        Case("values", "higher than wide", _windows(2, rows=4, columns=2, size=3, c=4)),
        Case("values", "everything alike", _windows(4, rows=2, columns=2, c=4)),
        Case("values", "windows of one token", _windows(2, rows=3, columns=2, size=1)),
        Case("values", "one window covers the grid", _windows(3, rows=1, columns=1, size=4)),
        Case("values", "a batch of one", _windows(1)),
        Case("values", "float64", _windows(2, dtype=torch.float64)),
        Case(
            "values",
            "a permuted tensor",
            lambda d: args(d.normal(2, 5, 6, 4).movedim(1, -1), (4, 6)),
        ),
        Case("any leading axes", "one grid", _windows(c=10)),
        Case("any leading axes", "two axes in front", _windows(2, 3, rows=3, columns=2)),
    ],
    slips=[
        Slip(
            "put back in reading order",
            window_reverse,
            BACK + "\n    x = x.transpose(-4, -3)  # (..., rows // M, M, columns // M, M, C)\n"
            "    return x.flatten(-3, -2).flatten(-4, -3)",
            "windows.flatten(-3, -2)\n    _ = size\n    return x.unflatten(-2, (rows, columns))",
            "The shape is right, but the tokens are laid out as one reads, window after window: "
            "a square becomes a strip. Bring the axes back in order before you join them.",
        ),
        Slip(
            "windows expected in column order",
            window_reverse,
            "(rows // size, columns // size))",
            "(columns // size, rows // size)).transpose(-5, -4)",
            "The windows are laid out down the columns: they come in reading order.",
        ),
        Slip(
            "rows and columns exchanged",
            window_reverse,
            "rows, columns = grid",
            "columns, rows = grid",
            "The grid is read as (columns, rows): a square one hides it.",
        ),
        Slip(
            "tokens expected in column order",
            window_reverse,
            "x = x.transpose(-4, -3)",
            "x = x.transpose(-3, -2).transpose(-4, -3)",
            "The tokens of a window are laid out down its columns: they come in reading order.",
        ),
        Slip(
            "tokens spread over the grid",
            window_reverse,
            "return x.flatten(-3, -2).flatten(-4, -3)",
            "return x.transpose(-3, -2).flatten(-3, -2).transpose(-4, -3).flatten(-4, -3)",
            "The axes are joined as (M, number of windows): a window's tokens end up all over the "
            "grid. The place within a window changes fastest.",
        ),
        Slip(
            "axes not joined",
            window_reverse,
            ".flatten(-4, -3)",
            "",
            "The rows are not joined yet: (..., rows // M, M, columns, C) has one axis too many.",
        ),
        Slip(
            "windows from below",
            window_reverse,
            "x = x.transpose(-4, -3)",
            "x = x.flip(-5).transpose(-4, -3)",
            "The first window lands at the bottom: it belongs at the top left.",
        ),
        Slip(
            "no gradient",
            window_reverse,
            "x = windows.unflatten",
            "x = windows.detach().unflatten",
            "The values are right, but no gradient flows back: is there a detach() or .data?",
        ),
    ],
)
