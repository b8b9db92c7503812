"""which_line: a picture, and which slip could have drawn it."""

import torch

from autograder.checks.draw import Draw
from autograder.checks.question import Choice, Puzzle
from autograder.checks.slips import patched
from autograder.lessons.gpt.gpt import QUESTION as MODEL
from autograder.lessons.gpt.shared import drawn_config, drawn_weights
from solutions.gpt_block import GPTConfig


def puzzle() -> Puzzle:
    """How strongly each token acts on each score, where the mask is off by one."""
    slip = next(s for s in MODEL.slips if s.name == "mask off by one, ahead")
    draw = Draw("puzzle 10")
    config = {**drawn_config(draw, n_embd=12, block_size=6, vocab_size=7)}
    model = patched(slip)["GPT"](GPTConfig(**config))
    model.load_state_dict(drawn_weights(draw, config))
    ids = draw.integers(0, 7, 1, 6)

    def influence(t):
        leaf = model.token.weight.detach()[ids].requires_grad_()
        handle = model.token.register_forward_hook(lambda *_: leaf)
        model(ids)[0, t].norm().backward()
        handle.remove()
        return leaf.grad[0].norm(dim=-1)

    table = torch.stack([influence(t) for t in range(6)])
    title = "how strongly token s acts on the scores at place t (two blocks)"
    return Puzzle(table / table.amax(1, keepdim=True), title, "place t", "token s")


QUESTION = Choice(
    "which_line",
    points=7,
    right="c",
    answers={
        "a": "Without a mask every token would act on every place: no cell would be empty.",
        "b": "With the mask the wrong way round the cells below the diagonal would be empty, "
        "not those far above it.",
        "c": "With `tril(1)` every block looks one token too far ahead. Two blocks, and what is "
        "two tokens ahead arrives: the model reads its answer.",
        "d": "Where the loss is taken does not change what acts on the scores: with a right mask "
        "the picture would be empty above the diagonal.",
    },
)
