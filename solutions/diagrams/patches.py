"""From an image to patches, to tokens, to a class: the way through a Vision Transformer."""

import torch
from torch import Tensor

from solutions.diagrams.diagram import Diagram
from solutions.diagrams.drawing import NARROW, WIDE, Box, Drawing
from solutions.vit import patchify

PATCH = 2
NAME = "From an image to patches, to tokens, to a class"
WORDS = (
    "A hand-written digit of {h} by {w} pixels, (K, h, w), is cut into {n} patches of {p} by {p} "
    "pixels in reading order. Each patch is a row of {numbers} numbers; a linear map makes a token "
    "of C numbers of it. A class token is put in front and a position is added to each of them: "
    "(1 + N, C). L blocks of a Transformer follow, in which every token looks at every other. A "
    "linear map reads the class token alone and scores the ten classes."
)


def digit() -> Tensor:
    """Return one image of scikit-learn's digits: (8, 8), from 0 to 1."""
    from sklearn.datasets import load_digits

    return torch.tensor(load_digits().images[0] / 16, dtype=torch.float32)


def patches(image: Tensor | None = None) -> Diagram:
    """Draw the way of an image (h, w); without one, of a digit."""
    image = digit() if image is None else image
    rows = patchify(image[None], PATCH)  # (N, P * P)
    h, w = image.shape
    said = WORDS.format(h=h, w=w, n=len(rows), p=PATCH, numbers=rows.size(-1))
    return Diagram(NAME, said, draw(WIDE, image, rows), draw(NARROW, image, rows))


def draw(page: float, image: Tensor, rows: Tensor) -> Drawing:
    wide = page == WIDE
    drawing = Drawing(page, 338 if wide else 528)
    whole, cut = image_and_patches(drawing, 2 if wide else 8, 86 if wide else 0, image, rows)
    drawing.wire((whole.right[0] + 6, whole.cy), (cut.x - 8, whole.cy))
    x, y = (347, 0) if wide else (6, 190)
    first = tokens_and_class(drawing, x, y, rows)
    if wide:
        bend = (cut.right[0] + first.x) / 2 - 8
        drawing.wire((cut.right[0] + 6, cut.cy), (bend, cut.cy), (bend, first.cy), first.left)
    else:
        drawing.wire((cut.cx, cut.bottom[1] + 5), (cut.cx, y + 3))
    return drawing


def image_and_patches(drawing: Drawing, x: float, y: float, image: Tensor, rows: Tensor):
    """Draw the image, and beside it its patches, pulled apart -> the places of both."""
    pixel, gap, side = 13, 8, image.size(1) // PATCH
    step = PATCH * pixel + gap
    extent = side * step - gap
    top = y + 24 + (extent - image.size(0) * pixel) / 2
    whole = drawing.cells(x, top, image.tolist(), (pixel, pixel), "pixel")
    cut = Box(x + 176, y + 24, extent, extent)
    for n, row in enumerate(rows):
        at = cut.x + n % side * step, cut.y + n // side * step
        drawing.cells(*at, row.view(PATCH, PATCH).tolist(), (pixel, pixel), "pixel")
    drawing.text(whole.cx, whole.y - 14, "image (*K*, *h*, *w*)", "shape")
    drawing.text(cut.cx, cut.y - 14, "*N* patches", "shape")
    return whole, cut


def tokens_and_class(drawing: Drawing, x: float, y: float, rows: Tensor) -> Box:
    """Draw the patches in a row, the tokens they become, the blocks and the class.

    -> the place of the first patch.
    """
    pitch, n, size = 19.3, len(rows), 8
    middles = [x + 9 + pitch * i for i in range(n + 1)]
    left, right = middles[0] - 9, middles[-1] + 9
    patch, embed, token, block, out = y + 24, y + 62, y + 110, y + 176, y + 240
    for middle, row in zip(middles[1:], rows, strict=True):
        drawing.cells(middle - size, patch, row.view(PATCH, PATCH).tolist(), (size, size), "pixel")
        drawing.wire((middle, patch + 2 * size + 3), (middle, embed))
    for i, middle in enumerate(middles):
        colour = "blue" if i else "orange"
        drawing.wire((middle, embed + 26), (middle, token - 1), colour="" if i else "orange")
        drawing.cells(middle - 7, token, [[0.5]] * 3, (14, 14), colour)
        drawing.wire((middle, token + 44), (middle, block))
        drawing.wire((middle, block + 38), (middle, out - 2), colour="" if i else "orange")
        drawing.cells(middle - 7, out, [[0.5 if i == 0 else 0.15]] * 3, (14, 14), colour)
    drawing.box(
        left, block, right - left, 38, "*L* blocks: every token looks at every token", "violet"
    )
    drawing.text(right, y + 10, "each a row of *K* *P* ² numbers", "shape", "end")
    text = "class token, then patch · *W*; + positions"
    drawing.box(left, embed, right - left, 26, text, "green")
    linear = drawing.box(left, out + 62, 58, 26, "linear", "green")
    drawing.wire((middles[0], out + 42), (middles[0], linear.y), colour="orange")
    drawing.wire(linear.right, (linear.right[0] + 24, linear.cy))
    drawing.text(linear.right[0] + 32, linear.cy, "class token only: ten scores", "small", "start")
    drawing.text(right, out + 56, "(1 + *N*, C)", "shape", "end")
    return Box(middles[1] - size, patch, 2 * size, 2 * size)
