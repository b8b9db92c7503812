"""gpt: two recipes of equal size and cost on Tiny Shakespeare by characters, with samples.

A sample and a loss are taken at the evaluations of the recipe and, more closely, at the stages
before the first of them, when the text changes fastest.
"""

import time
from dataclasses import replace
from itertools import count

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
STAGES = (25, 50, 100)  # besides the untrained model and the recipe's own evaluations
RUNS = []  # they are listed in gpt.py


def shakespeare(recipe: str, steps: int = 0) -> dict:
    """Train a GPT by characters; return its losses, samples, weights and CPU seconds.

    With `steps` the recipe is run, from its warm-up to its last small step, in as many.
    """
    config, plan = RECIPES[recipe]
    plan = replace(plan, steps=steps or plan.steps)
    ids, alphabet = character_ids(text())
    training, held_out = split(ids)
    samples, looks = [], count(STAGES[0], STAGES[0])

    def look(model) -> dict[str, float]:
        generator = torch.Generator().manual_seed(7)
        start = [alphabet.index("\n")]
        drawn = continue_text(model, start, 160, config.block_size, generator)
        samples.append("".join(alphabet[i] for i in drawn).strip())
        return {"validation": validation_loss(model, next_token_loss, held_out, 64, batches=20)}

    def evaluate(model) -> dict[str, float]:
        step = next(looks)
        return look(model) if step in STAGES or step % plan.evaluate_every == 0 else {}

    torch.manual_seed(0)
    model = GPT(config)
    untrained = {"step": 0, **look(model.eval())}
    start = time.process_time()
    history = train(
        model,
        windows(training, config.block_size),
        replace(plan, evaluate_every=STAGES[0]),
        lambda model, batch: next_token_loss(model, batch[0]),
        evaluate,
        progress=False,
    )
    seconds = time.process_time() - start
    with torch.no_grad():
        final = validation_loss(model, next_token_loss, held_out, 64, batches=200)
    return {
        "loss": torch.tensor(history.loss),
        "scores": [untrained, *(s for s in history.scores if "validation" in s)],
        "samples": samples,
        "validation": final,
        "seconds": seconds,
        "weights": model.state_dict(),
    }
