"""multi_head: one, two, four and eight heads on scenes that ask two questions at once."""

from solutions.multi_head import MultiHeadAttention
from solutions.studies.lookup_model import PATIENT, RECIPE, train_lookup

SEEDS = (0, 1, 2)
HEADS = (1, 2, 4, 8)


def lookup(n_head: int, seed: int, patient: bool = False, hidden: int = 0) -> dict:
    """Train a lookup model and return its parameters."""
    recipe = PATIENT if patient else RECIPE
    return train_lookup(n_head, MultiHeadAttention, seed, recipe, hidden=hidden).state_dict()


RUNS = [
    (lookup, {"n_head": 1, "seed": 0, "patient": True}),
    (lookup, {"n_head": 1, "seed": 0, "patient": True, "hidden": 128}),
    (lookup, {"n_head": 1, "seed": 0, "hidden": 128}),
    *((lookup, {"n_head": n_head, "seed": seed}) for n_head in HEADS for seed in SEEDS),
]
