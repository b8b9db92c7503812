"""Sequences to be read backwards, as tokens with their positions written beside them."""

import torch
from torch import Tensor
from torch.nn import functional as F

N_SYMBOL, N_TOKEN = 10, 16
WIDTH = N_SYMBOL + N_TOKEN


def draw_sequences(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw n sequences of symbols (B, T) and their reversals (B, T)."""
    ids = torch.randint(N_SYMBOL, (n, N_TOKEN), generator=generator)
    return ids, ids.flip(1)


def as_rows(ids: Tensor, positions: bool = True) -> Tensor:
    """Write each token as a one-hot symbol and a one-hot position: ids (B, T) -> (B, T, WIDTH).

    Without positions their columns stay 0, so that models with and without have equal shapes.
    """
    place = torch.arange(N_TOKEN, device=ids.device)
    place = F.one_hot(place, N_TOKEN).expand(*ids.shape, N_TOKEN) * positions
    return torch.cat([F.one_hot(ids, N_SYMBOL), place], dim=-1).float()


def order_blind_rate(ids: Tensor) -> float:
    """Return how often the commonest of all other symbols is the right answer.

    It is the best guess of a model that knows its own symbol and which others there are, but not
    where. Ties go to the smallest symbol.
    """
    counts = F.one_hot(ids, N_SYMBOL).sum(1, keepdim=True)  # (B, 1, V)
    others = counts - F.one_hot(ids, N_SYMBOL)  # (B, T, V): all but the token itself
    return (others.argmax(-1) == ids.flip(1)).float().mean().item()
