"""The figure of the gradient that goes back in time: radius, input scale, linear or tanh."""

from collections.abc import Callable
from pathlib import Path

import torch
from matplotlib.figure import Figure as Plot
from torch import Tensor

from solutions.figures.figure import Figure
from solutions.recurrence import gradient_by_lag

N_STEPS, WIDTH = 50, 24


def parts(seed: int = 0, n_steps: int = N_STEPS, width: int = WIDTH) -> tuple[Tensor, ...]:
    """Draw a rotation (D, D), inputs (T, D) of standard deviation 1 and a push (D), in float64."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    return torch.linalg.qr(normal(width, width))[0], normal(n_steps, width), normal(width)


def step_with(rotation: Tensor, radius: float, bend: bool) -> Callable[[Tensor, Tensor], Tensor]:
    """Make the step h -> x + radius * h @ rotation, bent by a tanh or left straight."""

    def step(x: Tensor, h: Tensor) -> Tensor:
        total = x + radius * (h @ rotation)
        return torch.tanh(total) if bend else total

    return step


def shortcut_by_lag(step: Callable, x: Tensor, h: Tensor, push: Tensor) -> Tensor:
    """Measure as `gradient_by_lag` does, but push on the even average of all T + 1 states.

    The average is an attention that looks at every state alike: the plainest look back there is.
    """
    states = [h.detach().requires_grad_()]
    for x_t in x:
        states.append(step(x_t, states[-1]))
    gradients = torch.autograd.grad(torch.stack(states).mean(0), states, push)
    return torch.stack([g.norm() for g in reversed(gradients)]) / push.norm()


def shares(radius: float, scale: float, bend: bool, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Return the shares of the gradient by lag, (T + 1) each: through the steps, with a look back.

    Hidden units start at 0; the inputs have standard deviation `scale`.
    """
    rotation, x, push = parts(seed)
    step, zero = step_with(rotation, radius, bend), torch.zeros_like(push)
    return tuple(f(step, scale * x, zero, push) for f in (gradient_by_lag, shortcut_by_lag))


def back_in_time() -> Figure:
    """Show both shares against the lag, with sliders for the radius and the inputs' scale."""
    rotation, x, push = (torch.round(part, decimals=5).tolist() for part in parts())
    return Figure(
        Path(__file__).with_suffix(".js"),
        data={"rotation": rotation, "x": x, "push": push},
        still=still_of(),
        alt="Share of a gradient that arrives at earlier states, by lag, on a logarithmic axis: "
        "through the steps alone, and with an average over all states.",
        height=470,
    )


def still_of() -> Plot:
    """Draw linear units, and tanh units with inputs of standard deviation 1, for three radii."""
    plot = Plot(figsize=(8, 3), layout="constrained")
    axes = plot.subplots(1, 2, sharey=True)
    for ax, bend, title in zip(axes, (False, True), ("linear", "tanh, inputs of 1"), strict=True):
        for radius, style in {0.8: "-", 1.0: "--", 1.2: ":"}.items():
            steps, look_back = shares(radius, 1.0, bend)
            ax.semilogy(steps, "C0" + style, label=f"through the steps, radius {radius}")
            ax.semilogy(look_back, "C1" + style, label=f"with a look back, radius {radius}")
        ax.set(title=title, xlabel="lag", ylim=(1e-16, 1e6))
    axes[0].set_ylabel("share of the gradient")
    axes[1].legend(fontsize=7)
    return plot
