"""which_line: a picture, and which slip could have drawn it."""

import torch

from autograder.checks.draw import Draw
from autograder.checks.question import Choice, Puzzle


def puzzle() -> Puzzle:
    """What arrives of a gradient where one skip leads around the whole stack."""
    rows = []
    for seed in range(3):
        d = Draw("puzzle", seed)
        weights = [d.normal(32, 32, std=0.5 * 32**-0.5) for _ in range(6)]
        states = [d.normal(8, 32).requires_grad_()]
        for w in weights:
            states.append(torch.tanh(states[-1] @ w))
        push = d.normal(8, 32)
        out = states[0] + states[-1]
        gradients = torch.autograd.grad(out, [*states[:-1], out], push)
        norms = torch.stack([g.norm() for g in gradients])
        rows.append(norms / norms[-1])
    title = "share of the gradient that arrives, stack of 6 layers"
    return Puzzle(torch.stack(rows), title, "random start", "state l (0: input, 6: output)")


QUESTION = Choice(
    "which_line",
    points=8,
    right="c",
    answers={
        "a": "Without any skip the gradient shrinks layer by layer down to the input too. In the "
        "picture it shrinks from state 5 to state 1, but at the input all of it is there.",
        "b": "A detached skip carries no gradient: the picture would be that of a stack without "
        "skips, smallest at the input.",
        "c": "One skip leads from the input to the output, around everything. The gradient takes "
        "it and arrives whole at the input, but the states in between lie on the long road only: "
        "six layers, each a fraction. Those layers learn as slowly as without a skip.",
        "d": "The same layer six times, each time with its skip, keeps the gradient at 1 or above "
        "at every state.",
    },
)
