"""bert: the control. Would a pre-training three times as long bring out the mood of a story?

In a file of its own, so that it can change without all other runs of the lesson being run again.
"""

import torch
from torch import Tensor

from solutions.bert import MaskedLanguageModel
from solutions.experiments import kept
from solutions.experiments.bert import (
    GENTLE,
    N_LABEL,
    N_TEST,
    RATES,
    RECIPE,
    SEEDS,
    labelled,
    new_bert,
    pretrain,
    right,
)
from solutions.fine_tune import TextClassifier
from solutions.studies.side_by_side import SideBySide
from solutions.train import Recipe, train

STEPS = 3 * RECIPE.steps


def mood(rate: float) -> list[float]:
    """Fine-tune the longer trained BERT on 50 labels for the mood; return right shares per seed."""
    filler = MaskedLanguageModel(new_bert())
    filler.load_state_dict(kept(pretrain, steps=STEPS, seed=0)["state"])
    sets, models = [], []
    for seed in SEEDS:
        sets.append(labelled("mood", 3, N_LABEL, seed=1000 + seed)[1:])
        torch.manual_seed(seed)
        bert = new_bert()
        bert.load_state_dict(filler.bert.state_dict())
        models.append(TextClassifier(bert, 2, pooling="mean"))
    together = SideBySide(models)

    def draw(n: int, generator: torch.Generator) -> tuple[Tensor, ...]:
        at = torch.randint(N_LABEL, (len(SEEDS), n), generator=generator)
        return tuple(
            torch.stack([x[rows] for x, rows in zip(xs, at, strict=True)])
            for xs in zip(*sets, strict=True)
        )

    train(together, draw, Recipe(steps=100, batch=16, lr=rate, warmup=10), progress=False)
    return right(together, *labelled("mood", 3, N_TEST, seed=7)[1:])


RUNS = [
    (pretrain, {"steps": STEPS, "seed": 0}),
    *((mood, {"rate": rate}) for rate in (*RATES, GENTLE)),
]
