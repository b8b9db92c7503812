"""Say beforehand how long a training will take, and afterwards how it went."""

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import nn

from solutions.training.live_curve import clock
from solutions.training.loop import Batch, History, Recipe, n_learned, train

T4 = 65e12  # operations per second in half precision, as NVIDIA's data sheet has it


@dataclass(frozen=True)
class Forecast:
    """What is expected of a training; the loss only where such a run is known."""

    seconds: float
    speed: float  # tokens or examples learned per second
    unit: str
    loss: float | None = None
    source: str = ""  # where the loss is from

    def __str__(self) -> str:
        said = f"{clock(self.seconds)} at {self.speed:,.0f} {self.unit}/s, measured for a second"
        if self.loss is None:
            return f"predicted: {said};\n  no loss, since no such run is known"
        return f"predicted: {said};\n  a validation loss of {self.loss:.2f} ({self.source})"

    def beside(self, history: History, loss: float) -> str:
        """Put the outcome beside what was expected."""
        expected = "none" if self.loss is None else f"{self.loss:.2f}"
        how = f"stopped at step {len(history.loss):,}" if history.interrupted else "whole run"
        rows = [
            ("", "predicted", "came"),
            ("validation loss", expected, f"{loss:.2f}"),
            ("time", clock(self.seconds), f"{clock(history.seconds)} ({how})"),
        ]
        return "\n".join(
            f"{name:<16} {before:<12} {after}".rstrip() for name, before, after in rows
        )


def forecast(
    model: nn.Module,
    batches: Callable,
    recipe: Recipe,
    loss: Callable,
    evaluate: Callable | None = None,
    measured: float = 1.0,
) -> Forecast:
    """Train a copy of the model for about a second, evaluate it once, and reckon from there.

    The arguments are those of `train`. What a GPU does in its first steps is slower than all that
    follows, so these are not counted.
    """
    trial = copy.deepcopy(model)
    few = replace(recipe, steps=3, evaluate_every=0, lowest="")
    train(trial, batches, few, loss, progress=False)
    steps, spent = 2, 0.0
    while spent < measured and steps <= max(2, recipe.steps):
        steps *= 2
        begun = time.perf_counter()
        train(trial, batches, replace(few, steps=steps), loss, progress=False)
        spent = time.perf_counter() - begun
    each = spent / steps
    looks = -(-recipe.steps // recipe.evaluate_every) if recipe.evaluate_every else 1
    begun = time.perf_counter()
    if evaluate is not None:
        evaluate(trial.eval())
    look = time.perf_counter() - begun
    n, unit = n_learned(drawn(batches, recipe))
    return Forecast(recipe.steps * each + looks * look, n / each, unit)


def drawn(batches: Callable, recipe: Recipe) -> Batch:
    """Draw one batch, to count what is in it."""
    return batches(recipe.batch, torch.Generator().manual_seed(0))


def gpt_operations(n_parameter: int, n_layer: int, n_embd: int, context: int, tokens: int) -> float:
    """Count the multiplications and additions of training a GPT on so many tokens.

    Every parameter takes part in one of each for a token forwards, and in twice as many backwards:
    6; attention compares and mixes `context` tokens in every layer: 12 L C T more.
    """
    return float(tokens) * (6 * n_parameter + 12 * n_layer * n_embd * context)
