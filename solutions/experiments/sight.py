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
    """Train a "vit" or, for as long, a "cnn"; return how much it names rightly, steps, CPU seconds.

    The recipes were written down before the test pictures were looked at.
    """
    chosen = SIGHTS[key]
    (images, labels), test = fetch(chosen.data)
    draw = batches(chosen, images, labels)
    torch.manual_seed(seed)
    model, other = FastViT(**chosen.model), rival(chosen)
    if kind == "cnn":
        own = {"clock": time.process_time, "at_least": 2.0}
        ours, theirs = (seconds_a_step(one, chosen, draw, **own) for one in (model, other))
        model, chosen = other, equal_time(chosen, ours, theirs)
    start = time.process_time()
    recipe = replace(chosen.recipe, seed=seed)
    train(model, draw, recipe, mixed_cross_entropy, progress=False)
    seconds = time.process_time() - start
    return {"right": share_right(model, *test), "steps": recipe.steps, "seconds": seconds}


RUNS = [
    (sight, {"key": key, "kind": kind, "seed": seed})
    for key, seeds in SEEDS.items()
    for seed in seeds
    for kind in ("vit", "cnn")
]
