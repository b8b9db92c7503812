"""gpt: tiny tales, trained to the grammar's own entropy; and two ways to fall short of it."""

from dataclasses import replace

import torch

from solutions.data.tiny_tales import IDS, START, draw_stories
from solutions.gpt import GPT, next_token_loss
from solutions.studies.tales_model import (
    CONFIG,
    PAD,
    RECIPE,
    fixed_stories,
    gap,
    held_out,
    words_of,
)
from solutions.studies.text_windows import continue_text
from solutions.train import train

RUNS = []  # they are listed in gpt.py


def tales(std: float, seed: int, stories: int = 0, steps: int = RECIPE.steps) -> dict:
    """Train on fresh stories, or on a fixed number of them; return the gap on held-out ones."""
    config, recipe = replace(CONFIG, std=std), replace(RECIPE, seed=seed, steps=steps)
    test, nats = held_out(200)
    batches = fixed_stories(stories, seed) if stories else draw_stories
    samples = []

    def evaluate(model) -> dict[str, float]:
        generator = torch.Generator().manual_seed(3)
        drawn = continue_text(model, [IDS[START]], config.block_size, config.block_size, generator)
        samples.append(" ".join(words_of(torch.tensor(drawn))))
        return gap(model, test, nats)

    torch.manual_seed(seed)
    model = GPT(config)
    history = train(
        model,
        batches,
        recipe,
        lambda model, batch: next_token_loss(model, batch[0], PAD),
        evaluate,
        progress=False,
    )
    with torch.no_grad():
        final = gap(model, *held_out(1000, seed=2_000_000))
    return {
        "loss": torch.tensor(history.loss),
        "scores": history.scores,
        "samples": samples,
        "final": final,
        "weights": model.state_dict(),
    }
