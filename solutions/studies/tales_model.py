"""Train any GPT on tiny tales, and measure how far it is from the grammar itself."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from solutions.data.tiny_tales import (
    END,
    IDS,
    LENGTH,
    PADDING,
    START,
    WORDS,
    draw_stories,
    story_nats,
)
from solutions.gpt_block import GPTConfig
from solutions.train import Recipe

PAD = IDS[PADDING]
CONFIG = GPTConfig(len(WORDS), LENGTH - 1, n_layer=2, n_head=4, n_embd=64, std=0.08)
RECIPE = Recipe(1050, 16, lr=3e-3, warmup=100, weight_decay=0.01, beta2=0.98, evaluate_every=105)


def words_of(ids: Tensor) -> list[str]:
    """Read ids (T) as words, without the marks; what follows the end is dropped."""
    words = [WORDS[i] for i in ids.tolist() if i != IDS[START]]
    return words[: words.index(END)] if END in words else words


def held_out(n: int, seed: int = 1_000_000) -> tuple[Tensor, Tensor]:
    """Draw stories for measuring: ids (n, LENGTH), and the grammar's own nats for each, (n)."""
    (ids,) = draw_stories(n, torch.Generator().manual_seed(seed))
    return ids, torch.tensor([story_nats(words_of(row)) for row in ids])


@torch.no_grad()
def model_nats(model: nn.Module, ids: Tensor) -> Tensor:
    """Return how surprising each story is to a model: ids (n, T + 1) -> nats (n)."""
    scores, targets = model(ids[:, :-1]), ids[:, 1:]
    nats = F.cross_entropy(scores.mT, targets, ignore_index=PAD, reduction="none")
    return nats.sum(-1)


def gap(model: nn.Module, ids: Tensor, nats: Tensor) -> dict[str, float]:
    """Compare a model with the grammar on the same stories: nats above it, per story and token."""
    above = model_nats(model, ids) - nats
    tokens = (ids[:, 1:] != PAD).sum()
    return {"story": float(above.mean()), "token": float(above.sum() / tokens)}


def fixed_stories(n: int, seed: int) -> Callable[[int, torch.Generator], tuple[Tensor]]:
    """Return what draws batches from n stories only, again and again."""
    (ids,) = draw_stories(n, torch.Generator().manual_seed(seed))

    def draw(batch: int, generator: torch.Generator) -> tuple[Tensor]:
        return (ids[torch.randint(n, (batch,), generator=generator)],)

    return draw
