"""what_inputs_do: an experiment, and what may be concluded from it."""

from autograder.checks.question import Conclusion
from solutions.recurrence import gradient_by_lag, rnn_step


def _growing_inputs(own, radius, n_steps, width, scales, seed):
    """Measure how much of a gradient crosses n_steps of a tanh RNN, for inputs of each scale."""
    import torch

    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(*shape, generator=generator)

    w_h = radius * torch.linalg.qr(normal(width, width))[0]
    x, push, zero = normal(n_steps, width), normal(width), torch.zeros(width)

    def arrives(scale):
        def step(x_t, h):
            return own.rnn_step(x_t, h, torch.eye(width), w_h, zero)

        return float(own.gradient_by_lag(step, scale * x, zero, push)[-1])

    return dict(zip(["small", "middle", "large"], map(arrives, scales), strict=True))


def _what_inputs_do(measured: dict) -> str:
    small, large = measured["small"], measured["large"]
    if large < small / 10:
        return "b" if large < 1e-2 else "d"
    return "a" if large > small * 10 else "c"


QUESTION = Conclusion(
    "what_inputs_do",
    points=10,
    probe=_growing_inputs,
    inputs=(1.2, 50, 32, [0.01, 0.1, 1.0], 0),
    decide=_what_inputs_do,
    measures=[rnn_step, gradient_by_lag],
    answers={
        letter: "With {whose} code the share of the gradient that crossed 50 steps was "
        "{small:.1e}, {middle:.1e} and {large:.1e} for inputs of standard deviation 0.01, 0.1 "
        "and 1."
        for letter in "abcd"
    },
)
