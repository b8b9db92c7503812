"""Windows, windows that shift, and merging: the three moves of lesson multi_scale."""

import torch

from solutions.diagrams.diagram import Diagram
from solutions.diagrams.drawing import NARROW, WIDE, Drawing
from solutions.multi_scale import window_partition, window_reverse

SIDE, SIZE, SHIFT = 8, 4, 2
COLOURS = ("blue", "orange", "green", "violet")
NAME = "Windows, shifted windows, and merging"
WORDS = (
    "Three grids of tokens. First 8 by 8 tokens in four windows of 4 by 4, a colour each: a token "
    "looks at the tokens of its own colour. Then the same grid with the windows moved by two rows "
    "and columns: the old borders now run through the middle of windows, and what leaves at one "
    "edge comes in at the other, where a mask keeps strangers apart. Last the merging: every "
    "square of 2 by 2 tokens of width C becomes one token of width 2 C, so 4 by 4 tokens are left. "
    "Below, one such square: four tokens side by side make 4 C numbers, a norm and a matrix (4 C, "
    "2 C) make one token of them."
)


def window_of(shift: int) -> list[list[str]]:
    """Return the colour of the window in which each token looks around."""
    grid = torch.arange(SIDE * SIDE).view(SIDE, SIDE, 1)
    windows = window_partition(grid.roll((-shift, -shift), dims=(0, 1)), SIZE)  # (N, M * M, 1)
    number = torch.arange(len(windows)).view(-1, 1, 1).expand_as(windows)
    back = window_reverse(number, (SIDE, SIDE)).roll((shift, shift), dims=(0, 1))[..., 0]
    return [[COLOURS[n] for n in row] for row in back.tolist()]


def windows() -> Diagram:
    """Draw the three moves in a row, and one merging below."""
    return Diagram(NAME, WORDS, draw(WIDE, 22), draw(NARROW, 12.5))


def draw(page: float, cell: float) -> Drawing:
    """Draw three grids of the same size; cell: the side of a token of the first two."""
    extent = cell * SIDE
    gap = (page - 3 * extent - 4) / 2
    top, below = 44, 44 + extent + 42
    drawing = Drawing(page, below + 78)
    places = [2 + n * (extent + gap) for n in range(3)]
    for x, shift in zip(places, (0, SHIFT), strict=False):
        drawing.cells(x, top, [[0.5] * SIDE] * SIDE, (cell, cell), window_of(shift))
    drawing.cells(places[2], top, [[0.5] * 4] * 4, (2 * cell, 2 * cell), "grey")
    titles = (
        ("windows", "8 × 8, width C"),
        ("shifted", "8 × 8, width C"),
        ("merged", "4 × 4, width 2C"),
    )
    for x, (name, shape) in zip(places, titles, strict=True):
        drawing.text(x + extent / 2, 10, name, "strong")
        drawing.text(x + extent / 2, 28, shape, "shape")
    merging(drawing, (page - 330) / 2, below)
    return drawing


def merging(drawing: Drawing, x: float, y: float) -> None:
    """Draw how one square of four tokens becomes a single one."""
    square = drawing.cells(x, y + 4, [[0.5] * 2] * 2, (22, 22), "grey")
    row = drawing.cells(x + 78, y + 15, [[0.5] * 4], (22, 22), "grey")
    box = drawing.box(x + 198, y + 12, 66, 28, "norm, *W*", "green")
    token = drawing.cells(x + 292, y + 15, [[0.5]], (38, 22), "grey")
    for a, b in ((square, row), (row, box), (box, token)):
        drawing.wire(a.right, b.left)
    for box_, shape in ((square, "2 × 2, C"), (row, "4C"), (token, "2C")):
        drawing.text(box_.cx, y + 64, shape, "shape")
