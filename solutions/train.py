"""Train any model of the course: one loop, one recipe, one curve."""

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from tqdm.auto import tqdm

Batch = tuple[Tensor, ...]


@dataclass(frozen=True)
class Recipe:
    """Hold every number that decides a training run; `dataclasses.asdict` makes it JSON."""

    steps: int = 500
    batch: int = 64
    lr: float = 3e-3  # the highest rate, reached after the warm-up
    warmup: int = 50
    weight_decay: float = 0.0
    beta2: float = 0.98
    clip: float = 1.0  # the longest gradient let through; 0 switches clipping off
    seed: int = 0
    evaluate_every: int = 0  # 0: evaluate once, after the last step


@dataclass
class History:
    """Record a run: the loss of every step, what `evaluate` said and when, the seconds."""

    loss: list[float] = field(default_factory=list)
    scores: list[dict[str, float]] = field(default_factory=list)  # each has its "step"
    seconds: float = 0.0
    interrupted: bool = False


def pick_device() -> torch.device:
    """Choose a GPU where there is one, else the CPU."""
    gpus = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    return torch.device(next((name for name, there in gpus.items() if there), "cpu"))


def rate_at(step: int, recipe: Recipe) -> float:
    """Give the learning rate of a step: a straight warm-up, then a cosine towards 0."""
    if step < recipe.warmup:
        return recipe.lr * (step + 1) / recipe.warmup
    done = (step - recipe.warmup) / max(1, recipe.steps - recipe.warmup)
    return recipe.lr * 0.5 * (1 + math.cos(math.pi * done))


def cross_entropy(model: nn.Module, batch: Batch) -> Tensor:
    """Compare model(inputs) (..., V) with the target ids (...), the last tensor of the batch."""
    *inputs, target = batch
    return F.cross_entropy(model(*inputs).flatten(0, -2), target.flatten())


def train(
    model: nn.Module,
    batches: Callable[[int, torch.Generator], Batch],
    recipe: Recipe,
    loss: Callable[[nn.Module, Batch], Tensor] = cross_entropy,
    evaluate: Callable[[nn.Module], dict[str, float]] | None = None,
    progress: bool = True,
) -> History:
    """Fit a model with AdamW on the device it lives on; Ctrl-C keeps what has been learned.

    `batches(n, generator)` draws n examples as a tuple of tensors, `loss(model, batch)` is the
    number to lower, `evaluate(model)` returns named scores; it runs without dropout or gradients.
    """
    device = next(model.parameters()).device
    generator = torch.Generator().manual_seed(recipe.seed)
    torch.manual_seed(recipe.seed)  # dropout draws from the global generator
    # Decay pulls weights towards 0; gains and biases (one axis) have no reason to be small.
    parameters = list(model.parameters())
    decayed = {"params": [p for p in parameters if p.ndim > 1]}
    spared = {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0}
    optimiser = torch.optim.AdamW(
        [decayed, spared],
        betas=(0.9, recipe.beta2),
        weight_decay=recipe.weight_decay,
        fused=True,  # one kernel for all parameters: small models gain most
    )
    watched = progress and (sys.stderr.isatty() or "ipykernel" in sys.modules)
    quiet = {} if watched else {"disable": True}  # never False: it would overrule TQDM_DISABLE
    bar = tqdm(range(recipe.steps), leave=False, **quiet)
    history, start = History(), time.perf_counter()
    try:
        for step in bar:
            model.train()
            for group in optimiser.param_groups:
                group["lr"] = rate_at(step, recipe)
            value = loss(model, tuple(x.to(device) for x in batches(recipe.batch, generator)))
            history.loss.append(value.item())
            if not math.isfinite(history.loss[-1]):
                raise FloatingPointError(f"train: loss {value.item()} at step {step}; lower lr?")
            optimiser.zero_grad()
            value.backward()
            if recipe.clip:
                nn.utils.clip_grad_norm_(parameters, recipe.clip)
            optimiser.step()
            bar.set_postfix(loss=f"{history.loss[-1]:.3f}", refresh=False)
            due = recipe.evaluate_every and (step + 1) % recipe.evaluate_every == 0
            if due and step + 1 < recipe.steps:
                _evaluate(model, evaluate, history)
    except KeyboardInterrupt:
        bar.close()
        history.interrupted = True
    _evaluate(model, evaluate, history)
    history.seconds = time.perf_counter() - start
    return history


def _evaluate(model: nn.Module, evaluate: Callable | None, history: History) -> None:
    """Add the scores of this moment to the history, and leave the model in eval mode."""
    model.eval()
    if evaluate is not None:
        with torch.no_grad():
            history.scores.append({"step": len(history.loss), **evaluate(model)})
