"""The curves of Fashion-MNIST as they were measured, for readers and machines without its images.

`make fashion` measures them anew. The record names the recipe and the models it was measured with,
and a test holds them against the code.
"""

import json
from dataclasses import asdict
from pathlib import Path

import torch

from solutions.experiments import kept
from solutions.experiments.fashion import IMAGES, KINDS, RECIPE, build, fashion

RECORD = Path(__file__).with_suffix(".json")


def read_record() -> dict:
    """Read what was measured: see `conditions`, and "curves": {kind: {images: curve}}.

    A curve has "step", "right" (the share of right test answers) and "seconds" (of CPU time).
    """
    return json.loads(RECORD.read_text())


def conditions() -> dict:
    """Return what a record must have been measured with to be that of this code."""
    sizes = {kind: sum(p.numel() for p in build(kind).parameters()) for kind in KINDS}
    return {"recipe": asdict(RECIPE), "parameters": sizes, "images": list(IMAGES)}


def measure() -> dict:
    """Collect the curves, training what has not been trained."""
    return {
        **conditions(),
        "torch": torch.__version__.partition("+")[0],
        "curves": {kind: {str(n): curve(kind, n) for n in IMAGES} for kind in KINDS},
    }


def curve(kind: str, n: int) -> dict:
    found = kept(fashion, kind=kind, n=n)
    return {
        "step": [score["step"] for score in found["scores"]],
        "right": [round(score["right"], 4) for score in found["scores"]],
        "seconds": round(found["seconds"]),
    }


if __name__ == "__main__":
    RECORD.write_text(json.dumps(measure(), indent=1) + "\n")
    print(f"Written: {RECORD.name}")
