"""Train any model of the course: one loop, one recipe, one curve."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from solutions.training.best_weights import Best
from solutions.training.between_steps import Moment, held_back
from solutions.training.checkpoint import Checkpoint
from solutions.training.live_curve import LiveCurve, clock, progress_bar

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
    lowest: str = ""  # keep the weights of the evaluation at which this score was lowest


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
    keep: Path | str | None = None,
    live: bool = False,
) -> History:
    """Fit a model with AdamW on the device it lives on; Ctrl-C keeps what has been learned.

    `batches(n, generator)` draws n examples as a tuple of tensors, `loss(model, batch)` is the
    number to lower, `evaluate(model)` returns named scores; it runs without dropout or gradients.
    A text among the scores, such as a sample, is shown and kept with them.
    A run that is cut short, by Ctrl-C or a loss that is no number, leaves the weights at which
    `recipe.lowest`, or else the first score with "loss" in its name (or called "validation"), was
    lowest; with no such score, those of the last step. `keep` names a safetensors file: written at
    each evaluation and when stopped, taken up when it is there and belongs to the same recipe.
    `live` shows the curve, the texts and the time left. On a GPU it computes in half precision.
    """
    parameters = list(model.parameters())
    device = parameters[0].device
    generator = torch.Generator().manual_seed(recipe.seed)
    torch.manual_seed(recipe.seed)  # dropout draws from the global generator
    optimiser = make_optimiser(model, recipe)
    half, scaler = precision(device)
    history, best, moment = History(), Best(recipe.lowest), Moment(model, generator)
    kept = Checkpoint(keep, recipe, model, optimiser, scaler, moment, best)
    kept.take_up(history)
    curve, start = LiveCurve() if live else None, time.perf_counter() - history.seconds
    bar = progress_bar(range(len(history.loss), recipe.steps), progress, live)
    learned, seconds = 0, 0.0  # of the steps alone: evaluating and drawing take their own time
    speed, session, begun_at = "", time.perf_counter(), len(history.loss)

    def due() -> bool:
        done, every = len(history.loss), recipe.evaluate_every
        return done > 0 and every > 0 and done % every == 0

    def status() -> str:
        """Say where we are, how fast we go and how long it will take, evaluations included."""
        done, spent = len(history.loss), time.perf_counter() - session
        where = f"step {done:,} of {recipe.steps:,}, {speed}"
        if done == recipe.steps or history.interrupted:
            return f"{where}, {'stopped' if history.interrupted else 'done'} after {clock(spent)}"
        left = (recipe.steps - done) * spent / max(1, done - begun_at)
        return f"{where}, {clock(left)} left"

    def write() -> None:
        """Put on disk where we are."""
        history.seconds = time.perf_counter() - start
        kept.write(history)

    def look() -> None:
        """Evaluate, if that has not been done, and write."""
        if not history.scores or history.scores[-1]["step"] < len(history.loss):
            _evaluate(model, evaluate, history)
            if due():  # if not, it was done for Ctrl-C alone: what it drew does not count
                moment.note()
        best.see(model, history.scores)
        write()

    try:
        for step in bar:
            begun = time.perf_counter()
            if not model.training:
                model.train()
            for group in optimiser.param_groups:
                group["lr"] = rate_at(step, recipe)
            batch = tuple(x.to(device) for x in batches(recipe.batch, generator))
            with half:
                value = loss(model, batch)
            number = value.item()
            if not math.isfinite(number):
                raise FloatingPointError(f"train: loss {number} at step {step}; lower lr?")
            optimiser.zero_grad()
            scaler.scale(value).backward()
            if recipe.clip:
                scaler.unscale_(optimiser)
                nn.utils.clip_grad_norm_(parameters, recipe.clip)
            with held_back():  # weights, curve and dice move on together
                scaler.step(optimiser)
                scaler.update()
                history.loss.append(number)
                moment.note()
            n, unit = n_learned(batch)
            learned, seconds = learned + n, seconds + time.perf_counter() - begun
            speed = f"{learned / seconds:,.0f} {unit}/s"
            bar.set_postfix_str(f"loss {number:.3f}, {speed}", refresh=False)
            if curve:
                curve.draw(history.loss, history.scores, status())
            if due() and step + 1 < recipe.steps:
                look()
        look()
    except KeyboardInterrupt:
        bar.close()
        history.interrupted = True
        with held_back():  # who is in a hurry presses Ctrl-C again
            moment.put_back()  # an unfinished step was never begun
            write()
        look()
    except FloatingPointError:
        best.give_back(model)
        raise
    if recipe.lowest or history.interrupted:
        best.give_back(model)
    if curve:
        curve.draw(history.loss, history.scores, status(), now=True)
    model.eval()
    return history


def n_learned(batch: Batch) -> tuple[int, str]:
    """Count the targets of a batch, its last tensor: tokens (n, T) or one for each example (n).

    Where ids (n, T + 1) are all there is, T of a text's are learned: each but the first.
    """
    target = batch[-1] if batch else torch.empty(0)
    if target.ndim < 2:
        return target.numel(), "examples"
    return (target[:, 1:] if len(batch) == 1 else target).numel(), "tokens"


def make_optimiser(model: nn.Module, recipe: Recipe) -> torch.optim.AdamW:
    """Make AdamW; decay pulls weights towards 0, gains and biases (one axis) are spared."""
    parameters = list(model.parameters())
    decayed = {"params": [p for p in parameters if p.ndim > 1]}
    spared = {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0}
    return torch.optim.AdamW(
        [decayed, spared],
        lr=recipe.lr,
        betas=(0.9, recipe.beta2),
        weight_decay=recipe.weight_decay,
        fused=True,  # one kernel for all parameters: small models gain most
    )


def half_type() -> torch.dtype:
    """Return the 16-bit type to compute in: bfloat16 where the GPU has it (a T4 has not)."""
    has = torch.cuda.is_available() and torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.bfloat16 if has or not torch.cuda.is_available() else torch.float16


def precision(device: torch.device) -> tuple[torch.autocast, torch.amp.GradScaler]:
    """Return how to compute on a device: on a GPU in 16 bits, with a scaled loss where needed."""
    gpu, half = device.type == "cuda", half_type()
    scaled = gpu and half is torch.float16  # its small numbers run out
    scaler = torch.amp.GradScaler(device.type, enabled=scaled)
    return torch.autocast(device.type, half, enabled=gpu), scaler


def _evaluate(model: nn.Module, evaluate: Callable | None, history: History) -> None:
    """Add the scores of this moment to the history, and leave the model in eval mode."""
    model.eval()
    if evaluate is not None:
        with torch.no_grad():
            history.scores.append({"step": len(history.loss), **evaluate(model)})
