"""The figure of the scale: real dot products of growing width, their softmax, and the gradient."""

from pathlib import Path

import torch
from matplotlib.figure import Figure as Plot

from solutions.figures.figure import Figure
from solutions.studies.saturation import entropy, score_gradient

WIDTHS = (4, 8, 16, 32, 64, 128, 256, 512, 1024)


def scale(n_sample: int = 6, n_key: int = 8) -> Figure:
    """Show queries and keys cut to any width, with the scores divided in three ways."""
    samples = [draw_sample(seed, n_key) for seed in range(n_sample)]
    return Figure(
        Path(__file__).with_suffix(".js"),
        data={"widths": WIDTHS, "samples": samples},
        still=still_of(samples[0]),
        alt="Scores, attention weights and the gradient reaching the scores, for growing width D.",
        height=360,
    )


def draw_sample(seed: int, n_key: int) -> dict:
    """Draw one query and some keys of variance one; a narrower width takes their first columns.

    `dots`: the dot products for every width; `pull`: value times incoming gradient, one per key.
    """
    draw = torch.Generator().manual_seed(seed)
    q = torch.randn(WIDTHS[-1], generator=draw)
    k = torch.randn(n_key, WIDTHS[-1], generator=draw)
    pull = torch.randn(n_key, generator=draw)
    dots = torch.stack([k[:, :width] @ q[:width] for width in WIDTHS])  # (widths, keys)
    return {"dots": dots.round(decimals=3).tolist(), "pull": pull.round(decimals=3).tolist()}


def still_of(sample: dict) -> Plot:
    """Draw entropy and gradient of one sample against the width, divided and not."""
    dots, pull = torch.tensor(sample["dots"]), torch.tensor(sample["pull"])
    widths = torch.tensor(WIDTHS)
    plot = Plot(figsize=(8, 2.6), layout="constrained")
    left, right = plot.subplots(1, 2)
    for name, power, style in (("not divided", 0.0, "o-"), ("divided by root D", 0.5, "s--")):
        weights = (dots / widths[:, None] ** power).softmax(-1)
        left.plot(widths, entropy(weights), style, label=name)
        right.plot(widths, score_gradient(weights, pull).norm(dim=-1), style, label=name)
    left.set(xscale="log", xlabel="width D", ylabel="entropy of 8 weights (nats)")
    right.set(xscale="log", yscale="log", xlabel="width D", ylabel="gradient at the scores")
    left.legend(fontsize=8)
    return plot
