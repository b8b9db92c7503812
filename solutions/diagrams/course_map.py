"""The map of the course: the way to the Transformer, its parts, and the models made of them."""

from itertools import pairwise
from typing import NamedTuple

from solutions.diagrams.drawing import NARROW, WIDE, Box, Drawing

WIDTH, HEIGHT = 198, 30
WAY = ("warm_up", "recurrence", "alignment", "self_attention")
PARTS = {  # each part of the drawing below the top of its column
    "generate": 34,
    "residual": 118,
    "multi_head": 166,
    "queries_keys_values": 200,
    "layer_norm": 248,
    "position": 316,
    "byte_pairs": 364,
}
MODELS = ("encoder_decoder", "bert", "gpt", "image_gpt", "vit", "multi_scale")
COLOUR = {
    "multi_head": "blue",
    "queries_keys_values": "blue",
    "residual": "violet",
    "layer_norm": "plain",
    "position": "green",
    "byte_pairs": "green",
    "generate": "green",
}
NAME = "Map of the course"
WORDS = (
    "Three groups of lessons. On the way to the Transformer: {way}. The parts of a Transformer, "
    "from the text below to the text above: {parts}. The models made of these parts: {models}."
)


class Lesson(NamedTuple):
    """Hold what the map says of a lesson: its number, its short title and its address."""

    number: int
    title: str
    address: str


def group(name: str) -> str:
    """Say in words where on the map a lesson stands."""
    if name in WAY:
        return "on the way to the Transformer"
    return "a part of the Transformer" if name in PARTS else "a model made of the parts"


def description(lessons: dict[str, Lesson]) -> str:
    """Say in words what the map shows."""

    def listed(names) -> str:
        return ", ".join(lessons[name].title for name in names)

    return WORDS.format(way=listed(WAY), parts=listed(reversed(PARTS)), models=listed(MODELS))


def wide_map(lessons: dict[str, Lesson], here: str = "", labels: bool = True) -> Drawing:
    """Draw the three groups side by side; without labels it is a thumbnail."""
    drawing = Drawing(WIDE, 432)
    pen = Pen(drawing, lessons, here, labels)
    way, middle, right = 1, 233, WIDE - WIDTH - 1
    pen.heading(way + WIDTH / 2, 10, "The way there")
    pen.heading(middle + WIDTH / 2, 10, "The parts")
    pen.heading(right + WIDTH / 2, 10, "The models")
    parts, frame = pen.parts(middle, 0)
    look = parts["queries_keys_values"]
    steps = [pen.lesson(n, way, look.y - 44 * (3 - i)) for i, n in enumerate(WAY)]
    for a, b in pairwise(steps):
        drawing.wire(a.bottom, b.top)
    drawing.wire(steps[-1].right, look.left)
    models = [pen.lesson(n, right, frame.cy - 15 + 44 * (i - 2.5)) for i, n in enumerate(MODELS)]
    pen.fan(frame.right, models)
    pen.legend(way, 405)
    return drawing


def narrow_map(lessons: dict[str, Lesson], here: str = "") -> Drawing:
    """Draw the three groups below each other."""
    drawing = Drawing(NARROW, 960 if here else 928)
    pen = Pen(drawing, lessons, here, True)
    left = (NARROW - WIDTH) / 2
    pen.heading(NARROW / 2, 10, "The way there")
    steps = [pen.lesson(n, left, 28 + 44 * i) for i, n in enumerate(WAY)]
    for a, b in pairwise(steps):
        drawing.wire(a.bottom, b.top)
    pen.heading(NARROW / 2, 222, "The parts")
    parts, frame = pen.parts(left, 212)
    look, edge = parts["queries_keys_values"], 22
    drawing.wire(steps[-1].left, (edge, steps[-1].cy), (edge, look.cy), look.left)
    pen.heading(NARROW / 2, 662, "The models")
    models = [pen.lesson(n, left, 680 + 42 * i) for i, n in enumerate(MODELS)]
    edge = NARROW - 22
    for model in models:
        drawing.wire(frame.right, (edge, frame.cy), (edge, model.cy), model.right)
    pen.legend(left, 932)
    return drawing


class Pen:
    """Draw lessons as boxes that are links, the present one marked."""

    def __init__(self, drawing: Drawing, lessons: dict[str, Lesson], here: str, labels: bool):
        self.drawing, self.lessons, self.here, self.labels = drawing, lessons, here, labels

    def heading(self, x: float, y: float, text: str) -> None:
        if self.labels:
            self.drawing.text(x, y, text, "strong")

    def lesson(self, name: str, x: float, y: float) -> Box:
        """Draw the box of a lesson: its number and its title."""
        lesson, colour = self.lessons[name], COLOUR.get(name, "violet")
        colour = "here" if name == self.here else "plain" if name in WAY else colour
        if not self.labels:
            return self.drawing.box(x, y, WIDTH, HEIGHT, "", colour)
        current = ' aria-current="page"' if name == self.here else ""
        self.drawing.link(lesson.address, current)
        title = f"{lesson.number}\u2002{lesson.title}"
        box = self.drawing.box(x, y, WIDTH, HEIGHT, title, colour)
        self.drawing.end_link()
        return box

    def parts(self, x: float, y: float) -> tuple[dict[str, Box], Box]:
        """Draw the Transformer from the text below to the text above -> its boxes, its block."""
        drawing = self.drawing
        frame = drawing.frame(x - 16, y + 82, WIDTH + 32, 208)
        boxes = {name: self.lesson(name, x, y + top) for name, top in PARTS.items()}
        order = [boxes[name] for name in reversed(PARTS)]
        for low, high in pairwise(order):
            if low.y - high.y > HEIGHT + 6:  # queries and heads are one layer
                drawing.wire(low.top, high.bottom)
        if self.labels:
            drawing.text(x + WIDTH + 8, y + 98, "block × *L*", "small", "end")
            drawing.text(x + WIDTH / 2, y + 424, "text", "small")
            drawing.wire((x + WIDTH / 2, y + 414), (x + WIDTH / 2, y + 394))
        return boxes, frame

    def fan(self, start: tuple[float, float], models: list[Box]) -> None:
        """Lead wires from the block to every model."""
        bend = (start[0] + models[0].x) / 2
        for model in models:
            self.drawing.wire(start, (bend, start[1]), (bend, model.cy), model.left)

    def legend(self, x: float, y: float) -> None:
        if self.here and self.labels:
            self.drawing.box(x, y, 16, 16, "", "here")
            self.drawing.text(x + 24, y + 8, "you are here", "small", "start")
