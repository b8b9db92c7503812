"""which_line: a picture, and which slip could have drawn it."""

import torch

from autograder.checks.draw import Draw
from autograder.checks.question import Choice, Puzzle
from autograder.checks.slips import patched
from autograder.lessons.recurrence.rnn import QUESTION as LAYER


def puzzle() -> Puzzle:
    """How far each state moves when one input is nudged, where the state is not carried."""
    slip = next(s for s in LAYER.slips if s.name == "state not carried")
    draw = Draw("puzzle")
    layer = patched(slip)["RNN"](n_in=3, n_state=4)
    weights = {"w_x": draw.normal(3, 4, std=0.6), "w_h": torch.eye(4).roll(1, 0)}
    layer.load_state_dict({**weights, "b": torch.zeros(4)})
    x = draw.normal(1, 6, 3, std=0.5)

    def moved(s):
        nudged = x.clone()
        nudged[0, s] += 0.1
        return (layer(nudged) - layer(x))[0].norm(dim=-1) / 0.1  # (T): every state's move

    with torch.no_grad():
        table = torch.stack([moved(s) for s in range(6)], dim=1)
    return Puzzle(table, "how far state t moves when input s is nudged", "state t", "input s")


QUESTION = Choice(
    "which_line",
    points=8,
    right="c",
    answers={
        "a": "Without the tanh old inputs would act on later states even more strongly: the lower "
        "triangle would be full. Here it is empty.",
        "b": "A detached state has the right value: only gradients are cut. Nudging an input and "
        "looking at the states would show a full lower triangle.",
        "c": "Every step starts from the first state again, so state t knows input t and nothing "
        "else: only the diagonal is filled.",
        "d": "Read backwards, the first state knows the last input: cells off the diagonal would "
        "be filled.",
    },
)
