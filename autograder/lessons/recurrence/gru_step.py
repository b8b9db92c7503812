"""gru_step: the cases it is tried in, and the slips that are known."""

from autograder.checks.question import ARGUMENTS, GRADIENT, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.recurrence.shared import step_cases
from solutions.recurrence import gru_step

QUESTION = Exercise(
    gru_step,
    parts={"values": 9, "any leading axes": 2, GRADIENT: 3, ARGUMENTS: 2},
    cases=step_cases(3),
    slips=[
        Slip(
            "update gate the wrong way round",
            gru_step,
            "return update * h + (1 - update) * new",
            "return (1 - update) * h + update * new",
            "`update` and `1 - update` are exchanged. Some papers do it like that; here update "
            "near 1 keeps the old state.",
        ),
        Slip(
            "reset and update exchanged",
            gru_step,
            "p_reset, p_update, p_new = (x @ w_x + b).chunk(3, dim=-1)\n"
            "    q_reset, q_update, q_new = ",
            "p_update, p_reset, p_new = (x @ w_x + b).chunk(3, dim=-1)\n"
            "    q_update, q_reset, q_new = ",
            "The blocks of reset and update are exchanged: the order is reset, update, new.",
        ),
        Slip(
            "new block first",
            gru_step,
            "p_reset, p_update, p_new = (x @ w_x + b).chunk(3, dim=-1)\n"
            "    q_reset, q_update, q_new = ",
            "p_new, p_reset, p_update = (x @ w_x + b).chunk(3, dim=-1)\n"
            "    q_new, q_reset, q_update = ",
            "The new block is read first: the order is reset, update, new.",
        ),
        Slip(
            "reset before the product",
            gru_step,
            "torch.tanh(p_new + reset * q_new)",
            "torch.tanh(p_new + (reset * h) @ w_h.chunk(3, dim=-1)[2])",
            "The reset is applied to h before the product with its matrix. The first paper did "
            "so; here, as in PyTorch, it is applied to the product.",
        ),
        Slip(
            "bias inside the reset",
            gru_step,
            "torch.tanh(p_new + reset * q_new)",
            "torch.tanh(p_new - b.chunk(3)[2] + reset * (q_new + b.chunk(3)[2]))",
            "The bias of the new block is multiplied by the reset: it belongs outside.",
        ),
        Slip(
            "no reset",
            gru_step,
            "torch.tanh(p_new + reset * q_new)",
            "torch.tanh(p_new + q_new)",
            "The reset gate is not used: it multiplies the state's part of the new block.",
        ),
        Slip(
            "reset on the whole sum",
            gru_step,
            "torch.tanh(p_new + reset * q_new)",
            "torch.tanh(reset * (p_new + q_new))",
            "The reset multiplies the input's part too: only the state's part may be reset.",
        ),
        Slip(
            "state forgotten in the result",
            gru_step,
            "return update * h + (1 - update) * new",
            "return (1 - update) * new",
            "The kept part of the old state is missing: add update * h.",
        ),
        Slip(
            "gates not squashed",
            gru_step,
            "reset = torch.sigmoid(p_reset + q_reset)\n"
            "    update = torch.sigmoid(p_update + q_update)",
            "reset = p_reset + q_reset\n    update = p_update + q_update",
            "The gates are not between 0 and 1: both need a sigmoid.",
        ),
        Slip(
            "tanh for the gates",
            gru_step,
            "reset = torch.sigmoid(p_reset + q_reset)\n"
            "    update = torch.sigmoid(p_update + q_update)",
            "reset = torch.tanh(p_reset + q_reset)\n    update = torch.tanh(p_update + q_update)",
            "The gates use tanh: a share must lie between 0 and 1, so take a sigmoid.",
        ),
        Slip(
            "sigmoid for the new state",
            gru_step,
            "torch.tanh(p_new",
            "torch.sigmoid(p_new",
            "The new state is squashed by a sigmoid: it needs tanh, between -1 and 1.",
        ),
        Slip(
            "columns interleaved",
            gru_step,
            "p_reset, p_update, p_new = (x @ w_x + b).chunk(3, dim=-1)\n"
            "    q_reset, q_update, q_new = (h @ w_h).chunk(3, dim=-1)",
            "p_reset, p_update, p_new = (x @ w_x + b).unflatten(-1, (-1, 3)).unbind(-1)\n"
            "    q_reset, q_update, q_new = (h @ w_h).unflatten(-1, (-1, 3)).unbind(-1)",
            "Every third column was taken; each block is D columns side by side.",
        ),
        Slip(
            "gate detached",
            gru_step,
            "return update * h + (1 - update) * new",
            "return update.detach() * h + (1 - update.detach()) * new",
            "The value is right, but no gradient reaches the update gate: is there a detach()?",
        ),
    ],
)
