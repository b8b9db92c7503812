"""The figure of the lengths: every scheme past the length it was trained on, and where it looks."""

from pathlib import Path

from matplotlib.figure import Figure as Plot
from torch import Tensor

from solutions.figures.figure import Figure

MARKS = ("o", "s", "^", "D", "v", "x", "*")


def lengths(tasks: dict[str, dict], at: tuple[int, ...], trained: int) -> Figure:
    """Show accuracies and attention rows of several schemes against the length of the text.

    tasks: for each task's name a dict with "chance" (a share), "asks" (what the shown row belongs
    to), "places" (for each length the place that asks and the place to be found) and "schemes"
    (name -> result of an experiment: "accuracy" (seeds, lengths), "rows" (T,) for each length);
    at: the lengths; trained: the longest in training.
    """
    data = {
        "lengths": list(at),
        "trained": trained,
        "tasks": [{"name": name, **task_data(task)} for name, task in tasks.items()],
    }
    return Figure(
        Path(__file__).with_suffix(".js"),
        data=data,
        still=still_of(data),
        alt="Share of right answers of each position scheme against the length of the text, for "
        f"{' and '.join(tasks)}; trained up to {trained} tokens.",
        height=560,
    )


def task_data(task: dict) -> dict:
    """Make one task's results short enough for a page."""
    return {
        "chance": task["chance"],
        "asks": task["asks"],
        "places": [list(pair) for pair in task["places"]],
        "schemes": [
            {
                "name": name,
                "mean": rounded(found["accuracy"].mean(0)),
                "low": rounded(found["accuracy"].amin(0)),
                "high": rounded(found["accuracy"].amax(0)),
                "rows": [rounded(row) for row in found["rows"]],
            }
            for name, found in task["schemes"].items()
        ],
    }


def rounded(tensor: Tensor) -> list[float]:
    """Turn a tensor into numbers with three decimals."""
    return [round(x, 3) for x in tensor.tolist()]


def still_of(data: dict) -> Plot:
    """Draw a panel per task: a line per scheme with its range over the seeds."""
    plot = Plot(figsize=(9, 3.4), layout="constrained")
    panels = plot.subplots(1, len(data["tasks"]), sharey=True, squeeze=False)[0]
    for axes, task in zip(panels, data["tasks"], strict=True):
        axes.axvspan(data["lengths"][0], data["trained"], color="0.9", zorder=0)
        axes.axhline(task["chance"], color="black", linestyle=":", linewidth=1)
        for scheme, mark in zip(task["schemes"], MARKS, strict=False):
            (line,) = axes.plot(
                data["lengths"], scheme["mean"], marker=mark, markersize=4, label=scheme["name"]
            )
            axes.fill_between(
                data["lengths"], scheme["low"], scheme["high"], color=line.get_color(), alpha=0.2
            )
        axes.set(title=task["name"], xlabel="length of the text", ylim=(0, 1.03))
        axes.title.set_fontsize(10)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("share of right answers")
    handles, names = panels[0].get_legend_handles_labels()
    plot.legend(handles, names, ncols=6, fontsize=8, loc="outside lower center", frameon=False)
    return plot
