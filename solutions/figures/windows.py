"""The figure of the windows: which tokens may one token look at, in one block and after several?"""

from pathlib import Path

import torch
from matplotlib.figure import Figure as Plot
from torch import Tensor

from solutions.figures.figure import Figure

SIDE, SIZE, SHIFT = 8, 4, 2
KINDS = {
    "whole": "whole image",
    "stay": "windows that stay",
    "shift": "shifted windows, with mask",
    "leak": "shifted windows, mask forgotten",
}


def windows() -> Figure:
    """Show a grid of 8 x 8 tokens: choose a token and a kind of window, see what it looks at."""
    data = {"side": SIDE, "size": SIZE, "shift": SHIFT, "kinds": list(KINDS.items())}
    return Figure(
        Path(__file__).with_suffix(".js"),
        data=data,
        still=still_of((1, 4)),
        alt="The tokens that one token of an 8 x 8 grid may look at, for four kinds of windows.",
        height=400,
    )


def looked_at(kind: str, at: tuple[int, int]) -> Tensor:
    """Say which tokens the token at (row, column) looks at in one block: (8, 8) bool."""
    place = torch.arange(SIDE)

    def along(here: int) -> tuple[Tensor, Tensor]:
        shift = SHIFT if kind in ("shift", "leak") else 0
        rolled = (place - shift) % SIDE
        window = rolled // SIZE
        wrapped = rolled >= SIDE - shift
        return window == window[here], wrapped == wrapped[here]

    (near_row, kin_row), (near_column, kin_column) = along(at[0]), along(at[1])
    if kind == "whole":
        return torch.ones(SIDE, SIDE, dtype=torch.bool)
    seen = near_row[:, None] & near_column
    return seen & kin_row[:, None] & kin_column if kind == "shift" else seen


def still_of(at: tuple[int, int]) -> Plot:
    """Draw what one token looks at, for each kind of window."""
    plot = Plot(figsize=(9, 2.6), layout="constrained")
    for axes, (kind, name) in zip(plot.subplots(1, len(KINDS)), KINDS.items(), strict=True):
        seen = looked_at(kind, at)
        strange = seen & ~looked_at("shift" if kind == "leak" else kind, at)
        axes.imshow(seen.float() + 0.8 * strange, cmap="Blues", vmin=0, vmax=2.4)
        for row, column in strange.nonzero().tolist():
            axes.text(column, row, "×", ha="center", va="center", fontsize=8)
        axes.text(at[1], at[0], "●", ha="center", va="center", fontsize=9)
        offset = SHIFT if kind in ("shift", "leak") else 0
        for cut in range(offset, SIDE, SIZE if kind != "whole" else SIDE):
            axes.axhline(cut - 0.5, color="black", linewidth=1)
            axes.axvline(cut - 0.5, color="black", linewidth=1)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_title(f"{name.replace(', ', chr(10))}\n{int(seen.sum())} of 64", fontsize=8)
    return plot
