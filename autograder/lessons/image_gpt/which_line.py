"""which_line: a picture, and which slip could have drawn it."""

import torch

from autograder.checks.draw import Draw
from autograder.checks.question import Choice, Puzzle
from autograder.checks.slips import patched
from autograder.lessons.image_gpt.image_gpt import QUESTION as MODEL
from autograder.lessons.image_gpt.shared import drawn_config, drawn_weights
from solutions.gpt_block import GPTConfig


def puzzle() -> Puzzle:
    """How strongly each pixel acts on one pixel's price, when images are read by columns."""
    slip = next(s for s in MODEL.slips if s.name == "raster order transposed")
    draw, rows, columns = Draw("puzzle"), 5, 6
    config = drawn_config(draw, rows * columns, 4, n_embd=12, n_layer=2)
    model = patched(slip)["ImageGPT"](GPTConfig(**config))
    model.load_state_dict(drawn_weights(draw, config))
    images, leaves = draw.integers(0, 4, 1, rows, columns), []

    def watch(layer, inputs, output):
        leaves.append(output.detach().requires_grad_())
        return leaves[0]

    handle = model.gpt.token.register_forward_hook(watch)
    model.bits(images)[0, 2, 3].backward()
    handle.remove()
    acts = leaves[0].grad[0, 1:].norm(dim=-1)  # one number for every pixel read, but the last
    table = torch.cat([acts, torch.zeros(1)]).view(columns, rows).T
    title = "how strongly each pixel acts on the price of the pixel in row 2, column 3"
    return Puzzle(table / table.max(), title, "row", "column")


QUESTION = Choice(
    "which_line",
    points=6,
    right="c",
    answers={
        "a": "Then every pixel but the last would act, also those to the right and below.",
        "b": "Then pixel (2, 3) would act on its own price, and the rows above would be full.",
        "c": "The full columns to the left act and the pixels above in the same column: the "
        "image was read column by column.",
        "d": "The number of rows that are kept has no part in a price: the rows above would be "
        "full, and of row 2 the pixels to the left.",
    },
)
