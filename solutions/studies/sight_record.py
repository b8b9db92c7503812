"""What to expect of your ViT, said before it is trained: measured here, or quoted, or no number.

`make fashion` measures anew. The record names the recipe and the models it was measured with, and
a test holds them against the code.
"""

import json
from dataclasses import asdict
from datetime import date
from pathlib import Path

import torch

from solutions.experiments import kept
from solutions.experiments.sight import SEEDS, sight
from solutions.studies.sight import SIGHTS, Sight, rival
from solutions.vit import ViT

RECORD = Path(__file__).with_suffix(".json")
QUOTED = {
    "cifar10 large": "No run of this recipe is on record, so there is no band. A published ViT of "
    "these sizes, with crops and flips but nothing pasted, reached about 75% after 180 rounds "
    "(Lippe, UvA Deep Learning Tutorials); ours goes some 51 rounds. Ordinary CNNs: around 90%."
}


def read_record() -> dict:
    """Read what was measured: for "fashion small" and "fashion large" see `conditions`.

    Beside them: "when", "torch" and for "vit" and "cnn" a list over seeds of "right" (the share of
    right test answers at the end), "steps" and "seconds" (CPU time of one core).
    """
    return json.loads(RECORD.read_text())


def conditions() -> dict:
    """Return what a record must have been measured with to be that of this code."""
    found = {}
    for key, seeds in SEEDS.items():
        told = asdict(SIGHTS[key])
        models = {"vit": ViT(**SIGHTS[key].model), "cnn": rival(SIGHTS[key])}
        sizes = {kind: sum(p.numel() for p in model.parameters()) for kind, model in models.items()}
        found[key] = {**told, "parameters": sizes, "seeds": list(seeds)}
    return found


def measure() -> dict:
    """Collect the outcomes, training what has not been trained."""
    found = conditions()
    for key, seeds in SEEDS.items():
        found[key] |= {"when": str(date.today()), "torch": torch.__version__.partition("+")[0]}
        for kind in ("vit", "cnn"):
            runs = [kept(sight, key=key, kind=kind, seed=seed) for seed in seeds]
            found[key][kind] = {
                "right": [round(run["right"], 4) for run in runs],
                "steps": [run["steps"] for run in runs],
                "seconds": [round(run["seconds"]) for run in runs],
            }
    return found


def band(chosen: Sight) -> tuple[float, float] | None:
    """Return the lowest and the highest share of right answers to expect, or None.

    It is the range over the seeds, widened by two standard errors of a share of 10,000 pictures.
    """
    if chosen.key not in SEEDS:
        return None
    right = read_record()[chosen.key]["vit"]["right"]
    mean = sum(right) / len(right)
    error = (mean * (1 - mean) / 10_000) ** 0.5
    return min(right) - 2 * error, max(right) + 2 * error


def promise(chosen: Sight) -> str:
    """Say what to expect of a recipe, and where that is known from."""
    expected = band(chosen)
    if expected is None:
        return QUOTED.get(chosen.key, "No number is promised: this recipe was not measured.")
    told = read_record()[chosen.key]
    right = told["vit"]["right"]
    low, high = (100 * share for share in expected)
    n = len(right)
    seeds = "one seed" if n == 1 else f"{n} seeds: {', '.join(f'{100 * x:.1f}%' for x in right)}"
    cnn = ", ".join(f"{100 * share:.1f}%" for share in told["cnn"]["right"])
    return (
        f"Expect {low:.1f} to {high:.1f}% of 10,000 test pictures right. This recipe was measured "
        f"on {told['when']} with {seeds}; the band is their range and two standard errors on "
        f"either side. The CNN of equal size and time had {cnn}."
    )


def beside(chosen: Sight, right: float) -> str:
    """Put an outcome beside what was promised."""
    expected = band(chosen)
    if expected is None:
        return f"{100 * right:.1f}% right (nothing was promised)"
    low, high = expected
    where = "below" if right < low else "above" if right > high else "within"
    return (
        f"{100 * right:.1f}% right, {where} what was promised, {100 * low:.1f} to {100 * high:.1f}%"
    )


if __name__ == "__main__":
    RECORD.write_text(json.dumps(measure(), indent=1) + "\n")
    print(f"Written: {RECORD.name}")
