"""The KV cache: what is computed for a new token, and what is kept from the tokens before it."""

import torch

from solutions.diagrams.diagram import Diagram
from solutions.diagrams.drawing import NARROW, WIDE, Drawing
from solutions.queries_keys_values import scaled_dot_product_attention

WORD_LIST = ("once", "mia", "the", "fox", "lived", "by")
NAME = "The KV cache: computed and kept"
WORDS = (
    "First, one step: only the new token, a row (1, C), is multiplied by the three matrices. Its "
    "key and its value are put below the keys and values (S, D) of the tokens before it, which "
    "were kept; its query (1, D) looks at all S of them. Then the count: to write {n} tokens "
    "without a cache, step t works out all t tokens again, {all} in all; with the cache every "
    "step works out one token and finds the others kept, {n} in all."
)


def cache(words=WORD_LIST) -> Diagram:
    """Draw one step with a cache, and the work of all steps with and without it."""
    n = len(words)
    said = WORDS.format(n=n, all=n * (n + 1) // 2)
    wide, narrow = Drawing(WIDE, 286), Drawing(NARROW, 528)
    for drawing, x, y in ((wide, 365, 24), (narrow, 10, 304)):
        one_step(drawing, words)
        all_steps(drawing, x, y, n)
    return Diagram(NAME, said, wide, narrow)


def one_step(drawing: Drawing, words) -> None:
    """Draw what the last token needs: its own row, and the rows kept of the others."""
    n, d, top, cell = len(words), 3, 34, (17, 20)
    colours = [["blue"] * d] * (n - 1) + [["orange"] * d]
    rows, one = [[0.5] * d] * n, [[0.5] * d]
    for row, word in enumerate(words):
        new = " strong" * (row == n - 1)
        drawing.text(46, top + (row + 0.5) * cell[1], word, f"small{new}", "end")
    keys = drawing.cells(54, top, rows, cell, colours)
    values = drawing.cells(194, top, rows, cell, colours)
    generator = torch.Generator().manual_seed(1)
    q, k = torch.randn(1, d, generator=generator), torch.randn(n, d, generator=generator)
    weights = scaled_dot_product_attention(q, k, torch.eye(n)).T  # (S, 1): a row for each token
    look = drawing.cells(141, top, weights.tolist(), cell, "violet", float(weights.max()))
    found = drawing.cells(286, look.cy - 10, one, cell, "grey")
    asks = drawing.cells(124, 186, one, cell, "orange")
    token = drawing.cells(124, 238, one, cell, "orange")
    for box, name in ((keys, "K (S, D)"), (look, "weights"), (values, "V (S, D)")):
        drawing.text(box.cx, top - 13, name, "shape")
    drawing.text(found.cx, found.y - 13, "(1, D)", "shape")
    drawing.text(asks.right[0] + 8, asks.cy, "*q*", "", "start")
    drawing.text(token.cx, 271, f"*x*, only “{words[-1]}”: (1, C)", "shape")
    drawing.wire(token.top, asks.bottom, colour="orange")
    drawing.wire(token.left, (keys.cx, token.cy), keys.bottom, colour="orange")
    drawing.wire(token.right, (values.cx, token.cy), values.bottom, colour="orange")
    drawing.wire(asks.top, look.bottom, colour="orange")
    for a, b in ((keys, look), (look, values), (values, found)):
        drawing.wire(a.right, b.left)
    for x, name in ((keys.cx + 20, "K"), (asks.cx + 20, "Q"), (values.cx + 20, "V")):
        drawing.text(x, 222, f"*W*^{{{name}}}")


def all_steps(drawing: Drawing, x: float, y: float, n: int) -> None:
    """Draw a row for each step and a square for each token read in it."""
    size = 19
    left, right = x + 46, x + 46 + n * size + 34
    computed, kept = {left: 0, right: 0}, {left: 0, right: 0}
    for step in range(n):
        at = y + 34 + step * size
        drawing.text(x + 38, at + size / 2, f"step {step + 1}", "small", "end")
        for place, cached in ((left, False), (right, True)):
            colours = ["blue" if cached and t < step else "orange" for t in range(step + 1)]
            computed[place] += colours.count("orange")
            kept[place] += colours.count("blue")
            drawing.cells(place, at, [[0.5] * (step + 1)], (size, size), [colours])
    middle = n * size / 2
    for place, name in ((left, "read again"), (right, "with the cache")):
        drawing.text(place + middle, y + 10, name, "strong")
        total = f"{computed[place]} computed"
        total += f", {kept[place]} kept" * bool(kept[place])
        drawing.text(place + middle, y + 34 + n * size + 16, total, "small")
    for at, colour, name in ((left, "orange", "computed"), (right, "blue", "kept")):
        drawing.cells(at, y + 188, [[0.5]], (14, 14), colour)
        drawing.text(at + 22, y + 195, name, "small", "start")
