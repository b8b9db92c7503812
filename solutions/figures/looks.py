"""The figure of the looks: where a translator looks for each word, and where it should."""

from pathlib import Path

import torch
from matplotlib.figure import Figure as Plot
from torch import nn

from solutions.data.tiny_french import Pair, encode
from solutions.figures.figure import Figure
from solutions.studies.translation import look


def looks(models: dict[str, nn.Module], pairs: list[Pair]) -> Figure:
    """Show the weights of several models on the same sentences, beside the true alignment."""
    data = {
        "models": list(models),
        "sentences": [
            {
                "french": pair.french,
                "english": pair.english,
                "truth": pair.source,
                "weights": [weights_of(model, pair) for model in models.values()],
            }
            for pair in pairs
        ],
    }
    return Figure(
        Path(__file__).with_suffix(".js"),
        data=data,
        still=still_of(data),
        alt="Attention weights of a translated sentence, one row for each English word, for every "
        "encoder; the largest weight and the true French word of each row are marked.",
        height=420,
    )


def weights_of(model: nn.Module, pair: Pair) -> list[list[float]]:
    """Return the weights with which a model writes the right translation, without its end."""
    source, target, _ = encode([pair])
    weights = look(model, source, target)[0, : len(pair.english)]
    return torch.round(weights, decimals=3).tolist()


def still_of(data: dict) -> Plot:
    """Draw the first sentence for every model: a cross on the maximum, a frame on the truth."""
    shown = data["sentences"][0]
    n_rows, n_columns = len(shown["english"]), len(shown["french"])
    plot = Plot(figsize=(0.45 * n_columns * len(data["models"]) + 2, 0.34 * n_rows + 1.6))
    for axes, name, weights in zip(
        plot.subplots(1, len(data["models"]), squeeze=False)[0],
        data["models"],
        shown["weights"],
        strict=True,
    ):
        axes.imshow(weights, cmap="Blues", vmin=0, vmax=1.2, aspect="auto")
        for row, (line, true) in enumerate(zip(weights, shown["truth"], strict=True)):
            axes.plot(line.index(max(line)), row, "x", color="black", markersize=6)
            axes.plot(true, row, "s", color="C1", markersize=13, fillstyle="none")
        axes.set_xticks(range(n_columns), shown["french"], rotation=70, fontsize=8)
        axes.set_yticks(range(n_rows), shown["english"], fontsize=8)
        axes.set_title(f"{name}\n(cross: largest weight, square: true word)", fontsize=8)
    plot.set_layout_engine("constrained")
    return plot
