"""The figure of the completions: keep the top of a digit, see what a model draws below it."""

from pathlib import Path

import torch
from matplotlib.figure import Figure as Plot
from torch import Tensor

from solutions.figures.figure import Figure


def completions(drawn: dict, palette: Tensor, rows: tuple[int, ...]) -> Figure:
    """Show digits, several completions of each, and the bits that every pixel costs.

    drawn: "labels" (N), "truth" and "truth bits" (N, 8, 8), "made" and "made bits"
    (len(rows), N, samples, 8, 8); palette (K, 1); rows: how many top rows were kept.
    """
    data = {
        "greys": rounded(palette.flatten()),
        "rows": list(rows),
        "digits": [
            {
                "label": int(label),
                "truth": {"pixels": text_of(image), "bits": rounded(bits)},
                "made": [
                    [
                        {"pixels": text_of(one), "bits": rounded(cost)}
                        for one, cost in zip(some, costs, strict=True)
                    ]
                    for some, costs in zip(
                        drawn["made"][:, i], drawn["made bits"][:, i], strict=True
                    )
                ],
            }
            for i, (label, image, bits) in enumerate(
                zip(drawn["labels"], drawn["truth"], drawn["truth bits"], strict=True)
            )
        ],
    }
    return Figure(
        Path(__file__).with_suffix(".js"),
        data=data,
        still=still_of(data),
        alt="Handwritten digits whose lower half is erased, several completions drawn by a model, "
        "and the bits that every pixel of an image costs.",
        height=480,
    )


def text_of(image: Tensor) -> str:
    """Write an image of at most ten colours as one figure for each pixel."""
    return "".join(map(str, image.flatten().tolist()))


def rounded(tensor: Tensor) -> list[float]:
    return torch.round(tensor.double().flatten(), decimals=2).tolist()


def picture(data: dict, pixels: str) -> Tensor:
    return torch.tensor([data["greys"][int(c)] for c in pixels]).view(8, 8)


def still_of(data: dict) -> Plot:
    """Draw a row for each of three digits: the true image, four completions, the true bits."""
    plot = Plot(figsize=(8, 4.2), layout="constrained")
    half = data["rows"].index(4)
    for line, digit in zip(plot.subplots(3, 6), data["digits"], strict=False):
        shown = [digit["truth"], *digit["made"][half][:4]]
        for axes, image in zip(line, shown, strict=False):
            axes.imshow(picture(data, image["pixels"]).numpy(), cmap="Greys", vmin=0, vmax=1)
        for axes in line[1:5]:
            axes.axhline(3.5, color="C1", linewidth=1)
        bits = torch.tensor(digit["truth"]["bits"]).view(8, 8).numpy()
        line[5].imshow(bits, cmap="Oranges", vmin=0)
        for axes, name in zip(
            line, ["true", *(f"drawn {i}" for i in range(1, 5)), "bits"], strict=True
        ):
            axes.set(xticks=[], yticks=[])
            axes.set_title(name, fontsize=8)
    return plot
