"""From X to queries, keys and values, to scores, to weights, to the output: with real numbers."""

import torch
from torch import Tensor

from solutions.diagrams.diagram import Diagram
from solutions.diagrams.drawing import NARROW, WIDE, Box, Drawing, written
from solutions.queries_keys_values import project_qkv, scaled_dot_product_attention

SENTENCE = ("Jane", "visite", "l'Afrique", "en", "septembre")
# The columns of a word: person, action, place, time. As on the page of the lesson.
X = [[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 1]]
W_Q = [[0.0, 4, 0, 0], [4, 0, 0, 0], [0, 4, 0, 0], [0, 4, 0, 0]]
W_K = [[2.0, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0], [0, 0, 0, 2]]
W_V = [[1.0, 0], [0, 1], [0, 0], [0, 0]]
NAME = "Attention, from X to its output"
WORDS = (
    "Five words, *Jane visite l'Afrique en septembre*, are the rows of X (T, C). Three matrices "
    "make three tables of it: the queries Q (T, D), the keys K (S, D) and the values V (S, E). "
    "Q times K transposed, divided by the root of D, is the table of scores (T, S). A softmax over "
    "each row makes weights of them, {share} of l'Afrique's on visite. Weights times V is the "
    "output (T, E): a row for each word."
)


def attention(words=SENTENCE, x=X, w_q=W_Q, w_k=W_K, w_v=W_V) -> Diagram:
    """Draw how a sentence attends to itself; every number is computed here, by the reference."""
    tables = compute(*(torch.as_tensor(t) for t in (x, w_q, w_k, w_v)))
    share = f"{float(tables['A'].max(-1).values[len(words) // 2]):.2f}"
    said = WORDS.replace("*", "").format(share=share)
    return Diagram(NAME, said, draw_wide(words, tables), draw_narrow(words, tables))


def compute(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> dict[str, Tensor]:
    """Work out every table of the picture."""
    q, k, v = project_qkv(x, w_q, w_k, w_v)
    everything = torch.eye(len(x))  # attention to these values returns the weights themselves
    weights = scaled_dot_product_attention(q, k, everything)
    scores = q @ k.T / q.size(-1) ** 0.5
    return {"X": x, "Q": q, "K": k, "V": v, "S": scores, "A": weights, "Y": weights @ v}


def table(drawing: Drawing, at, rows: Tensor, label: str, shape: str, colour: str, cell) -> Box:
    """Draw a table under its name and shape."""
    decimals = ".2f" if (rows != rows.round()).any() else ".0f"
    x, y = at
    values, top = rows.tolist(), float(rows.abs().max())
    box = drawing.cells(x, y, values, cell, colour, top, written(values, decimals))
    drawing.text(x, y - 12, label, "strong", "start")
    drawing.text(x + box.width, y - 12, shape, "shape", "end")
    return box


def rows_named(drawing: Drawing, box: Box, words) -> None:
    for i, word in enumerate(words):
        at = box.y + (i + 0.5) * box.height / len(words)
        drawing.text(box.x - 8, at, word, "small", "end")


def draw_wide(words, t: dict[str, Tensor]) -> Drawing:
    drawing = Drawing(WIDE, 384)
    small = (21, 19)
    x = table(drawing, (74, 160), t["X"], "X", "(T, C)", "grey", small)
    rows_named(drawing, x, words)
    q = table(drawing, (232, 28), t["Q"], "Q", "(T, D)", "blue", small)
    k = table(drawing, (232, 160), t["K"], "K", "(S, D)", "orange", small)
    v = table(drawing, (232, 284), t["V"], "V", "(S, E)", "green", (28, 19))
    for box, name in ((q, "Q"), (k, "K"), (v, "V")):
        start = x.right[0] + (0 if box is k else 22)
        if box is k:
            drawing.wire((start, x.cy), (box.x, box.cy))
        else:
            drawing.wire((start, x.cy), (start, box.cy), (box.x, box.cy))
        drawing.text(205, box.cy - 11, f"*W*^{{{name}}}", "")
    drawing.dot(x.right[0] + 22, x.cy)
    s = table(drawing, (368, 94), t["S"], "QK^{T} / √D", "(T, S)", "grey", (24, 19))
    a = table(drawing, (544, 94), t["A"], "weights", "(T, S)", "violet", (27, 19))
    y = table(drawing, (565, 284), t["Y"], "output", "(T, E)", "green", (46, 19))
    drawing.wire((q.right[0], q.cy), (345, q.cy), (345, s.cy - 20), (s.x, s.cy - 20), colour="blue")
    drawing.wire(
        (k.right[0], k.cy), (345, k.cy), (345, s.cy + 20), (s.x, s.cy + 20), colour="orange"
    )
    drawing.wire((s.right[0], s.cy), (a.x, s.cy))
    drawing.text(515, s.cy - 11, "softmax", "small")
    drawing.wire((v.right[0], v.cy), (y.x, v.cy), colour="green")
    drawing.wire((a.cx, a.bottom[1]), (a.cx, y.y - 22), colour="violet")
    return drawing


def draw_narrow(words, t: dict[str, Tensor]) -> Drawing:
    drawing = Drawing(NARROW, 616)
    cell = (21, 19)
    x = table(drawing, (128, 24), t["X"], "X", "(T, C)", "grey", cell)
    rows_named(drawing, x, words)
    q = table(drawing, (8, 186), t["Q"], "Q", "(T, D)", "blue", cell)
    k = table(drawing, (128, 186), t["K"], "K", "(S, D)", "orange", cell)
    v = table(drawing, (248, 186), t["V"], "V", "(S, E)", "green", (42, 19))
    for box, name in ((q, "Q"), (k, "K"), (v, "V")):
        drawing.wire(x.bottom, (x.cx, 142), (box.cx, 142), (box.cx, box.y - 22))
        drawing.text(box.cx + 20, 154, f"*W*^{{{name}}}")
    drawing.dot(x.cx, 142)
    s = table(drawing, (8, 352), t["S"], "QK^{T} / √D", "(T, S)", "grey", (25, 19))
    a = table(drawing, (192, 352), t["A"], "weights", "(T, S)", "violet", (27, 19))
    drawing.wire(q.bottom, (q.cx, s.y - 22), colour="blue")
    drawing.wire(k.bottom, (k.cx, 306), (s.x + 105, 306), (s.x + 105, s.y - 22), colour="orange")
    drawing.wire(s.right, a.left)
    drawing.text((s.right[0] + a.x) / 2, s.cy - 11, "softmax", "small")
    y = table(drawing, (192, 506), t["Y"], "output", "(T, E)", "green", (46, 19))
    drawing.wire((y.cx, a.bottom[1]), (y.cx, y.y - 22), colour="violet")
    edge = 334
    drawing.wire(v.bottom, (v.cx, 306), (edge, 306), (edge, y.cy), y.right, colour="green")
    return drawing
