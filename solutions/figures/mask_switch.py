"""The figure of the mask: the training loss with and without it, and what each model writes."""

from pathlib import Path

from matplotlib.figure import Figure as Plot

from solutions.data.tiny_french import Pair
from solutions.figures.figure import Figure

NAMES = {"with": "with the mask", "without": "without the mask"}


def mask_switch(runs: dict[str, dict], pairs: list[Pair]) -> Figure:
    """Show two trainings of one model, "with" and "without", as `translator` recorded them."""
    data = {
        "names": NAMES,
        "sentences": [
            {"french": " ".join(pair.french), "english": list(pair.english)} for pair in pairs
        ],
        "runs": {name: run_data(runs[name]) for name in NAMES},
    }
    return Figure(
        Path(__file__).with_suffix(".js"),
        data=data,
        still=still_of(data),
        alt="Training loss with and without the causal mask, and the share of sentences that each "
        "model writes right: without the mask the loss falls faster and nothing is right.",
        height=430,
    )


def run_data(run: dict) -> dict:
    """Thin the losses out to means of five steps, and take the notes over."""
    means = [[i + 5, sum(run["loss"][i : i + 5]) / 5] for i in range(0, len(run["loss"]), 5)]
    notes = [
        {"step": n["step"], "right": round(n["right"], 4), "written": n["written"]}
        for n in run["notes"]
    ]
    return {"loss": [[step, round(mean, 5)] for step, mean in means], "notes": notes}


def still_of(data: dict) -> Plot:
    """Draw both losses and both shares of right sentences."""
    plot = Plot(figsize=(8, 2.8), layout="constrained")
    left, right = plot.subplots(1, 2)
    for (name, run), style in zip(data["runs"].items(), ("-", "--"), strict=True):
        left.plot(*zip(*run["loss"], strict=True), style, label=data["names"][name])
        steps = [note["step"] for note in run["notes"]]
        right.plot(steps, [100 * note["right"] for note in run["notes"]], style, marker="o")
    left.set(yscale="log", xlabel="step", ylabel="training loss")
    left.legend(fontsize=8)
    right.set(xlabel="step", ylabel="sentences written right, %", ylim=(-3, 103))
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    return plot
