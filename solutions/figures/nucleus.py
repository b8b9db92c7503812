"""The figure of the cut tail: temperature, top-k and top-p at work on a model's next word."""

from pathlib import Path

import torch
from matplotlib.figure import Figure as Plot
from torch import nn

from solutions.data.tiny_tales import IDS, START, WORDS, next_word_odds
from solutions.figures.figure import Figure

BEGINNINGS = (
    "once mia the fox lived by the mill . she had a friend called",
    "once tom the badger lived by the lake . mia the toad lived there too . one night tom found a",
    "once zoe the fox lived by the tower .",
    "once ben the mouse lived by the",
)
SHOWN = 14  # bars; the other words share one


def nucleus(model: nn.Module, beginnings: tuple[str, ...] = BEGINNINGS) -> Figure:
    """Show a model's next word after several beginnings, with a slider for each way to cut."""
    data = {"words": WORDS, "shown": SHOWN, "places": [place_of(model, b) for b in beginnings]}
    return Figure(
        Path(__file__).with_suffix(".js"),
        data=data,
        still=still_of(data),
        alt="The probabilities of the next word at three temperatures, the cut words hatched.",
        height=560,
    )


@torch.no_grad()
def place_of(model: nn.Module, beginning: str) -> dict:
    """Collect the model's scores of all words after a beginning, and the grammar's exact odds."""
    words = beginning.split()
    ids = torch.tensor([[IDS[START], *(IDS[word] for word in words)]])
    scores = model(ids)[0, -1].double().log_softmax(-1)
    odds = next_word_odds(words)[len(words)]
    return {
        "text": beginning,
        "scores": [round(s, 3) for s in scores.tolist()],
        "odds": [round(odds.get(word, 0.0), 4) for word in WORDS],
    }


def still_of(data: dict) -> Plot:
    """Draw the first place at three temperatures, cut at p = 0.9."""
    plot = Plot(figsize=(9, 3), layout="constrained")
    scores = torch.tensor(data["places"][0]["scores"])
    for axes, temperature in zip(plot.subplots(1, 3, sharey=True), (0.5, 1.0, 1.6), strict=True):
        p, ids = (scores / temperature).softmax(-1).sort(descending=True)
        kept = (p.cumsum(-1) - p < 0.9).tolist()[: data["shown"]]
        bars = axes.bar(range(data["shown"]), p[: data["shown"]].tolist(), edgecolor="C0")
        for bar, keep in zip(bars, kept, strict=True):
            bar.set(facecolor="C0" if keep else "white", hatch="" if keep else "///")
        names = [data["words"][i] for i in ids.tolist()[: data["shown"]]]
        axes.set_xticks(range(data["shown"]), names, rotation=90, fontsize=7)
        axes.set_title(f"temperature {temperature}, p = 0.9", fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
    return plot
