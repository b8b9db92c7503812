"""A drawing: boxes, wires, labels and tables of numbers, written as SVG with text that is text.

Nothing is measured here: a browser knows its font and Python does not. So every box is drawn large
enough for a wide font, and tests/book/test_diagrams.py measures the result in a real browser.
"""

import html
import math
import re
from collections.abc import Sequence
from typing import NamedTuple

WIDE, NARROW = 680, 340  # the widths that drawings are made for: a desktop's column, a phone's
LINE = 17  # from one line of text to the next
CORNER = 7  # how round a wire turns
HEAD = (8.0, 3.6)  # an arrowhead's length and half its width
MARKED = re.compile(r"_\{([^}]*)\}|\^\{([^}]*)\}|\*([^*]+)\*")

Point = tuple[float, float]


class Box(NamedTuple):
    """Hold where a box stands, and name the places where wires begin and end."""

    x: float
    y: float
    width: float
    height: float

    @property
    def cx(self) -> float:
        return self.x + self.width / 2

    @property
    def cy(self) -> float:
        return self.y + self.height / 2

    @property
    def left(self) -> Point:
        return self.x, self.cy

    @property
    def right(self) -> Point:
        return self.x + self.width, self.cy

    @property
    def top(self) -> Point:
        return self.cx, self.y

    @property
    def bottom(self) -> Point:
        return self.cx, self.y + self.height


class Drawing:
    """Collect the shapes of one picture. Colours are names: see diagram.css."""

    def __init__(self, width: float, height: float):
        self.width, self.height = width, height
        self.behind: list[str] = []  # frames and wires lie below boxes and labels
        self.shapes: list[str] = []

    def text(self, x: float, y: float, text: str, colour: str = "", anchor: str = "middle") -> None:
        """Write lines of text around the height y; `*x*` is italic, `_{t}` low and `^{Q}` high."""
        lines = text.split("\n")
        for i, line in enumerate(lines):
            at = y + (i - (len(lines) - 1) / 2) * LINE
            place = "" if anchor == "middle" else f' text-anchor="{anchor}"'
            self.shapes.append(
                f'<text x="{num(x)}" y="{num(at)}" dy=".35em"{place}{named(colour)}>'
                f"{marked(line)}</text>"
            )

    def box(
        self, x: float, y: float, width: float, height: float, text: str = "", colour: str = "plain"
    ) -> Box:
        """Draw a box with its corner at x, y, and its text in the middle."""
        self.shapes.append(f'<g class="box {colour}">{rect(x, y, width, height, 5)}')
        self.text(x + width / 2, y + height / 2, text) if text else None
        self.shapes.append("</g>")
        return Box(x, y, width, height)

    def frame(self, x: float, y: float, width: float, height: float, label: str = "") -> Box:
        """Draw a pale field around several boxes; its label stands inside, at the upper right."""
        self.behind.insert(0, f'<g class="frame">{rect(x, y, width, height, 9)}</g>')
        if label:
            self.text(x + width - 8, y + 13, label, "small", "end")
        return Box(x, y, width, height)

    def wire(self, *points: Point, colour: str = "", arrow: bool = True) -> None:
        """Lead a wire through the points, with round corners and a head at the end."""
        points = [p for i, p in enumerate(points) if i == 0 or p != points[i - 1]]
        if not arrow:
            self.behind.append(f'<path class="wire {colour}" d="{rounded(points)}"/>')
            return
        (x0, y0), (x1, y1) = points[-2:]
        length = math.dist((x0, y0), (x1, y1))
        ux, uy = (x1 - x0) / length, (y1 - y0) / length
        long, half = HEAD
        bx, by = x1 - long * ux, y1 - long * uy  # where the head begins
        shaft = rounded([*points[:-1], (bx + ux, by + uy)])
        wings = [(x1, y1), (bx - half * uy, by + half * ux), (bx + half * uy, by - half * ux)]
        head = "M" + "L".join(pair(p) for p in wings) + "Z"
        self.behind.append(f'<path class="wire {colour}" d="{shaft}"/>')
        self.behind.append(f'<path class="head {colour}" d="{head}"/>')

    def node(self, x: float, y: float, text: str = "+", colour: str = "", radius: float = 9) -> Box:
        """Draw a small circle, such as a sum, with its middle at x, y."""
        self.shapes.append(
            f'<g class="box node {colour}"><circle cx="{num(x)}" cy="{num(y)}" r="{num(radius)}"/>'
        )
        self.text(x, y, text)
        self.shapes.append("</g>")
        return Box(x - radius, y - radius, 2 * radius, 2 * radius)

    def dot(self, x: float, y: float, colour: str = "") -> None:
        """Mark the place where a wire leaves another."""
        self.shapes.append(f'<circle class="dot {colour}" cx="{num(x)}" cy="{num(y)}" r="2.6"/>')

    def cells(
        self,
        x: float,
        y: float,
        rows: Sequence[Sequence[float]],
        size: tuple[float, float],
        colour: str | Sequence[Sequence[str]] = "blue",
        top: float = 1.0,
        labels: Sequence[Sequence[str]] | None = None,
    ) -> Box:
        """Draw a table of numbers as a heat-map: the larger (up to `top`), the darker.

        size: width and height of a cell; colour: a name, or one for each cell; labels: what is
        written into the cells, see `written`.
        """
        width, height = size
        self.shapes.append('<g class="cells">')
        for r, row in enumerate(rows):
            for c, value in enumerate(row):
                tint = colour if isinstance(colour, str) else colour[r][c]
                share = min(1.0, abs(float(value)) / top)
                at_x, at_y = x + c * width, y + r * height
                self.shapes.append(
                    f'<g class="cell {tint}"><rect x="{num(at_x)}" y="{num(at_y)}" '
                    f'width="{num(width)}" height="{num(height)}" '
                    f'style="--share:{share:.2f}"/>'
                )
                if labels is not None and labels[r][c]:
                    self.text(at_x + width / 2, at_y + height / 2, labels[r][c], "number")
                self.shapes.append("</g>")
        self.shapes.append(rect(x, y, len(rows[0]) * width, len(rows) * height, 0))
        self.shapes.append("</g>")
        return Box(x, y, len(rows[0]) * width, len(rows) * height)

    def link(self, address: str, shape: str = "") -> None:
        """Begin a link; what is drawn until `end_link` belongs to it."""
        self.shapes.append(f'<a href="{html.escape(address, quote=True)}"{shape}>')

    def end_link(self) -> None:
        self.shapes.append("</a>")

    def svg(self, name: str, description: str, kind: str = "", role: str = "img") -> str:
        """Write the picture as one <svg> element, with its name and its description in words."""
        # The attributes are for places that take away the style sheet: nothing turns black.
        return (
            f'<svg class="{kind}" viewBox="0 0 {num(self.width)} {num(self.height)}" '
            f'style="max-width:{num(self.width)}px" role="{role}" '
            f'aria-label="{html.escape(name, quote=True)}" '
            'fill="none" stroke="currentColor" text-anchor="middle">'
            f"<desc>{html.escape(description)}</desc>"
            f"{''.join(self.behind)}{''.join(self.shapes)}</svg>"
        )


