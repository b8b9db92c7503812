"""The figure of the gradient bars: what arrives at 65 states, by initialisation, skip and norm."""

from pathlib import Path

from matplotlib.figure import Figure as Plot
from torch import Tensor

from solutions.figures.figure import Figure
from solutions.studies.deep_stack import WIRINGS

NAMES = {
    "default": "PyTorch's default",
    "0.02": "normal, 0.02",
    "Xavier": "Xavier",
    "gain 1": "gain 1",
    "He": "He",
}
SHOWN = ("plain", "residual", "pre-norm")  # in the still picture


def gradient_bars(found: dict[str, dict[str, Tensor]]) -> Figure:
    """Show gradients by depth; found[initialisation][wiring] is (seeds, L + 1), ratios to the top.

    The figure shows the median over the seeds, as powers of ten.
    """
    data = {
        "initialisations": [{"key": how, "name": NAMES[how]} for how in found],
        "runs": {
            how: {_key(w): _powers(r) for w, r in runs.items()} for how, runs in found.items()
        },
    }
    return Figure(
        Path(__file__).with_suffix(".js"),
        data=data,
        still=still_of(data),
        alt="Bars on a logarithmic axis: how much of a gradient arrives at each of 65 states.",
        height=430,
    )


def _key(wiring: str) -> str:
    skip, norm = WIRINGS[wiring]
    return f"{'skip' if skip else 'plain'} {norm}"


def _powers(ratios: Tensor) -> list[float]:
    return [round(power, 3) for power in ratios.median(0).values.log10().tolist()]


def still_of(data: dict) -> Plot:
    """Draw the default initialisation in three wirings."""
    plot = Plot(figsize=(8, 2.6), layout="constrained")
    runs = next(iter(data["runs"].values()))
    for axes, wiring in zip(plot.subplots(1, len(SHOWN), sharey=True), SHOWN, strict=True):
        powers = runs[_key(wiring)]
        axes.bar(range(len(powers)), powers, width=0.8)
        axes.axhline(0, color="black", linewidth=1)
        axes.set(title=wiring, xlabel="state (0: input)")
        axes.title.set_fontsize(10)
    plot.axes[0].set_ylabel("gradient, power of ten")
    return plot
