"""What to expect of the recipes in `solutions/studies/sight.py`: they are run here, on one core.

It needs Fashion-MNIST and half an hour, so it runs only when asked for: `make fashion` trains and
writes the outcomes down (`solutions/studies/sight_record.py`); the notebook reads what is written.
"""

import time
from dataclasses import replace

import torch

from solutions.data.augment import mixed_cross_entropy
from solutions.fast_vit import FastViT
from solutions.studies.sight import (
    SIGHTS,
    batches,
    equal_time,
    fetch,
    rival,
    seconds_a_step,
    share_right,
)
from solutions.train import train

ON_DEMAND = True
SEEDS = {"fashion small": (0, 1, 2), "fashion large": (0,)}  # the large one takes five minutes


def sight(key: str, kind: str, seed: int) -> dict:
    """Train a "vit" or, for as long, a "cnn"; return the curve on the test, steps and CPU seconds.

    The recipes were written down before the test pictures were looked at.
    """
    chosen = SIGHTS[key]
    (images, labels), test = fetch(chosen.data)
    draw = batches(chosen, images, labels)
    torch.manual_seed(seed)
    model, other = FastViT(**chosen.model), rival(chosen)
    if kind == "cnn":
        ours, theirs = (seconds_a_step(one, chosen, draw) for one in (model, other))
        model, chosen = other, equal_time(chosen, ours, theirs)
    start = time.process_time()
    history = train(
        model,
        draw,
        replace(chosen.recipe, seed=seed),
        mixed_cross_entropy,
        evaluate=lambda model: {"right": share_right(model, *test)},
        progress=False,
    )
    seconds = time.process_time() - start
    return {"scores": history.scores, "steps": chosen.recipe.steps, "seconds": seconds}


RUNS = [
    (sight, {"key": key, "kind": kind, "seed": seed})
    for key, seeds in SEEDS.items()
    for seed in seeds
    for kind in ("vit", "cnn")
]