def written(rows: Sequence[Sequence[float]], form: str) -> list[list[str]]:
    """Write numbers for the cells of a table: .93 for 0.93, and nothing for a zero."""
    texts = [[f"{float(value):{form}}" for value in row] for row in rows]
    return [
        [t.replace("-", "−").replace("0.", ".") * bool(t.strip("-0.")) for t in r] for r in texts
    ]


def num(value: float) -> str:
    """Write a length with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def pair(point: Point) -> str:
    return f"{num(point[0])} {num(point[1])}"


def named(colour: str) -> str:
    return f' class="{colour}"' if colour else ""


def rect(x: float, y: float, width: float, height: float, radius: float) -> str:
    round_ = f' rx="{num(radius)}"' if radius else ""
    return f'<rect x="{num(x)}" y="{num(y)}" width="{num(width)}" height="{num(height)}"{round_}/>'


def marked(line: str) -> str:
    """Turn a line with marks for italic, low and high letters into SVG."""
    pieces, at = [], 0
    for match in MARKED.finditer(line):
        low, high, italic = match.groups()
        pieces.append(html.escape(line[at : match.start()]))
        if italic is not None:
            pieces.append(f'<tspan class="i">{html.escape(italic)}</tspan>')
        else:  # a step down or up, and back for what follows
            step = "3" if low is not None else "-4"
            back = "-3" if low is not None else "4"
            pieces.append(f'<tspan class="s" dy="{step}">{html.escape(low or high)}</tspan>')
            rest = line[match.end() : match.end() + 1]
            pieces.append(f'<tspan dy="{back}">\u200b</tspan>' if rest else "")
        at = match.end()
    return "".join(pieces) + html.escape(line[at:])


def rounded(points: Sequence[Point]) -> str:
    """Write a path through the points whose corners are round."""
    path = f"M{pair(points[0])}"
    for before, at, after in zip(points, points[1:], points[2:], strict=False):
        cut = min(CORNER, math.dist(before, at) / 2, math.dist(at, after) / 2)
        path += f"L{pair(toward(at, before, cut))}Q{pair(at)} {pair(toward(at, after, cut))}"
    return path + f"L{pair(points[-1])}"


def toward(start: Point, end: Point, length: float) -> Point:
    """Return the point that lies `length` from start on the way to end."""
    share = length / math.dist(start, end)
    return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])
