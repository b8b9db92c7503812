"""One step of a recurrent network: the plain cell, the GRU and the LSTM of lesson recurrence."""

from solutions.diagrams.diagram import Diagram
from solutions.diagrams.drawing import NARROW, WIDE, Drawing

SIZE = (224, 258)
NAME = "One step of an RNN, a GRU and an LSTM"
WORDS = (
    "Three cells, each with the old state h t-1 coming in on the left, the input x t from below "
    "and the new state leaving on the right. RNN: both are multiplied by a matrix, added, and "
    "squashed by tanh. GRU: a straight line leads from the old state to the new one; the gate z "
    "multiplies what is kept, and 1 - z multiplies the new candidate n, a tanh that sees the old "
    "state through the gate r. LSTM: a second line carries the cell c, multiplied by the gate f "
    "and added to i times n; the state h is the tanh of the cell, multiplied by the gate o."
)


def cells() -> Diagram:
    """Draw the three cells, side by side or below each other."""
    wide, narrow = Drawing(WIDE, SIZE[1]), Drawing(NARROW, 3 * SIZE[1] + 40)
    for n, cell in enumerate((rnn, gru, lstm)):
        cell(wide, n * (WIDE - SIZE[0]) / 2, 0)
        cell(narrow, (NARROW - SIZE[0]) / 2, n * (SIZE[1] + 20))
    return Diagram(NAME, WORDS, wide, narrow)


def around(drawing: Drawing, x: float, y: float, name: str) -> None:
    """Draw what all cells share: the name and the field."""
    drawing.text(x + SIZE[0] / 2, y + 10, name, "strong")
    drawing.frame(x + 34, y + 24, 158, 196)


def ends(drawing: Drawing, x: float, ins: dict[float, str], outs: dict[float, str]) -> None:
    """Write the names of what comes in on the left and goes out on the right."""
    for y, name in ins.items():
        drawing.text(x + 26, y, name, "", "end")
    for y, name in outs.items():
        drawing.text(x + 208, y, name, "", "start")


def rnn(drawing: Drawing, x: float, y: float) -> None:
    around(drawing, x, y, "RNN")
    line = y + 84
    plus = drawing.node(x + 112, line)
    tanh = drawing.box(x + 138, line - 14, 42, 28, "tanh", "violet")
    w_h = drawing.box(x + 48, line - 14, 38, 28, "*W*_{h}", "blue")
    w_x = drawing.box(x + 93, y + 140, 38, 28, "*W*_{x}", "green")
    drawing.wire((x + 30, line), w_h.left)
    drawing.wire(w_h.right, plus.left)
    drawing.wire((x + 112, y + 236), w_x.bottom)
    drawing.wire(w_x.top, plus.bottom)
    drawing.wire(plus.right, tanh.left)
    drawing.wire(tanh.right, (x + 204, line))
    ends(drawing, x, {line: "*h*_{t−1}"}, {line: "*h*_{t}"})
    drawing.text(x + 112, y + 246, "*x*_{t}")


def gru(drawing: Drawing, x: float, y: float) -> None:
    around(drawing, x, y, "GRU")
    line, mid, gate, bus = y + 52, y + 96, y + 132, y + 200
    keep = drawing.node(x + 74, line, "×", "orange")
    total = drawing.node(x + 164, line)
    renew = drawing.node(x + 164, mid, "×", "orange")
    z = drawing.box(x + 59, gate, 30, 38, "*z*\nσ", "orange")
    r = drawing.box(x + 98, gate, 30, 38, "*r*\nσ", "orange")
    n = drawing.box(x + 144, gate, 40, 38, "*n*\ntanh", "violet")
    drawing.wire((x + 30, line), keep.left, colour="stream", arrow=False)
    drawing.wire(keep.right, total.left, colour="stream", arrow=False)
    drawing.wire(total.right, (x + 204, line), colour="stream")
    drawing.wire(z.top, keep.bottom, colour="orange")
    drawing.dot(z.cx, mid, "orange")
    drawing.wire((z.cx, mid), renew.left, colour="orange")
    drawing.text(x + 118, mid - 12, "1 − *z*", "small")
    drawing.wire(n.top, renew.bottom, colour="violet")
    drawing.wire(renew.top, total.bottom, colour="violet")
    drawing.wire(r.right, n.left, colour="orange")
    drawing.dot(x + 46, line)
    drawing.wire((x + 46, line), (x + 46, bus), (n.cx, bus), n.bottom)
    for box in (z, r):
        drawing.dot(box.cx, bus)
        drawing.wire((box.cx, bus), box.bottom)
    drawing.wire((x + 138, y + 236), (x + 138, bus), arrow=False)
    drawing.dot(x + 138, bus)
    ends(drawing, x, {line: "*h*_{t−1}"}, {line: "*h*_{t}"})
    drawing.text(x + 138, y + 246, "*x*_{t}")


def lstm(drawing: Drawing, x: float, y: float) -> None:
    around(drawing, x, y, "LSTM")
    line, mid, gate, bus = y + 46, y + 92, y + 142, y + 204
    forget = drawing.node(x + 56, line, "×", "orange")
    total = drawing.node(x + 126, line)
    write = drawing.node(x + 126, mid, "×", "orange")
    f = drawing.box(x + 42, gate, 28, 38, "*f*\nσ", "orange")
    i = drawing.box(x + 75, gate, 28, 38, "*i*\nσ", "orange")
    n = drawing.box(x + 107, gate, 38, 38, "*n*\ntanh", "violet")
    o = drawing.box(x + 150, gate, 28, 38, "*o*\nσ", "orange")
    show = drawing.box(x + 145, line + 18, 38, 22, "tanh", "violet")
    gated = drawing.node(x + 164, y + 116, "×", "orange")
    drawing.wire((x + 30, line), forget.left, colour="stream", arrow=False)
    drawing.wire(forget.right, total.left, colour="stream", arrow=False)
    drawing.wire(total.right, (x + 204, line), colour="stream")
    drawing.dot(show.cx, line)
    drawing.wire((show.cx, line), show.top)
    drawing.wire(show.bottom, gated.top)
    drawing.wire(o.top, gated.bottom, colour="orange")
    drawing.wire(gated.right, (x + 204, y + 116))
    drawing.wire(f.top, forget.bottom, colour="orange")
    drawing.wire(i.top, (i.cx, mid), write.left, colour="orange")
    drawing.wire(n.top, write.bottom, colour="violet")
    drawing.wire(write.top, total.bottom, colour="violet")
    drawing.wire((x + 30, bus), (o.cx, bus), o.bottom)
    for box in (f, i, n):
        drawing.dot(box.cx, bus)
        drawing.wire((box.cx, bus), box.bottom)
    drawing.wire((x + 107, y + 236), (x + 107, bus), arrow=False)
    drawing.dot(x + 107, bus)
    ends(drawing, x, {line: "*c*_{t−1}", bus: "*h*_{t−1}"}, {line: "*c*_{t}", y + 116: "*h*_{t}"})
    drawing.text(x + 107, y + 246, "*x*_{t}")
