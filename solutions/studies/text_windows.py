"""Train on windows cut from one long text: what batches, validation and samples need."""

from collections.abc import Callable

import torch
from torch import Tensor, nn


def character_ids(text: str) -> tuple[Tensor, list[str]]:
    """Number the characters of a text in the order of their code points: ids (N), the alphabet."""
    alphabet = sorted(set(text))
    number = {character: i for i, character in enumerate(alphabet)}
    return torch.tensor([number[character] for character in text]), alphabet


def split(ids: Tensor, share: float = 0.9) -> tuple[Tensor, Tensor]:
    """Cut a text into its beginning, for training, and its end, for validation."""
    n = int(share * len(ids))
    return ids[:n], ids[n:]


def windows(ids: Tensor, block_size: int) -> Callable[[int, torch.Generator], tuple[Tensor]]:
    """Return what draws n windows of block_size + 1 tokens at random places: ((n, T + 1),)."""
    offsets = torch.arange(block_size + 1)

    def draw(n: int, generator: torch.Generator) -> tuple[Tensor]:
        starts = torch.randint(len(ids) - block_size, (n, 1), generator=generator)
        return (ids[starts + offsets],)

    return draw


@torch.no_grad()
def validation_loss(
    model: nn.Module, loss: Callable, ids: Tensor, block_size: int, batches: int, batch: int = 12
) -> float:
    """Average a loss over windows of a held-out text, always the same ones."""
    draw, generator = windows(ids, block_size), torch.Generator().manual_seed(1234)
    device = next(model.parameters()).device
    values = [loss(model, draw(batch, generator)[0].to(device)) for _ in range(batches)]
    return float(torch.stack(values).mean())


@torch.no_grad()
def continue_text(
    model: nn.Module, ids: list[int], n: int, block_size: int, generator: torch.Generator
) -> list[int]:
    """Draw n tokens one after another, each from the model's own probabilities."""
    ids = list(ids)
    device = next(model.parameters()).device
    for _ in range(n):
        scores = model(torch.tensor([ids[-block_size:]], device=device))[0, -1]
        ids.append(int(torch.multinomial(scores.softmax(-1).cpu(), 1, generator=generator)))
    return ids
