"""gradient_by_lag: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.question import ARGUMENTS, Case, Exercise
from autograder.checks.slips import Slip
from solutions.recurrence import gradient_by_lag


def lags(own, name, x, h, push, w_x, w_h, b, kind, twice=False):
    """Call gradient_by_lag with a step made here from plain weights."""
    import torch

    def step(x_t, h):
        total = x_t @ w_x + h @ w_h + b
        return {"linear": lambda y: y, "tanh": torch.tanh, "skip": lambda y: h + torch.tanh(y)}[
            kind
        ](total)

    x, h, push = x.clone(), h.clone(), push.clone()
    for _ in range(2 if twice else 1):  # a call must leave nothing behind for the next
        result = getattr(own, name)(step, x, h, push)
    if isinstance(result, torch.Tensor) and result.is_floating_point():
        result = result.float()
    return {"result": result, "inputs": [x, h, push]}


def _lags(kind, t=None, radius=1.0, dtype=torch.float32, twice=False):
    def draw(d):
        n_t, c, n_state = d.sizes(3, 2, 7)
        n_t = n_t if t is None else t
        w_h = torch.linalg.qr(d.normal(n_state, n_state, dtype=torch.float64))[0] * radius
        w_h[0, -1] += 0.7  # not orthogonal: a transposed matrix must show
        return (
            d.normal(n_t, c, std=0.7, dtype=dtype),
            d.normal(n_state, std=0.5, dtype=dtype),
            d.normal(n_state, dtype=dtype),
            d.normal(c, n_state, std=c**-0.5, dtype=dtype),
            w_h.to(dtype),
            d.normal(n_state, std=0.3, dtype=dtype),
            kind,
            twice,
        )

    return draw


QUESTION = Exercise(
    gradient_by_lag,
    parts={"values": 11, "any step": 6, ARGUMENTS: 1},
    cases=[
        Case("values", "a tanh step", _lags("tanh"), lags),
        Case("values", "a linear step that shrinks", _lags("linear", radius=0.7), lags),
        Case("values", "a linear step that grows", _lags("linear", t=9, radius=1.5), lags),
        Case("values", "one token", _lags("tanh", t=1), lags),
        Case("any step", "a step with a residual connection", _lags("skip"), lags),
        Case("any step", "float64", _lags("tanh", t=12, dtype=torch.float64), lags),
        Case("any step", "called twice with the same h", _lags("tanh", twice=True), lags),
    ],
    slips=[
        Slip(
            "oldest first",
            gradient_by_lag,
            "for g in reversed(gradients)",
            "for g in gradients",
            "The order is that of time: entry 0 belongs to the last state, entry T to h_0.",
        ),
        Slip(
            "not divided by the push",
            gradient_by_lag,
            " / push.norm()",
            "",
            "The norms are not divided by |push|: entry 0 should be 1.",
        ),
        Slip(
            "divided by the first norm",
            gradient_by_lag,
            " / push.norm()",
            " / gradients[0].norm()",
            "The norms are divided by the one at h_0: the measure is the gradient at h_T.",
        ),
        Slip(
            "push not used",
            gradient_by_lag,
            "torch.autograd.grad(states[-1], states, push)",
            "torch.autograd.grad(states[-1], states, torch.ones_like(push))",
            "The gradient starts from ones, as that of states[-1].sum() does: it starts from push.",
        ),
        Slip(
            "norm of the states",
            gradient_by_lag,
            "[g.norm() for g in reversed(gradients)]) / push.norm()",
            "[s.norm() for s in reversed(states)]).detach() / states[-1].detach().norm()",
            "These are the sizes of the states, not of the gradients that arrive at them.",
        ),
        Slip(
            "squared norms",
            gradient_by_lag,
            "torch.stack([g.norm() for g in reversed(gradients)]) / push.norm()",
            "(torch.stack([g.norm() for g in reversed(gradients)]) / push.norm()) ** 2",
            "The norms are squared: the root of the sum of squares is missing.",
        ),
        Slip(
            "sum of absolute values",
            gradient_by_lag,
            "torch.stack([g.norm() for g in reversed(gradients)]) / push.norm()",
            "torch.stack([g.norm(1) for g in reversed(gradients)]) / push.norm(1)",
            "The size is a sum of absolute values: the Euclidean norm was asked for.",
        ),
        Slip(
            "largest entry",
            gradient_by_lag,
            "torch.stack([g.norm() for g in reversed(gradients)]) / push.norm()",
            "torch.stack([g.abs().max() for g in reversed(gradients)]) / push.abs().max()",
            "The size is the largest entry: the Euclidean norm was asked for.",
        ),
        Slip(
            "first state left out",
            gradient_by_lag,
            "for g in reversed(gradients)",
            "for g in reversed(gradients[1:])",
            "The state before the first token is left out: T tokens give T + 1 states.",
        ),
        Slip(
            "last state left out",
            gradient_by_lag,
            "for g in reversed(gradients)",
            "for g in reversed(gradients[:-1])",
            "The last state is left out: at lag 0 the gradient is the push itself, entry 0 is 1.",
        ),
        Slip(
            "states summed",
            gradient_by_lag,
            "torch.autograd.grad(states[-1], states, push)",
            "torch.autograd.grad(torch.stack(states).sum(0), states, push)",
            "The gradient comes from the sum of all states: it must come from the last one only.",
        ),
        Slip(
            "powers of one step",
            gradient_by_lag,
            "torch.stack([g.norm() for g in reversed(gradients)]) / push.norm()",
            "(gradients[-2].norm() / push.norm()) ** torch.arange(len(states), dtype=x.dtype)",
            "The ratio of one step is raised to powers. Every step has a slope of its own: follow "
            "the gradient through all of them.",
        ),
    ],
    equivalent={
        "gradient_by_lag: h.detach() -> h": "the caller's h is then marked as asking for "
        "gradients; its numbers and the result are the same",
    },
)
