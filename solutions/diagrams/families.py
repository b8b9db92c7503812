"""BERT beside the encoder, GPT beside the decoder: what is the same, and what differs."""

from itertools import pairwise
from typing import NamedTuple

from solutions.diagrams.diagram import Diagram
from solutions.diagrams.drawing import NARROW, WIDE, Box, Drawing

NAME = "BERT beside the encoder, GPT beside the decoder"
WORDS = (
    "Four stacks, each read from the bottom up. The encoder of the original Transformer reads the "
    "source (B, S) with all words visible and hands its memory (B, S, C) to the decoder. BERT is "
    "an encoder alone: it reads a text with gaps, adds learned positions and segments, has the "
    "norm after the sum, and scores the hidden words with its own token table, (B, T, V). The "
    "decoder reads the shifted target (B, T) under a causal mask, has a cross-attention to the "
    "memory, and scores the next word. GPT is a decoder without a cross-attention: it reads a "
    "text, adds learned positions, and scores the next token with its own token table, (B, T, V)."
)


class Stack(NamedTuple):
    """Hold the labels of one stack; one that begins with ! differs from the original."""

    name: str
    ids: str
    embed: str
    look: str
    cross: str  # empty where there is no place for one
    norm: str
    top: str
    out: str


ALL, CAUSAL = "self-attention\nall words", "self-attention\ncausal mask"
BERT = Stack(
    name="BERT",
    ids="text with gaps\n(B, T)",
    embed="!tokens + segments\n+ learned positions",
    look=ALL,
    cross="",
    norm="!post-norm",
    top="!norm, token table",
    out="the hidden words\n(B, T, V)",
)
ENCODER = Stack(
    name="encoder",
    ids="source\n(B, S)",
    embed="tokens · √*C*\n+ sinusoids",
    look=ALL,
    cross="",
    norm="pre-norm",
    top="norm",
    out="memory\n(B, S, C)",
)
DECODER = ENCODER._replace(
    name="decoder",
    ids="target, shifted\n(B, T)",
    look=CAUSAL,
    cross="cross-attention",
    top="norm, linear",
    out="the next word\n(B, T, V)",
)
GPT = DECODER._replace(
    name="GPT",
    ids="text\n(B, T)",
    embed="!tokens\n+ learned positions",
    cross="!no cross-attention",
    top="!norm, token table",
    out="the next token\n(B, T, V)",
)
WIDTH, TALL = 150, 358


def families() -> Diagram:
    """Draw the four stacks in a row, or in two rows of two."""
    wide, narrow = Drawing(WIDE, TALL), Drawing(NARROW, 2 * TALL + 24)
    places = (1, 169, 361, 529)
    boxes = {
        s: draw(wide, s, x, 0) for s, x in zip((BERT, ENCODER, DECODER, GPT), places, strict=True)
    }
    memory, cross = boxes[ENCODER][0], boxes[DECODER][1]
    bend = (memory.right[0] + cross.x) / 2
    wide.wire(memory.right, (bend, memory.cy), (bend, cross.cy), cross.left, colour="orange")
    boxes = {s: draw(narrow, s, 4 + 164 * n, 0) for n, s in enumerate((BERT, ENCODER))}
    boxes |= {s: draw(narrow, s, 4 + 164 * n, TALL + 24) for n, s in enumerate((GPT, DECODER))}
    memory, cross = boxes[ENCODER][0], boxes[DECODER][1]
    bend = NARROW - 7
    narrow.wire(memory.right, (bend, memory.cy), (bend, cross.cy), cross.right, colour="orange")
    return Diagram(NAME, WORDS, wide, narrow)


def draw(drawing: Drawing, stack: Stack, x: float, y: float) -> tuple[Box, Box | None]:
    """Draw one stack with its upper left corner at x, y -> its topmost box, its cross-attention."""
    middle, inner = x + WIDTH / 2, WIDTH - 16
    drawing.text(middle, y + 10, stack.name, "strong")
    drawing.text(middle, y + 40, stack.out, "small")
    top = labelled(drawing, x + 8, y + 72, inner, 26, stack.top)
    drawing.frame(x, y + 112, WIDTH, 154)
    changed = " strong" * stack.norm.startswith("!")
    drawing.text(x + 10, y + 125, "× *L*", "small", "start")
    drawing.text(x + WIDTH - 8, y + 125, stack.norm.strip("!"), "small" + changed, "end")
    think = labelled(drawing, x + 8, y + 138, inner, 26, "feed-forward")
    look = labelled(drawing, x + 8, y + 218, inner, 40, stack.look)
    cross = None
    if stack.cross:
        cross = labelled(drawing, x + 8, y + 178, inner, 26, stack.cross)
    embed = labelled(drawing, x + 8, y + 280, inner, 38, stack.embed)
    way = [box for box in (embed, look, cross, think, top) if box is not None]
    for low, high in pairwise(way):
        drawing.wire(low.top, high.bottom)
    if stack is not ENCODER:
        drawing.wire(top.top, (middle, y + 57))
    drawing.text(middle, y + 339, stack.ids, "small")
    return top, cross


def labelled(drawing: Drawing, x: float, y: float, width: float, height: float, label: str) -> Box:
    colour = "orange" if label.startswith("!") or label.startswith("cross") else "plain"
    colour = "empty" if label.startswith("!no ") else colour
    return drawing.box(x, y, width, height, label.removeprefix("!"), colour)
