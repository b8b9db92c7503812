"""The residual stream of a block, with the norm after the sum and with the norm in the branch."""

from solutions.diagrams.branch import HEIGHT, post_norm, pre_norm
from solutions.diagrams.diagram import Diagram
from solutions.diagrams.drawing import NARROW, WIDE, Drawing

NAME = "One block, post-norm and pre-norm"
WORDS = (
    "Two columns, read from the bottom up; in both a thick line, the residual stream (B, T, C), "
    "passes a branch with the attention and then a branch with the feed-forward layer, and each "
    "branch is added to the stream. On the left, post-norm: after each sum the stream itself goes "
    "through a norm, x becomes norm(x + f(x)). On the right, pre-norm: the norm stands at the "
    "start of each branch, x becomes x + f(norm(x)), and nothing interrupts the stream; one last "
    "norm follows after the last block."
)
LAYERS = (("feed-forward", "violet"), ("attention", "blue"))


TOPS = (122, 122 + HEIGHT + 28)  # of the two branches


def two_norms() -> Diagram:
    """Draw the block of lesson layer_norm twice."""
    return Diagram(NAME, WORDS, draw(WIDE, 176, 52), draw(NARROW, 90, 30))


def draw(page: float, width: float, gap: float) -> Drawing:
    """Draw the two columns; width: of a layer; gap: from the stream to it."""
    drawing = Drawing(page, 372)
    whole = 32 + gap + width + 10
    for n, (name, formula) in enumerate(
        (("post-norm", "norm(*x* + *f*(*x*))"), ("pre-norm", "*x* + *f*(norm(*x*))"))
    ):
        left = n * page / 2 + (page / 2 - whole) / 2
        stream, x = left + 32, left + 32 + gap
        drawing.text(left + whole / 2, 12, name, "strong")
        drawing.text(left + whole / 2, 31, formula)
        drawing.frame(left, 102, whole, 218)
        places = [(stream, x, top, width) for top in TOPS]
        arrive = post_norm_column(drawing, places) if n == 0 else pre_norm_column(drawing, places)
        if n == 1:
            last = drawing.box(stream - 24, 62, 48, 22, "norm", "empty")
            drawing.wire((stream, arrive), (stream, 84), colour="stream")
            drawing.wire((stream, 62), (stream, 46), colour="stream")
            drawing.text(last.right[0] + 6, last.cy, "once, at the end", "small", "start")
        else:
            drawing.wire((stream, arrive), (stream, 46), colour="stream")
        drawing.text(stream + 10, 336, "(B, T, C)", "shape", "start")
        drawing.text(stream, 360, "*x*")
    return drawing


def post_norm_column(drawing: Drawing, places) -> float:
    """Draw the branches and the stream through its norms; return where it leaves the last one."""
    start = 346
    for place, layer in reversed(list(zip(places, LAYERS, strict=True))):
        norm, total = post_norm(drawing, *place, *layer)
        stream = place[0]
        drawing.wire((stream, start), (stream, total + 9), colour="stream", arrow=False)
        drawing.wire((stream, total - 9), norm.bottom, colour="stream")
        start = norm.y
    return start


def pre_norm_column(drawing: Drawing, places) -> float:
    """Draw the branches and the stream from sum to sum; return where it leaves the last one."""
    start = 346
    for place, layer in reversed(list(zip(places, LAYERS, strict=True))):
        _, total = pre_norm(drawing, *place, *layer)
        drawing.wire((place[0], start), (place[0], total + 9), colour="stream", arrow=False)
        start = total - 9
    return start
