"""The original Transformer with the shapes on its wires, as solutions/encoder_decoder.py has it."""

from solutions.diagrams.branch import HEIGHT, LAYER, pre_norm
from solutions.diagrams.diagram import Diagram
from solutions.diagrams.drawing import NARROW, WIDE, Box, Drawing

NAME = "The encoder-decoder Transformer, with the shapes on its wires"
WORDS = (
    "Two stacks, both read from the bottom up. On the left the encoder: source ids (B, S) are "
    "embedded with their positions into (B, S, C) and go through L blocks; each block adds to the "
    "residual stream first a self-attention among all source words, then a feed-forward layer, "
    "each behind a norm. A last norm gives the memory (B, S, C). On the right the decoder: the "
    "target ids, shifted right (B, T), are embedded into (B, T, C) and go through L blocks of "
    "three branches: self-attention under the causal mask, cross-attention that asks from the "
    "target and looks at the memory, and a feed-forward layer. A last norm and a linear layer "
    "score the next word at every place: (B, T, V)."
)


ENCODER = (("feed-forward\nC → 4C → C", "violet"), ("self-attention\nall words", "blue"))
DECODER = (
    ("feed-forward\nC → 4C → C", "violet"),
    ("cross-attention\nto the memory", "orange"),
    ("self-attention\ncausal mask", "blue"),
)
STEP = HEIGHT + 20  # from a branch to the one below it
FLOOR = 414  # where the blocks end; inputs stand below, outputs above


def transformer() -> Diagram:
    """Draw the encoder, the decoder and the memory between them."""
    return Diagram(NAME, WORDS, draw(WIDE, 196, 76, 30), draw(NARROW, 108, 20, 20))


def draw(page: float, width: float, edge: float, gap: float) -> Drawing:
    """Draw both stacks; width: of a layer; edge, gap: from the page and a layer to a stream."""
    drawing = Drawing(page, 544)
    left, right = edge, page - edge  # the streams
    read_x, write_x = left + gap, right - gap - width  # the layers
    _, top = stack(drawing, left, read_x, width, "encoder", ENCODER, ("source ids", "S"))
    layers, high = stack(
        drawing, right, write_x, width, "decoder", DECODER, ("target, shifted", "T")
    )
    last = drawing.box(left - 16, top - 22, 76, 22, "last norm")
    middle = (read_x + width + write_x) / 2
    cross = layers[1]
    memory = last.y - 20
    drawing.wire(
        (left, last.y), (left, memory), (middle, memory), (middle, cross.cy), cross.left,
        colour="orange",
    )  # fmt: skip
    drawing.text(left + 8, memory - 12, "memory (B, S, C)", "shape", "start")
    last = drawing.box(right - 60, high - 22, 76, 22, "last norm")
    out = drawing.box(right - 60, last.y - 34, 76, 22, "linear", "green")
    drawing.wire((right, last.y), (right, out.y + 22))
    drawing.wire((right, out.y), (right, out.y - 20))
    drawing.text(right - 8, out.y - 12, "(B, T, V)", "shape", "end")
    return drawing


def stack(drawing, stream, x, width, name, branches, source) -> tuple[list[Box], float]:
    """Draw one stack from its ids to the end of its blocks.

    -> its layers from the top, and the height at which the stream arrives above the blocks.
    """
    left = x > stream
    side, sign = ("start", 1) if left else ("end", -1)
    ids, axis = source
    tops = [FLOOR - 14 - HEIGHT - STEP * i for i in range(len(branches))][::-1]
    near, far = (stream - 16, x + width + 8) if left else (x - 8, stream + 16)
    frame = drawing.frame(near, tops[0] - 34, far - near, FLOOR - tops[0] + 34)
    # the names stand on the side without the stream
    drawing.text(
        far - 8 if left else near + 8,
        frame.y + 15,
        f"{name} × *L*",
        "strong",
        "end" if left else "start",
    )
    layers = [
        pre_norm(drawing, stream, x, top, width, *branch)[0]
        for top, branch in zip(tops, branches, strict=True)
    ]
    embed = drawing.box(near, FLOOR + 36, far - near, 38, "embedding · √*C*\n+ positions", "green")
    sums = [top + LAYER / 2 for top in tops]
    starts = [embed.y, *(y - 9 for y in sums[:0:-1])]
    for start, end in zip(starts, sums[::-1], strict=True):
        drawing.wire((stream, start), (stream, end + 9), colour="stream", arrow=False)
    drawing.wire((stream, embed.y + 72), (stream, embed.y + 38))
    drawing.text(stream + 8 * sign, FLOOR + 19, f"(B, {axis}, C)", "shape", side)
    drawing.text(stream + 8 * sign, embed.y + 54, f"(B, {axis})", "shape", side)
    drawing.text(stream - 8 * sign, embed.y + 83, ids, "", side)
    drawing.wire((stream, sums[0] - 9), (stream, frame.y - 14), colour="stream")
    return layers, frame.y - 14
