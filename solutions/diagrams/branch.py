"""The motif of every block: a branch that reads from the residual stream and adds to it."""

from solutions.diagrams.drawing import Box, Drawing

NORM, LAYER, GAP = 22, 38, 12  # heights: a norm, a layer, the space between the two
HEIGHT = NORM + GAP + LAYER


def pre_norm(
    drawing: Drawing, stream: float, x: float, y: float, width: float, layer: str, colour: str
) -> tuple[Box, float]:
    """Draw x + f(norm(x)): the norm stands in the branch, the stream runs free.

    stream: where the stream runs; x, y, width: of the branch, which goes upwards
    -> the layer's box and the height of its sum.
    """
    side = "left" if x > stream else "right"
    norm = drawing.box(x, y + LAYER + GAP, width, NORM, "norm")
    box = drawing.box(x, y, width, LAYER, layer, colour)
    drawing.dot(stream, norm.cy)
    drawing.wire((stream, norm.cy), getattr(norm, side))
    drawing.wire(norm.top, box.bottom)
    plus = drawing.node(stream, box.cy)
    drawing.wire(getattr(box, side), plus.right if x > stream else plus.left)
    return box, box.cy


def post_norm(
    drawing: Drawing, stream: float, x: float, y: float, width: float, layer: str, colour: str
) -> tuple[Box, float]:
    """Draw norm(x + f(x)): the norm stands on the stream itself, above the sum.

    -> the norm's box, which the stream has to go through, and the height of the sum.
    """
    box = drawing.box(x, y + NORM + GAP - 2, width, LAYER, layer, colour)
    low = y + HEIGHT + 13
    drawing.dot(stream, low)
    drawing.wire((stream, low), (box.cx, low), box.bottom)
    plus = drawing.node(stream, box.cy)
    drawing.wire(box.left, plus.right)
    norm = drawing.box(stream - 24, y - 2, 48, NORM, "norm", "orange")
    return norm, box.cy
