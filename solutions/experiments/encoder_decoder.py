"""encoder_decoder: translators with the mask and without, a race with the RNN, time per step."""

import time
from collections.abc import Callable
from functools import cache, partial

import torch
from torch import nn

from solutions.data.tiny_french import (
    ENGLISH,
    FRENCH,
    JANE,
    MAX_WORDS,
    Pair,
    draw_pairs,
    encode,
    read,
)
from solutions.encoder_decoder import Transformer, smoothed_loss
from solutions.experiments import alignment as lesson_2
from solutions.studies.translation import batches, exact_matches, translation_loss
from solutions.teacher_forcing import warmup_rate
from solutions.train import Recipe, train

N_PAIRS = 20_000
STEPS, PEEK_STEPS, RNN_STEPS = 1000, 350, 400
LENGTHS = (16, 32, 64, 128, 256, 512)
BANDS = {"3-6": (3, 6), "7-9": (7, 9), "10-13": (10, 13), "14-16": (14, 16)}
N_WATCHED = 30  # sentences of each band that are translated on the way


def build(kind: str, causal: bool = True) -> nn.Module:
    """Make a translator for tiny_french, not yet trained.

    "transformer", or one of lesson 2: "rnn" with attention, "single" with one vector in its place.
    """
    if kind == "rnn":
        return lesson_2.build(lesson_2.ATTENTION)
    if kind == "single":
        return lesson_2.build(lesson_2.SINGLE, attend=False)
    return Transformer(len(FRENCH), len(ENGLISH), 64, 4, 2, n_hidden=128, causal=causal)


def shown_pairs() -> list[Pair]:
    """Return the sentences whose translations are written down while a model learns."""
    return [JANE, *(draw_pairs(1, 3, True, n, n)[0] for n in (5, 8, 11, 15))]


def watched(pairs: list[Pair]) -> tuple[Callable, list[dict]]:
    """Return an `evaluate` for `train`, and the notes it takes: seconds, matches, translations.

    The seconds are those of this process at work on training; evaluations do not count.
    """
    source, notes, spent = encode(shown_pairs())[0], [], [time.process_time()]

    def evaluate(model: nn.Module) -> dict[str, float]:
        start = time.process_time()
        note = {
            "seconds": start - spent[0],
            "right": float(exact_matches(model, pairs).float().mean()),
            "written": [read(row) for row in model.translate(source, MAX_WORDS + 1)],
        }
        notes.append(note)
        spent[0] += time.process_time() - start
        return {}

    return evaluate, notes


@cache
def training() -> Callable:
    """Return a function that draws batches of pairs."""
    return batches(draw_pairs(N_PAIRS))


def translator(
    kind: str, seed: int, causal: bool = True, steps: int = STEPS, every: int = 100
) -> dict:
    """Train a translator; return its parameters, all losses, and notes taken on the way."""
    rate, warmup, decay = (6e-3, 100, 0.0) if kind == "transformer" else (1.2e-2, 50, 0.05)
    torch.manual_seed(seed)
    model, draw = build(kind, causal), training()
    test = [pair for ends in BANDS.values() for pair in draw_pairs(N_WATCHED, 7, True, *ends)]
    evaluate, notes = watched(test)
    recipe = Recipe(steps, 64, rate, warmup, decay, seed=seed, evaluate_every=every)
    history = train(model, draw, recipe, translation_loss, evaluate, progress=False)
    steps_noted = [score["step"] for score in history.scores]
    return {
        "state": model.state_dict(),
        "loss": history.loss,
        "notes": [{"step": s} | note for s, note in zip(steps_noted, notes, strict=True)],
    }


def one_batch(smoothing: float, steps: int = 150) -> dict:
    """Learn 16 pairs by heart with the original's schedule; return losses and the share right."""
    torch.manual_seed(0)
    model, pairs = build("transformer"), draw_pairs(16)
    source, target, _ = encode(pairs)
    optimiser = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9, fused=True)
    losses = []
    for step in range(1, steps + 1):
        for group in optimiser.param_groups:
            group["lr"] = warmup_rate(step, n_embd=64, warmup=400)
        loss = smoothed_loss(model(source, target), target, smoothing)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    right = float(exact_matches(model.eval(), pairs).float().mean())
    return {"loss": losses, "right": right}


def step_milliseconds(
    kind: str, n_batch: int = 4, lengths: tuple[int, ...] = LENGTHS, repeats: int = 3
) -> list[float]:
    """Measure one training step on random sentences of every length, in processor time."""
    torch.manual_seed(0)
    model, found = build(kind), []
    for n in lengths:
        source, target = (torch.randint(3, 100, (n_batch, n)) for _ in range(2))
        step = partial(_step, model, source, target)
        step()  # the first one allocates
        found.append(sorted(step() for _ in range(repeats))[repeats // 2])
    return found


def _step(model: nn.Module, source: torch.Tensor, target: torch.Tensor) -> float:
    start = time.process_time()
    translation_loss(model, (source, target)).backward()
    model.zero_grad()
    return 1000 * (time.process_time() - start)


RUNS = [
    (translator, {"kind": "transformer", "seed": 0, "every": 50}),
    *(
        (translator, {"kind": kind, "seed": 0, "steps": RNN_STEPS, "every": 50})
        for kind in ("rnn", "single")
    ),
    (
        translator,
        {"kind": "transformer", "seed": 0, "causal": False, "steps": PEEK_STEPS, "every": 25},
    ),
    *(
        (step_milliseconds, {"kind": kind, **given})
        for kind in ("rnn", "transformer")
        for given in ({}, {"n_batch": 64, "lengths": [16], "repeats": 9})
    ),
    *((one_batch, {"smoothing": smoothing}) for smoothing in (0.0, 0.1)),
]
