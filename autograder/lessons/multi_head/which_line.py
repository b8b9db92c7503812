"""which_line: a picture, and which slip could have drawn it."""

import torch

from autograder.checks.draw import Draw
from autograder.checks.question import Choice, Puzzle
from autograder.checks.slips import patched
from autograder.lessons.multi_head.multi_head_attention import QUESTION as LAYER


def puzzle() -> Puzzle:
    """How strongly each token acts on each output, where the heads were cut by a reshape."""
    slip = next(s for s in LAYER.slips if s.name == "split by reshape")
    draw = Draw("puzzle")
    layer = patched(slip)["MultiHeadAttention"](n_embd=12, n_head=3)
    layer.load_state_dict({k: draw.normal(12, 12, std=0.3) for k in layer.state_dict()})
    x = draw.normal(1, 6, 12)
    mask = torch.ones(6, 6, dtype=torch.bool).tril()

    def influence(t):
        leaf = x.clone().requires_grad_()
        layer(leaf, mask=mask)[0, t].norm().backward()
        return leaf.grad[0].norm(dim=-1)

    table = torch.stack([influence(t) for t in range(6)])
    title = "how strongly input s acts on output t (causal mask given)"
    return Puzzle(table, title, "output t", "input s")


QUESTION = Choice(
    "which_line",
    points=10,
    right="b",
    answers={
        "a": "If the mask were not passed on, every input would act on every output: no cell would "
        "be empty. Here some are.",
        "b": "Cut by a reshape, head 0 holds the first T * D numbers in reading order, that is "
        "pieces of tokens 0 and 1 only. With T = 6 and three heads, row 0 of the three heads "
        "belongs to tokens 0, 2 and 4: exactly the inputs that act on output 0.",
        "c": "The output projection works on each token by itself. Without it the numbers would "
        "change, but no output would depend on a later input.",
        "d": "With the mask the wrong way round, output t would depend on the inputs after t: the "
        "filled cells would lie above the diagonal.",
    },
)
