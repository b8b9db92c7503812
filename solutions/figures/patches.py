"""The figure of the shuffled patches: what a ViT with and one without positions say to them."""

from pathlib import Path

import torch
from matplotlib.figure import Figure as Plot
from torch import Tensor, nn

from solutions.figures.figure import Figure
from solutions.studies.shuffled_patches import shuffle_patches

SIDE, SIZE = 4, 2  # patches along a side, pixels along a patch
MODELS = ("with positions", "without positions")


def orders(n_shuffle: int = 4) -> dict[str, Tensor]:
    """Return ways to lay 16 patches out again, from tidy to wild: name -> (16)."""
    tidy = torch.arange(SIDE * SIDE)
    grid = tidy.view(SIDE, SIDE)
    swapped = tidy.clone()
    swapped[[5, 10]] = tidy[[10, 5]]
    wild = torch.Generator().manual_seed(3)
    return {
        "as written": tidy,
        "two patches exchanged": swapped,
        "one step to the right": grid.roll(1, 1).flatten(),
        "upper and lower half exchanged": grid.roll(2, 0).flatten(),
        "first patch last": tidy.flip(0),
    } | {f"shuffle {i + 1}": torch.randperm(SIDE * SIDE, generator=wild) for i in range(n_shuffle)}


def patches(models: list[nn.Module], images: Tensor, labels: Tensor, n_shown: int = 5) -> Figure:
    """Show digits with their patches in other orders, and both models' answers.

    models: a trained ViT with positions and one without; images (B, 1, 8, 8), labels (B): test
    images. The first image of each of n_shown classes that the first model gets right is shown.
    """
    made = orders()
    with torch.no_grad():
        scores = {  # (B, 10) for every order and model
            name: [model(shuffle_patches(images, SIZE, order)) for model in models]
            for name, order in made.items()
        }
    sure = scores["as written"][0].argmax(-1) == labels
    shown = [int((sure & (labels == d)).nonzero()[0]) for d in (3, 4, 5, 2, 6)[:n_shown]]
    data = {
        "models": MODELS,
        "digits": [
            {"label": int(labels[i]), "pixels": torch.round(images[i, 0], decimals=2).tolist()}
            for i in shown
        ],
        "orders": [
            {
                "name": name,
                "order": order.tolist(),
                "right": [rounded((s.argmax(-1) == labels).float().mean()) for s in scores[name]],
                "answers": [[rounded(s[i].softmax(-1)) for s in scores[name]] for i in shown],
            }
            for name, order in made.items()
        ],
        "n_test": len(labels),
    }
    return Figure(
        Path(__file__).with_suffix(".js"),
        data=data,
        still=still_of(data),
        alt="A digit with its patches in several orders, and the share of right answers of a "
        "ViT with and one without positions.",
        height=430,
    )


def rounded(tensor: Tensor) -> list | float:
    return torch.round(tensor.double(), decimals=3).tolist()


def rearranged(pixels: list, order: list) -> Tensor:
    """Lay out one image's patches again: the picture of a page without a script."""
    return shuffle_patches(torch.tensor(pixels)[None, None], SIZE, torch.tensor(order))[0, 0]


def still_of(data: dict) -> Plot:
    """Draw one digit in every order, with the shares of right answers below."""
    plot = Plot(figsize=(1.25 * len(data["orders"]), 2.1), layout="constrained")
    for axes, made in zip(plot.subplots(1, len(data["orders"])), data["orders"], strict=True):
        picture = rearranged(data["digits"][0]["pixels"], made["order"])
        axes.imshow(picture.numpy(), cmap="Greys")
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_title(made["name"].replace(" half", "\nhalf"), fontsize=7, wrap=True)
        with_, without = (100 * share for share in made["right"])
        axes.set_xlabel(f"with {with_:.0f}% right\nwithout {without:.0f}%", fontsize=7)
    return plot
