"""Train any model of the course: the door to solutions/training."""

from solutions.training.loop import (
    History,
    Recipe,
    cross_entropy,
    half_type,
    make_optimiser,
    n_learned,
    pick_device,
    rate_at,
    train,
)

__all__ = [
    "History",
    "Recipe",
    "cross_entropy",
    "half_type",
    "make_optimiser",
    "n_learned",
    "pick_device",
    "rate_at",
    "train",
]
