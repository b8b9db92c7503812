"""alignment: translators with a state for every word and with a single vector, one way and both."""

from collections.abc import Callable
from functools import cache

import torch

from solutions.alignment import Seq2Seq
from solutions.data.tiny_french import ENGLISH, FRENCH, MAX_WORDS, draw_pairs
from solutions.studies.translation import batches, translation_loss
from solutions.train import Recipe, train

SEEDS = (0, 1)  # for attention; the single vector is so far below that one is enough
N_PAIRS = 10_000
STEPS = 900
COMPARED = 700  # one direction beside both: the one is still learning what the other knows
LONGER = STEPS * 4 // 3  # for one direction alone, and for the wide single vector
SHORT = 12  # the longest sentence in training, where longer ones are kept for the test
# The single vector has no use for the scoring matrices: its states are wider by as much.
ATTENTION, SINGLE, WIDE = 72, 78, 144


def build(n_hidden: int, bidirectional: bool = True, attend: bool = True) -> Seq2Seq:
    """Make a translator for tiny_french, not yet trained."""
    return Seq2Seq(len(FRENCH), len(ENGLISH), 64, n_hidden, bidirectional, attend)


def used_parameters(model: Seq2Seq) -> int:
    """Count the parameters that can make a difference: with one place to look at, no scores do."""
    scoring = [model.decoder.query.weight, model.decoder.key.weight, model.decoder.v]
    unused = 0 if model.attend else sum(p.numel() for p in scoring)
    return sum(p.numel() for p in model.parameters()) - unused


@cache
def training(longest: int) -> Callable:
    """Return a function that draws batches of pairs of up to `longest` words."""
    return batches(draw_pairs(N_PAIRS, longest=longest))


def translator(
    seed: int,
    n_hidden: int,
    bidirectional: bool = True,
    attend: bool = True,
    steps: int = STEPS,
    longest: int = MAX_WORDS,
) -> dict:
    """Train a translator on pairs of up to `longest` words and return its parameters."""
    torch.manual_seed(seed)
    model = build(n_hidden, bidirectional, attend)
    recipe = Recipe(steps=steps, batch=32, lr=9e-3, warmup=80, weight_decay=0.05, seed=seed)
    train(model, training(longest), recipe, translation_loss, progress=False)
    return model.state_dict()


ONE_WAY = {"n_hidden": ATTENTION, "bidirectional": False}
NO_LOOK = {"n_hidden": SINGLE, "attend": False}
RUNS = [
    (translator, {"seed": 0, "n_hidden": WIDE, "attend": False, "steps": LONGER}),
    *((translator, {"seed": seed, "n_hidden": ATTENTION}) for seed in SEEDS),
    (translator, {"seed": 0, **NO_LOOK}),
    (translator, {"seed": 0, **ONE_WAY, "steps": LONGER}),
    (translator, {"seed": 0, "n_hidden": ATTENTION, "steps": COMPARED}),
    (translator, {"seed": 0, **ONE_WAY, "steps": COMPARED}),
    (translator, {"seed": 0, "n_hidden": ATTENTION, "longest": SHORT}),
    (translator, {"seed": 0, **NO_LOOK, "longest": SHORT}),
]
