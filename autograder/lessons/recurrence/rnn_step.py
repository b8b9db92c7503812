"""rnn_step: the cases it is tried in, and the slips that are known."""

from autograder.checks.question import ARGUMENTS, GRADIENT, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.recurrence.shared import step_cases
from solutions.recurrence import rnn_step

QUESTION = Exercise(
    rnn_step,
    parts={"values": 5, "any leading axes": 2, GRADIENT: 2, ARGUMENTS: 1},
    cases=step_cases(1),
    slips=[
        Slip(
            "tanh forgotten",
            rnn_step,
            "torch.tanh(x @ w_x + h @ w_h + b)",
            "x @ w_x + h @ w_h + b",
            "The sum is returned as it is: without the tanh the state can grow without limit.",
        ),
        Slip(
            "state weights transposed",
            rnn_step,
            "h @ w_h",
            "h @ w_h.T",
            "`w_h` is transposed. It is square, so no shape complains: h @ w_h.",
        ),
        Slip(
            "sigmoid for tanh",
            rnn_step,
            "torch.tanh(",
            "torch.sigmoid(",
            "A sigmoid gives numbers between 0 and 1; the state needs tanh, between -1 and 1.",
        ),
        Slip(
            "bias left out",
            rnn_step,
            " @ w_h + b)",
            " @ w_h)",
            "The bias `b` is not added.",
        ),
        Slip(
            "bias added after tanh",
            rnn_step,
            "torch.tanh(x @ w_x + h @ w_h + b)",
            "torch.tanh(x @ w_x + h @ w_h) + b",
            "The bias is added after the tanh: it belongs inside, with the two products.",
        ),
        Slip(
            "bias added twice",
            rnn_step,
            " @ w_h + b)",
            " @ w_h + 2 * b)",
            "The bias counts twice. PyTorch has a bias per product; here there is one for both.",
        ),
        Slip(
            "state not used",
            rnn_step,
            "x @ w_x + h @ w_h + b",
            "x @ w_x + 0 * h @ w_h + b",
            "The old state does not enter: without h @ w_h the network has no memory.",
        ),
        Slip(
            "input not used",
            rnn_step,
            "x @ w_x + h @ w_h + b",
            "0 * x @ w_x + h @ w_h + b",
            "The input does not enter: x @ w_x is missing.",
        ),
        Slip(
            "old state added",
            rnn_step,
            "torch.tanh(x @ w_x + h @ w_h + b)",
            "h + torch.tanh(x @ w_x + h @ w_h + b)",
            "The old state is added to the new one. That would be a residual connection; a plain "
            "RNN replaces the state.",
        ),
        Slip(
            "state detached",
            rnn_step,
            "h @ w_h",
            "h.detach() @ w_h",
            "The value is right, but no gradient goes back to the old state: it is detached, and "
            "the network cannot learn across steps.",
        ),
    ],
)
