"""generate: what comes behind a full window, when its newer half is read again and when not.

With the models that lesson gpt trained on Tiny Shakespeare, on the tenth of it they never saw.
"""

import torch
from torch.nn import functional as F

from solutions.data.tiny_shakespeare import text
from solutions.experiments import kept
from solutions.experiments.gpt_shakespeare import RECIPES, shakespeare
from solutions.gpt import GPT
from solutions.studies.full_window import WAYS, after_the_cut
from solutions.studies.text_windows import character_ids, split, windows


def cut_windows(recipe: str, n: int) -> dict[str, float]:
    """Measure nats per character behind n full windows, by what becomes of their newer halves."""
    config, _ = RECIPES[recipe]
    model = GPT(config).eval()
    model.load_state_dict(kept(shakespeare, recipe=recipe)["weights"])
    half = config.block_size // 2
    _, held_out = split(character_ids(text())[0])
    (ids,) = windows(held_out, 3 * half)(n, torch.Generator().manual_seed(0))  # and one to guess
    ways = WAYS if config.positions == "rotary" else WAYS[:2]
    scores = {way: after_the_cut(model, ids[:, :-1], way) for way in ways}
    targets = ids[:, 2 * half + 1 :]
    return {way: float(F.cross_entropy(s.mT, targets)) for way, s in scores.items()}


RUNS = [(cut_windows, {"recipe": recipe, "n": 400}) for recipe in RECIPES]
