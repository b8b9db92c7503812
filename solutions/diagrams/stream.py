"""The residual stream of lesson residual: every layer reads from it and adds to it."""

from solutions.diagrams.diagram import Diagram
from solutions.diagrams.drawing import NARROW, WIDE, Drawing

NAME = "The residual stream: each layer reads and adds"
WORDS = (
    "A thick line, the stream, leads straight from the input x = h 0 to the output h L. Each layer "
    "f 1, f 2 to f L reads the stream through a side road, and what it computes is added to the "
    "stream at a plus sign. Between the last two layers the line is dashed: there may be many."
)
LAYERS = ("1", "2", "L")


def stream() -> Diagram:
    """Draw three layers of a stack with skips: along the page, or up the page."""
    return Diagram(NAME, WORDS, draw_wide(), draw_narrow())


def draw_wide() -> Drawing:
    drawing = Drawing(WIDE, 128)
    road, start = 92, 46
    drawing.text(36, road, "*x*", "", "end")
    for n, index in enumerate(LAYERS):
        x = 60 + 204 * n
        layer = drawing.box(x + 44, 16, 76, 34, f"*f*_{{{index}}}", "violet")
        plus = drawing.node(x + 148, road)
        drawing.dot(x + 16, road)
        drawing.wire((x + 16, road), (x + 16, layer.cy), layer.left)
        drawing.wire(layer.right, (plus.cx, layer.cy), plus.top)
        dashed = " dashed" * (n == len(LAYERS) - 1)
        drawing.wire((start, road), (x + 16, road), colour="stream" + dashed, arrow=False)
        drawing.wire((x + 16, road), plus.left, colour="stream", arrow=False)
        before = "*h*_{L−1}" if index == "L" else f"*h*_{{{n}}}"
        drawing.text(x + 16, road + 18, before)
        start = plus.right[0]
    drawing.wire((start, road), (start + 24, road), colour="stream")
    drawing.text(start + 30, road, "*h*_{L}", "", "start")
    return drawing


def draw_narrow() -> Drawing:
    drawing = Drawing(NARROW, 376)
    road, start = 120, 352
    drawing.text(road, 364, "*x*")
    for n, index in enumerate(LAYERS):
        y = 340 - 108 * n  # the road is left here, and met again above
        layer = drawing.box(road + 48, y - 58, 76, 34, f"*f*_{{{index}}}", "violet")
        plus = drawing.node(road, y - 72)
        drawing.dot(road, y - 10)
        drawing.wire((road, y - 10), (layer.cx, y - 10), layer.bottom)
        drawing.wire(layer.top, (layer.cx, plus.cy), plus.right)
        dashed = " dashed" * (n == len(LAYERS) - 1)
        drawing.wire((road, start), (road, y - 10), colour="stream" + dashed, arrow=False)
        drawing.wire((road, y - 10), plus.bottom, colour="stream", arrow=False)
        before = "*h*_{L−1}" if index == "L" else f"*h*_{{{n}}}"
        drawing.text(road - 10, y - 10, before, "", "end")
        start = plus.y
    drawing.wire((road, start), (road, 22), colour="stream")
    drawing.text(road, 10, "*h*_{L}")
    return drawing
