"""which_line: a picture, and which slip could have drawn it."""

import torch

from autograder.checks.draw import Draw
from autograder.checks.question import Choice, Puzzle
from autograder.checks.slips import patched
from autograder.lessons.multi_scale.multi_scale_vit import QUESTION as WHOLE


def puzzle() -> Puzzle:
    """Count, for every token, the tokens that act on it, where the roll went the wrong way."""
    slip = next(s for s in WHOLE.slips if s.name == "rolled down and to the right")
    config = {"image_size": (8, 8), "n_embd": 4, "n_head": 1, "depths": (1,), "window_size": 4}
    model = patched(slip)["MultiScaleViT"](**config)
    draw = Draw("puzzle")
    model.load_state_dict(draw.weights(model, 0.3))
    x = draw.normal(1, 8, 8, 4).requires_grad_()
    seen = model.look(model.stages[0][0], x, 2)
    table = torch.empty(8, 8)
    for row in range(8):
        for column in range(8):
            push = torch.autograd.grad(seen[0, row, column, 0], x, retain_graph=True)[0]
            table[row, column] = (push[0].abs().sum(-1) > 0).sum()
    title = "how many input tokens act on each output token (windows of 4 x 4, shift 2)"
    return Puzzle(table, title, "row", "column")


QUESTION = Choice(
    "which_line",
    points=6,
    right="c",
    answers={
        "a": "Without a mask every token would see a whole window, wherever its tokens come from: "
        "16 in every cell.",
        "b": "Without the roll back the small numbers would stand together at the bottom and on "
        "the right, where the rolled grid has its seam; the top left would be all 16.",
        "c": "Yes. Rolled down and to the right, the strangers stand in the first two rows and "
        "columns, but the mask guards the last two. So the tokens at the border see 16, partly on "
        "the opposite edge, and those in the middle, which have no stranger beside them, are cut "
        "apart. A right picture is the other way round: 4 in the corners, 16 in the middle.",
        "d": "Windows that stay need no mask: 16 in every cell.",
    },
)
