"""Repeat a list of letters: the smallest task on which a single vector is too narrow."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from solutions.data.tiny_french import EOS, SPECIAL
from solutions.train import Recipe, train

N_LETTERS, LENGTH = 12, 4
RECIPE = Recipe(steps=36, batch=64, lr=3e-2, warmup=10)


def draw_lists(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw n lists: source (B, S), and the same letters with EOS behind them, target (B, S + 1)."""
    first = len(SPECIAL)
    source = torch.randint(first, first + N_LETTERS, (n, LENGTH), generator=generator)
    return source, torch.cat([source, torch.full((n, 1), EOS)], 1)


def list_loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    source, target = batch
    return F.cross_entropy(model(source, target).flatten(0, 1), target.flatten())


@torch.no_grad()
def compare_memories(translator: type, seed: int = 0) -> dict[str, float]:
    """Train a class like Seq2Seq with and without attention; return the share of right lists."""
    source, target = draw_lists(500, torch.Generator().manual_seed(99))
    n_vocab, right = len(SPECIAL) + N_LETTERS, {}
    for name, attend in {"a state for every letter": True, "a single vector": False}.items():
        torch.manual_seed(seed)
        model = translator(n_vocab, n_vocab, 16, 48, bidirectional=False, attend=attend)
        recipe = Recipe(**(vars(RECIPE) | {"seed": seed}))
        with torch.enable_grad():
            train(model, draw_lists, recipe, list_loss, progress=False)
        written = model.translate(source, target.size(1))
        right[name] = float((written == target).all(1).float().mean())
    return right
