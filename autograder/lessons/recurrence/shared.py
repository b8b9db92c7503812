"""What several questions of recurrence are tried with."""

import torch

from autograder.checks.draw import args
from autograder.checks.question import Case


def drawn_step(*leading, blocks=1, c=None, d=None, dtype=torch.float32):
    """Draw an input, a state and weights small enough that tanh and sigmoid do not saturate."""

    def draw(draw):
        n_in, n_state = draw.sizes(2)
        n_in, n_state = c or n_in, d or n_state
        return args(
            draw.normal(*leading, n_in, std=1.0, dtype=dtype),
            draw.normal(*leading, n_state, std=0.6, dtype=dtype),
            draw.normal(n_in, blocks * n_state, std=n_in**-0.5, dtype=dtype),
            draw.normal(n_state, blocks * n_state, std=n_state**-0.5, dtype=dtype),
            draw.normal(blocks * n_state, std=0.5, dtype=dtype),
        )

    return draw


def step_cases(blocks: int) -> list[Case]:
    return [
        Case("values", "a batch of states", drawn_step(3, blocks=blocks)),
        Case("values", "input and state of one width", drawn_step(3, blocks=blocks, c=4, d=4)),
        Case("values", "a batch as large as the state", drawn_step(5, blocks=blocks, c=5, d=5)),
        Case("values", "a state of one number", drawn_step(2, blocks=blocks, c=3, d=1)),
        Case("any leading axes", "no batch", drawn_step(blocks=blocks)),
        Case("any leading axes", "two leading axes", drawn_step(2, 3, blocks=blocks)),
    ]
