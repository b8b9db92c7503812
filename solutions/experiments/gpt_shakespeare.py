"""gpt: two recipes of equal size and cost on Tiny Shakespeare by characters, with samples."""

import time

import torch

from solutions.data.tiny_shakespeare import text
from solutions.gpt import GPT, next_token_loss
from solutions.studies.shakespeare_recipes import EARLIER, LATER
from solutions.studies.text_windows import (
    character_ids,
    continue_text,
    split,
    validation_loss,
    windows,
)
from solutions.train import train

RECIPES = {"earlier": EARLIER, "later": LATER}
RUNS = []  # they are listed in gpt.py


def shakespeare(recipe: str) -> dict:
    """Train a GPT by characters; return its losses, samples, weights and CPU seconds."""
    config, steps = RECIPES[recipe]
    ids, alphabet = character_ids(text())
    training, held_out = split(ids)
    samples = []

    def evaluate(model) -> dict[str, float]:
        generator = torch.Generator().manual_seed(7)
        start = [alphabet.index("\n")]
        drawn = continue_text(model, start, 120, config.block_size, generator)
        samples.append("".join(alphabet[i] for i in drawn).strip())
        return {"validation": validation_loss(model, next_token_loss, held_out, 64, batches=20)}

    torch.manual_seed(0)
    model, start = GPT(config), time.process_time()
    history = train(
        model,
        windows(training, config.block_size),
        steps,
        lambda model, batch: next_token_loss(model, batch[0]),
        evaluate,
        progress=False,
    )
    seconds = time.process_time() - start
    with torch.no_grad():
        final = validation_loss(model, next_token_loss, held_out, 64, batches=200)
    return {
        "loss": torch.tensor(history.loss),
        "scores": history.scores,
        "samples": samples,
        "validation": final,
        "seconds": seconds,
        "weights": model.state_dict(),
    }
