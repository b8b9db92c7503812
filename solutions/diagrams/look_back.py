"""Two recurrent networks and a look back: the translator of lesson alignment, one step of it."""

from itertools import pairwise

from solutions.data.tiny_french import JANE
from solutions.diagrams.diagram import Diagram
from solutions.diagrams.drawing import NARROW, WIDE, Drawing

NAME = "A decoder that looks back at all states of the encoder"
WORDS = (
    "At the bottom the encoder reads the French words in both directions and leaves a state h for "
    "each of them. At the top the decoder goes from state to state and writes the English words. "
    "Before it writes word {i}, {word}, the state before it asks: it is scored against every h, a "
    "softmax makes weights a of the scores, and the average of the states with these weights is "
    "the context c. The cell reads the context and the word written last, and becomes the next "
    "state, from which the next word is scored."
)
SHOWN = 3  # words of the translation; the last of them is written in this picture


def look_back(pair=JANE) -> Diagram:
    """Draw the step in which the decoder writes the third word of a translation."""
    said = WORDS.format(i=SHOWN, word=pair.english[SHOWN - 1])
    return Diagram(NAME, said, draw(pair, WIDE), draw(pair, NARROW))


def draw(pair, page: float) -> Drawing:
    drawing = Drawing(page, 372)
    n, wide = len(pair.french), page == WIDE
    first, width = (92, 58) if wide else (62, 32)  # the middle of column 1, the width of a state
    last = page - (46 if wide else 27)
    columns = [first + j * (last - first) / (n - 1) for j in range(n)]
    bar = drawing.box(
        2, 236, page - 4, 28, "score each *h* against *s*_{2}, then softmax", "orange"
    )
    states = []
    for j, (mid, word) in enumerate(zip(columns, pair.french, strict=True)):
        state = drawing.box(mid - width / 2, 296, width, 30, f"*h*_{{{j + 1}}}", "green")
        drawing.wire(state.top, (mid, bar.y + bar.height), colour="green")
        drawing.wire((mid, 350), state.bottom)
        drawing.text(mid, 361, word, "small" if wide else "tiny")
        states.append(state)
    for a, b in pairwise(states):
        drawing.wire((a.right[0], a.cy - 6), (b.x, b.cy - 6))
        drawing.wire((b.x, b.cy + 6), (a.right[0], a.cy + 6))

    s_2 = drawing.box(4, 74, 48, 32, "*s*_{2}", "blue")
    x = columns[3] + (0 if wide else 10)
    s_3 = drawing.box(x - 24, 74, 48, 32, "*s*_{3}", "blue")
    c = drawing.node(x, 146, "*c*_{3}", "orange", 14)
    for j, mid in enumerate(columns):
        a = drawing.box(mid - 15, 192, 30, 24, f"*a*_{{{j + 1}}}", "orange")
        drawing.wire((mid, bar.y), a.bottom, colour="orange")
        drawing.wire(a.top, (mid, 174), (x, 174), c.bottom, colour="orange")
    drawing.wire((s_2.cx, 106), (s_2.cx, bar.y), colour="blue")
    drawing.text(s_2.cx + 8, 122, "asks", "small", "start")
    drawing.wire(s_2.right, s_3.left, colour="stream")
    drawing.wire(c.top, s_3.bottom, colour="orange")
    drawing.text(c.x - 7, c.cy, "Σ *a*_{j} *h*_{j} =", "", "end")
    before = drawing.box(2, 8, 60, 28, pair.english[SHOWN - 2])
    drawing.box(x - 4, 8, 60, 28, pair.english[SHOWN - 1])
    drawing.wire((s_2.cx, 74), (s_2.cx, 36))
    drawing.wire(before.right, (x - 14, before.cy), (x - 14, 74))
    drawing.wire((x + 14, 74), (x + 14, 36))
    side = x + 40
    drawing.wire(c.right, (side, c.cy), (side, 36), colour="orange")
    return drawing
