"""The figure of the warm-up: a table of six scores, its softmax, and what overflows."""

from pathlib import Path

import torch
from matplotlib.figure import Figure as Plot

from solutions.figures.figure import Figure
from solutions.warm_up import softmax

SCORES = [[2.0, 1.0, 0.0], [-1.0, 3.0, 1.0]]


def softmax_table(scores: list[list[float]] = SCORES) -> Figure:
    """Show a table of scores, its softmax over rows, columns or everything, and every sum."""
    return Figure(
        Path(__file__).with_suffix(".js"),
        data={"scores": scores},
        still=still_of(torch.tensor(scores)),
        alt="A table of scores and its softmax, with the sums of every row and every column.",
        height=300,
    )


def still_of(scores: torch.Tensor) -> Plot:
    """Draw the scores beside their softmax along the rows and along the columns."""
    plot = Plot(figsize=(9, 2.2))
    panels = plot.subplots(1, 3)
    tables = [
        ("scores", scores, None),
        ("softmax along each row", softmax(scores, dim=1), 1),
        ("softmax along each column", softmax(scores, dim=0), 0),
    ]
    for panel, (title, table, dim) in zip(panels, tables, strict=True):
        heat = torch.zeros_like(table) if dim is None else table
        panel.imshow(heat.numpy(), cmap="Blues", vmin=0, vmax=1.6, aspect="auto")
        for i, row in enumerate(table.tolist()):
            for j, value in enumerate(row):
                text = f"{value:g}" if dim is None else f"{value:.3f}"
                panel.text(j, i, text, ha="center", va="center")
        sums = "" if dim is None else f"\neach {('column', 'row')[dim]} sums to 1"
        panel.set_title(title + sums, fontsize=10)
        panel.set_xticks([])
        panel.set_yticks([])
    return plot
