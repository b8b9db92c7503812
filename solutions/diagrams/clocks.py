"""Position as the hands of clocks, and rotary positions as a turn of query and key."""

import math

import torch

from solutions.diagrams.diagram import Diagram
from solutions.diagrams.drawing import NARROW, WIDE, Drawing, num
from solutions.position import apply_rotary, sinusoidal_positions

C = 8
PAIRS = ((0, 0), (3, 1), (6, 4))  # positions of query and key
NAME_CLOCKS = "Positions as the hands of clocks"
WORDS_CLOCKS = (
    "A table of clock faces: the positions from 0 on, and for each of them the four clocks of a "
    "model of width 8. All hands start at the top. The first clock turns by one radian a position, "
    "the others by a tenth, a hundredth and a thousandth of it, so that the last ones seem to "
    "stand still. The sines and cosines of the four hands are a row of the table of positions."
)
NAME_TURN = "Rotary positions: turn the query and the key"
WORDS_TURN = (
    "Three dials with two hands, a query q and a key k. In the first neither is turned. In the "
    "second the query stands at position 3 and the key at 1, and each is turned by as many "
    "radians; in the third they stand at 6 and 4. The hands point elsewhere, but the angle between "
    "them is the same in the last two: it depends on the offset alone. The products are {products}."
)


def hand(drawing: Drawing, x: float, y: float, to: tuple[float, float], colour: str) -> None:
    """Draw a hand from the middle of a dial; to: right and up, in pixels."""
    drawing.wire((x, y), (x + to[0], y - to[1]), colour=colour)


def ring(drawing: Drawing, x: float, y: float, radius: float) -> None:
    drawing.behind.append(f'<circle class="ring" cx="{num(x)}" cy="{num(y)}" r="{num(radius)}"/>')


def clocks() -> Diagram:
    """Draw where all hands stand at the first positions."""
    wide, narrow = Drawing(WIDE, 290), Drawing(NARROW, 370)
    for t, row in enumerate(hands(9)):
        x = 112 + 66 * t
        wide.text(x, 12, f"*t* = {t}", "small")
        for i, to in enumerate(row):
            clock(wide, x, 58 + 66 * i, 28, to)
    for t, row in enumerate(hands(6)):
        y = 62 + 56 * t
        narrow.text(44, y, f"*t* = {t}", "small", "end")
        for i, to in enumerate(row):
            clock(narrow, 86 + 70 * i, y, 24, to)
    for i in range(C // 2):
        speed = f"ω = {10000 ** (-2 * i / C):g}"
        wide.text(70, 58 + 66 * i, speed, "small", "end")
        narrow.text(86 + 70 * i, 14, speed, "small")
    return Diagram(NAME_CLOCKS, WORDS_CLOCKS, wide, narrow)


def hands(n_position: int) -> list:
    """Return, for every position and clock, the sine and the cosine: right and up."""
    return sinusoidal_positions(n_position, C).view(n_position, C // 2, 2).tolist()


def clock(drawing: Drawing, x: float, y: float, radius: float, to: list[float]) -> None:
    ring(drawing, x, y, radius)
    drawing.dot(x, y, "blue")
    hand(drawing, x, y, ((radius - 4) * to[0], (radius - 4) * to[1]), "blue")


def turn() -> Diagram:
    """Draw a query and a key of two columns, turned by their positions."""
    q, k = torch.tensor([[0.95, 0.3]]), torch.tensor([[0.45, 0.9]])
    dials = []
    for t, s in PAIRS:
        a, b = apply_rotary(q, t)[0], apply_rotary(k, s)[0]
        dials.append((t, s, a.tolist(), b.tolist(), float(a @ b)))
    products = ", ".join(f"{dial[-1]:.2f}" for dial in dials)
    wide, narrow = Drawing(WIDE, 226), Drawing(NARROW, 3 * 140)
    for n, dial in enumerate(dials):
        draw_dial(wide, 680 * (n + 0.5) / 3, 92, 78, dial, below=True)
        draw_dial(narrow, 86, 70 + 140 * n, 62, dial, below=False)
    return Diagram(NAME_TURN, WORDS_TURN.format(products=products), wide, narrow)


def draw_dial(drawing: Drawing, x: float, y: float, radius: float, dial, below: bool) -> None:
    t, s, a, b, product = dial
    ring(drawing, x, y, radius)
    for name, (right, up), colour in (("q", a, "blue"), ("k", b, "orange")):
        hand(drawing, x, y, (0.7 * radius * right, 0.7 * radius * up), colour)
        length = math.hypot(right, up)
        at = 0.7 * radius * length + 11
        drawing.text(x + at * right / length, y - at * up / length, f"*{name}*", "strong")
    lines = f"*q* at {t}, *k* at {s}", f"*q* · *k* = {product:.2f}"
    for n, line in enumerate(lines):
        if below:
            drawing.text(x, y + radius + 20 + 18 * n, line, "" if n else "strong")
        else:
            drawing.text(x + radius + 24, y - 9 + 20 * n, line, "" if n else "strong", "start")
