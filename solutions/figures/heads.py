"""The figure of the heads: where each one looks, and what is lost when it is switched off."""

from itertools import product
from pathlib import Path

import torch
from matplotlib.figure import Figure as Plot
from torch import Tensor

from solutions.data.lookup import COLOURS, OBJECTS, OWNERS, draw_scenes, guess_rates
from solutions.figures.figure import Figure
from solutions.studies.lookup_model import LookupModel, accuracy, head_weights, without_heads


def heads(models: list[LookupModel], n_test: int = 4000, n_shown: int = 6) -> Figure:
    """Show trained models of different n_head at work, with a switch for every head."""
    test = draw_scenes(n_test, torch.Generator().manual_seed(1))
    shown = telling_scenes(n_shown, torch.Generator().manual_seed(2))
    data = {
        "colours": COLOURS,
        "owners": OWNERS,
        "chance": guess_rates()["any name"],
        "n_test": n_test,
        "scenes": [scene_data(facts, question) for facts, question, _ in zip(*shown, strict=True)],
        "models": [model_data(model, shown, test) for model in models],
    }
    return Figure(
        Path(__file__).with_suffix(".js"),
        data=data,
        still=still_of(data),
        alt="Share of right colours and right owners, by number of heads and by head switched off.",
        height=400,
    )


def telling_scenes(n: int, generator: torch.Generator) -> tuple[Tensor, ...]:
    """Draw scenes whose two asked facts differ in colour and in owner, so that a mix-up shows."""
    scenes = draw_scenes(50 * n, generator)
    facts, question, _ = scenes
    first, second = (facts[facts[:, :, 0] == question[:, [i]]] for i in (0, 1))  # (B, 3) each
    telling = (first != second).all(-1)
    return tuple(tensor[telling][:n] for tensor in scenes)


def scene_data(facts: Tensor, question: Tensor) -> dict:
    """Name one scene's facts, and say which fact holds the colour and which the owner."""
    names = [
        {"object": OBJECTS[k], "colour": COLOURS[c], "owner": OWNERS[o]}
        for k, c, o in facts.tolist()
    ]
    places = [facts[:, 0].tolist().index(asked) for asked in question.tolist()]
    return {"facts": names, "colour": places[0], "owner": places[1]}


def model_data(model: LookupModel, shown: tuple[Tensor, ...], test: tuple[Tensor, ...]) -> dict:
    """Collect a model's attention, what each head adds to the scores, and every accuracy.

    `out` and the read-out are linear: the scores are a start ("base", no head on) plus one
    part per head, so the page can add up any choice of heads itself.
    """
    facts, question, _ = shown
    everyone = set(range(model.n_head))

    def scores(on: set[int]) -> Tensor:
        with torch.no_grad():
            return torch.cat(without_heads(model, everyone - on)(facts, question), dim=-1)

    base = scores(set())
    parts = torch.stack([scores({head}) - base for head in everyone], dim=1)  # (B, H, scores)
    subsets = product([False, True], repeat=model.n_head)  # the last head changes fastest
    return {
        "n_head": model.n_head,
        "weights": rounded(head_weights(model, facts, question)),
        "base": rounded(base[0]),
        "parts": rounded(parts),
        "accuracy": {
            "".join("01"[on] for on in subset): accuracy(
                without_heads(model, [h for h in everyone if not subset[h]]), test
            )
            for subset in subsets
        },
    }


def rounded(tensor: Tensor) -> list:
    """Turn a tensor into lists of numbers short enough for a page."""
    return torch.round(tensor, decimals=3).tolist()


def still_of(data: dict) -> Plot:
    """Draw both accuracies for every model as trained and with any one head off."""
    bars = {}
    for model in data["models"]:
        n_head, rates = model["n_head"], model["accuracy"]
        bars[f"{n_head} head{'s' * (n_head > 1)}"] = rates["1" * n_head]
        for head in range(n_head if n_head > 1 else 0):
            off = "".join("01"[h != head] for h in range(n_head))
            bars[f"{n_head} heads,\nno. {head + 1} off"] = rates[off]
    plot = Plot(figsize=(max(5, 1.1 * len(bars)), 2.8))
    axes = plot.subplots()
    for i, (relation, hatch) in enumerate({"colour": "", "owner": "//"}.items()):
        places = [x + 0.4 * i - 0.2 for x in range(len(bars))]
        heights = [rates[relation] for rates in bars.values()]
        axes.bar(places, heights, 0.36, label=f"{relation} right", hatch=hatch, edgecolor="white")
        axes.axhline(data["chance"][relation], color=f"C{i}", linestyle=":", linewidth=1)
    axes.set_xticks(range(len(bars)), bars, fontsize=8)
    axes.set_ylabel("share of scenes")
    axes.legend(fontsize=8, loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False)
    axes.set_title("dotted lines: guessing", fontsize=8, loc="right")
    axes.spines[["top", "right"]].set_visible(False)
    return plot
