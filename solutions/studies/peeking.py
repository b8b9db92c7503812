"""Train a small Transformer with and without the causal mask: who can write afterwards?"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from solutions.data.tiny_french import EOS, SPECIAL
from solutions.train import Recipe, train

N_LETTERS, LENGTH = 6, 4
RECIPE = Recipe(steps=60, batch=32, lr=1.5e-2, warmup=6)


def draw_reversals(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw n lists, source (n, S), and the same backwards with EOS, target (n, S + 1)."""
    first = len(SPECIAL)
    source = torch.randint(first, first + N_LETTERS, (n, LENGTH), generator=generator)
    return source, torch.cat([source.flip(1), torch.full((n, 1), EOS)], 1)


def reversal_loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    """Average the cross-entropy over all letters and EOS."""
    source, target = batch
    return F.cross_entropy(model(source, target).flatten(0, 1), target.flatten())


@torch.no_grad()
def compare_masks(transformer: Callable[..., nn.Module], seed: int = 0) -> dict[str, dict]:
    """Train a class like Transformer on reversing lists, with the mask and without.

    Return for each the loss of every step, and the share of new lists written right at the end.
    """
    source, target = draw_reversals(300, torch.Generator().manual_seed(99))
    n_vocab, found = len(SPECIAL) + N_LETTERS, {}
    for name, causal in {"with the mask": True, "without": False}.items():
        torch.manual_seed(seed)
        model = transformer(n_vocab, n_vocab, 32, 2, 1, n_hidden=64, causal=causal)
        recipe = Recipe(**(vars(RECIPE) | {"seed": seed}))
        with torch.enable_grad():
            history = train(model, draw_reversals, recipe, reversal_loss, progress=False)
        written = model.translate(source, LENGTH + 1)
        right = float((written == target).all(1).float().mean())
        found[name] = {"loss": history.loss, "right": right}
    return found
