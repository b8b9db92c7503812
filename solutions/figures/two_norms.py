"""The figure of the two norms: a batch that can be edited, normalised by rows and by columns."""

from pathlib import Path

import torch
from matplotlib.figure import Figure as Plot

from solutions.batch_norm import batch_norm
from solutions.figures.figure import Figure
from solutions.layer_norm import layer_norm

ROWS = [
    [100.0, 200.0, 100.0, 0.0],
    [80.0, 120.0, 60.0, 40.0],
    [150.0, 90.0, 110.0, 30.0],
    [120.0, 160.0, 90.0, 70.0],
]


def two_norms(rows: list[list[float]] = ROWS) -> Figure:
    """Show a batch of tokens beside its LayerNorm and its BatchNorm."""
    return Figure(
        Path(__file__).with_suffix(".js"),
        data={"rows": rows},
        still=still_of(torch.tensor(rows)),
        alt="A batch of four tokens with four features, normalised by rows (LayerNorm) and by "
        "columns (BatchNorm), as it is and with an outlier as its last token.",
        height=420,
    )


def still_of(rows: torch.Tensor) -> Plot:
    """Draw the batch and both norms of it, then the same with the last token a hundredfold."""
    outlier = torch.cat([rows[:-1], 100 * rows[-1:]])
    plot = Plot(figsize=(9, 4.4), layout="constrained")
    panels = plot.subplots(2, 3)
    for line, (name, batch) in zip(panels, {"": rows, ", outlier": outlier}.items(), strict=True):
        tables = {
            f"the batch{name}": batch,
            f"LayerNorm{name}": layer_norm(batch),
            f"BatchNorm{name}": batch_norm(batch),
        }
        for panel, (title, table) in zip(line, tables.items(), strict=True):
            plain = title.startswith("the batch")
            heat = torch.zeros_like(table) if plain else table
            panel.imshow(heat.numpy(), cmap="RdBu", vmin=-3.5, vmax=3.5, aspect="auto")
            for i, row in enumerate(table.tolist()):
                for j, value in enumerate(row):
                    text = f"{value:.0f}" if plain else f"{value:.2f}"
                    panel.text(j, i, text, ha="center", va="center", fontsize=9)
            panel.set_title(title, fontsize=10)
            panel.set_xticks([])
            panel.set_yticks(range(len(rows)), [f"token {i + 1}" for i in range(len(rows))])
    return plot
