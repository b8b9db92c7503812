"""Split and merge of heads: which number of which token goes where, by the reference itself."""

import torch
from torch import Tensor

from solutions.diagrams.diagram import Diagram
from solutions.diagrams.drawing import NARROW, WIDE, Box, Drawing
from solutions.multi_head import merge_heads, split_heads

T, H, D = 3, 4, 2
CELL = (21, 20)
COLOURS = ("blue", "orange", "green", "violet")
NAME = "Heads: split, attend, merge, project"
WORDS = (
    "A table of 3 tokens with 8 columns, numbered 1 to 24, is cut into 4 heads of 2 columns, one "
    "colour each: (T, C) becomes (H, T, D). Every head has weights (T, S) of its own and averages "
    "its own columns with them. The results are set side by side again, (T, C), in the old order "
    "of the columns, and the matrix W O mixes the columns of all heads."
)


def heads() -> Diagram:
    """Draw the way of 3 x 8 numbers through 4 heads and back."""
    x = torch.arange(1, T * H * D + 1).view(T, H * D)
    split = split_heads(x, H)
    assert torch.equal(merge_heads(split), x)
    weights = torch.randn(H, T, T, generator=torch.Generator().manual_seed(5)).mul(1.6).softmax(-1)
    return Diagram(NAME, WORDS, draw_wide(x, split, weights), draw_narrow(x, split, weights))


def coloured(drawing: Drawing, x: float, y: float, rows: Tensor, numbered: bool = False) -> Box:
    """Draw a table of the entries 1 to 24, each in the colour of its head, pale throughout."""
    colour = [[COLOURS[(n - 1) % (H * D) // D] for n in row] for row in rows.tolist()]
    shares = torch.full(rows.shape, 0.5).tolist()
    labels = [[str(n) if numbered else "" for n in row] for row in rows.tolist()]
    return drawing.cells(x, y, shares, CELL, colour, labels=labels)


def draw_wide(x: Tensor, split: Tensor, weights: Tensor) -> Drawing:
    drawing = Drawing(WIDE, 348)
    start = coloured(drawing, 1, 144, x, True)
    drawing.text(start.x, start.y - 13, "X*W*", "strong", "start")
    drawing.text(start.right[0], start.y - 13, "(T, C)", "shape", "end")
    merged = coloured(drawing, 511, 96, x)
    drawing.text(merged.x, merged.y - 13, "merged", "strong", "start")
    drawing.text(merged.right[0], merged.y - 13, "(T, C)", "shape", "end")
    for h, colour in enumerate(COLOURS):
        y = 26 + 84 * h
        part = coloured(drawing, 228, y, split[h], True)
        look = drawing.cells(314, y, weights[h].tolist(), (20, 20), colour, 1.0)
        out = coloured(drawing, 418, y, split[h])
        bend = 196 + (6 * h if h < 2 else 6 * (3 - h))
        at = start.cy - 12 + 8 * h
        drawing.wire((start.right[0], at), (bend, at), (bend, y + 30), part.left, colour=colour)
        drawing.wire(part.right, look.left, colour=colour)
        drawing.wire(look.right, out.left, colour=colour)
        at = merged.cy - 12 + 8 * h
        bend = (488, 480, 488, 496)[h]  # so that no wire crosses another
        drawing.wire(out.right, (bend, y + 30), (bend, at), (merged.x, at), colour=colour)
    drawing.text(249, 12, "(H, T, D)", "shape")
    drawing.text(344, 12, "weights (H, T, S)", "shape")
    drawing.text(439, 12, "(H, T, D)", "shape")
    out = drawing.cells(511, 236, [[0.6] * (H * D)] * T, CELL, "grey", 1.0)
    drawing.wire(merged.bottom, (merged.cx, out.y - 24))
    drawing.text(merged.cx + 10, 186, "· *W*^{O}", "", "start")
    drawing.text(out.x, out.y - 13, "output", "strong", "start")
    drawing.text(out.right[0], out.y - 13, "(T, C)", "shape", "end")
    return drawing


def draw_narrow(x: Tensor, split: Tensor, weights: Tensor) -> Drawing:
    drawing = Drawing(NARROW, 620)
    start = coloured(drawing, 86, 26, x, True)
    drawing.text(start.x, start.y - 13, "X*W*", "strong", "start")
    drawing.text(start.right[0], start.y - 13, "(T, C)", "shape", "end")
    merged = coloured(drawing, 86, 438, x)
    for h, colour in enumerate(COLOURS):
        mid = 44 + 84 * h
        part = coloured(drawing, mid - 21, 142, split[h], True)
        look = drawing.cells(mid - 30, 246, weights[h].tolist(), (20, 20), colour, 1.0)
        out = coloured(drawing, mid - 21, 338, split[h])
        at = start.x + (2 * h + 1) * CELL[0]
        level = 108 if h in (1, 2) else 102
        drawing.wire((at, start.bottom[1]), (at, level), (mid, level), part.top, colour=colour)
        drawing.wire(part.bottom, look.top, colour=colour)
        drawing.wire(look.bottom, out.top, colour=colour)
        level = 412 if h in (1, 2) else 418
        drawing.wire(out.bottom, (mid, level), (at, level), (at, merged.y), colour=colour)
    drawing.text(170, 128, "(H, T, D)", "shape")
    drawing.text(170, 224, "weights\n(H, T, S)", "shape")
    drawing.text(merged.right[0] + 8, merged.cy, "(T, C)", "shape", "start")
    drawing.text(merged.x - 8, merged.cy, "merged", "strong", "end")
    out = drawing.cells(86, 556, [[0.6] * (H * D)] * T, CELL, "grey", 1.0)
    drawing.wire(merged.bottom, out.top)
    drawing.text(merged.cx + 10, 526, "· *W*^{O}", "", "start")
    drawing.text(out.x - 8, out.cy, "output", "strong", "end")
    drawing.text(out.right[0] + 8, out.cy, "(T, C)", "shape", "start")
    return drawing
