"""interpolate_positions: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.draw import args
from autograder.checks.question import ARGUMENTS, GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from solutions.vit import interpolate_positions


def _table(rows, columns, new, c=5, dtype=torch.float32):
    return lambda d: args(d.normal(1 + rows * columns, c, dtype=dtype), (rows, columns), new)


GRID = "grid = position[1:].unflatten(0, old_grid).movedim(-1, 0)  # (C, rows, columns)\n"


RESIZED = (
    GRID + '    new = F.interpolate(grid[None], new_grid, mode="bicubic", align_corners=False)[0]\n'
    "    return torch.cat([position[:1], new.flatten(1).T])"
)


QUESTION = Exercise(
    interpolate_positions,
    parts={"values": 8, GRADIENT: 4, ARGUMENTS: 2},
    cases=[
        Case("values", "more rows and columns", _table(2, 3, (4, 7))),
        Case("values", "fewer rows and columns", _table(6, 5, (3, 2))),
        Case("values", "more rows, fewer columns", _table(3, 4, (5, 2), c=6)),
        Case("values", "a square grid", _table(3, 3, (6, 6), c=4)),
        Case("values", "the same grid", _table(3, 4, (3, 4))),
        Case("values", "as many patches in another grid", _table(2, 6, (3, 4))),
        Case("values", "a ratio that does not come out even", _table(1, 11, (2, 15))),
        Case("values", "one patch becomes many", _table(1, 1, (2, 3))),
        Case("values", "one column", _table(2, 4, (3, 5), c=1)),
        Case("values", "float64", _table(2, 3, (3, 5), dtype=torch.float64)),
        Case(
            "values",
            "a transposed table",
            lambda d: args(d.normal(5, 7).mT, (2, 3), (4, 4)),
        ),
    ],
    slips=[
        Slip(
            "bilinear",
            interpolate_positions,
            'new_grid, mode="bicubic"',
            'new_grid, mode="bilinear"',
            "The mode is bilinear: bicubic is asked for.",
        ),
        Slip(
            "nearest neighbour",
            interpolate_positions,
            'new_grid, mode="bicubic", align_corners=False',
            'new_grid, mode="nearest"',
            "The nearest old position is copied: interpolate with mode='bicubic'.",
        ),
        Slip(
            "corners aligned",
            interpolate_positions,
            "align_corners=False)[0]",
            "align_corners=True)[0]",
            "align_corners=True pins the corner patches' centres to the corners: False is asked "
            "for, the pictures' edges agree.",
        ),
        Slip(
            "smoothed before shrinking",
            interpolate_positions,
            "align_corners=False)",
            "align_corners=False, antialias=True)",
            "antialias is switched on: its other options are to be left alone.",
        ),
        Slip(
            "class token dropped",
            interpolate_positions,
            "torch.cat([position[:1], new.flatten(1).T])",
            "new.flatten(1).T",
            "The class token's row is lost: keep it in front.",
        ),
        Slip(
            "class token last",
            interpolate_positions,
            "[position[:1], new.flatten(1).T]",
            "[new.flatten(1).T, position[:1]]",
            "The class token's row has moved to the end: it stays row 0.",
        ),
        Slip(
            "class token taken from the grid",
            interpolate_positions,
            "[position[:1], new.flatten(1).T]",
            "[position[1:].mean(0, keepdim=True), new.flatten(1).T]",
            "The class token's row is made from the patches' rows: keep the old one.",
        ),
        Slip(
            "last row taken for the class token",
            interpolate_positions,
            "position[1:].unflatten",
            "position[:-1].unflatten",
            "The grid starts with the class token's row and lacks the last patch: the patches are "
            "position[1:].",
        ),
        Slip(
            "along the list, not over the grid",
            interpolate_positions,
            RESIZED,
            "grid = position[1:].T  # (C, N)\n    new = F.interpolate(grid[None], "
            'new_grid[0] * new_grid[1], mode="linear")[0]\n'
            "    return torch.cat([position[:1], new.flatten(1).T])",
            "The rows are stretched like a list: the end of one row of patches runs into the start "
            "of the next. Make a grid of them first.",
        ),
        Slip(
            "rows and columns of the old grid exchanged",
            interpolate_positions,
            "unflatten(0, old_grid)",
            "unflatten(0, old_grid[::-1])",
            "The old grid is read as (columns, rows): a square one hides it.",
        ),
        Slip(
            "rows and columns of the new grid exchanged",
            interpolate_positions,
            "F.interpolate(grid[None], new_grid,",
            "F.interpolate(grid[None], new_grid[::-1],",
            "The new grid is read as (columns, rows): a square one hides it.",
        ),
        Slip(
            "columns cut by a reshape",
            interpolate_positions,
            ".unflatten(0, old_grid).movedim(-1, 0)",
            ".reshape(-1, *old_grid)",
            "The table is reshaped to (C, rows, columns), which mixes patches and columns: make "
            "(rows, columns, C), then move C to the front.",
        ),
        Slip(
            "new grid read down the columns",
            interpolate_positions,
            "new.flatten(1).T",
            "new.mT.flatten(1).T",
            "The new patches come down the columns: they should be in reading order again.",
        ),
        Slip(
            "no gradient",
            interpolate_positions,
            "position[1:].unflatten",
            "position.detach()[1:].unflatten",
            "The values are right, but the patches' rows are detached: they could not be learned.",
        ),
    ],
    equivalent={
        "interpolate_positions: F.interpolate(grid[None], new_grid, mode='bicubic', "
        "align_corners=False) -> F.interpolate(grid[None], new_grid, mode='bicubic')": "False is "
        "the default",
        "interpolate_positions: F.interpolate(grid[None], new_grid, mode='bicubic', "
        "align_corners=False)[0] -> F.interpolate(grid[None], new_grid, mode='bicubic', "
        "align_corners=False)[-1]": "of one picture the first is the last",
    },
)
