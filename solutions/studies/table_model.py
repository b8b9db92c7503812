"""Texts from a table of odds, each token by the one before: small enough to try all of them."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

END = 0


def draw_table(n_token: int, p_end: float, generator: torch.Generator) -> Tensor:
    """Draw log-odds (V, V), row: the last token, column: the next; END has the same odds always."""
    rest = torch.randn(n_token, n_token - 1, generator=generator).log_softmax(-1)
    end = torch.full((n_token, 1), math.log(p_end))
    return torch.cat([end, rest + math.log(1 - p_end)], dim=-1)


def model_of(table: Tensor) -> Callable[[Tensor], Tensor]:
    """Return what scores next tokens by the table: ids (N, T) -> (N, V)."""
    return lambda ids: table[ids[:, -1]]


def every_text(table: Tensor, start: list[int], n: int) -> list[tuple[float, list[int]]]:
    """Try all texts that END closes within n tokens, or that n tokens fill: (log_p, ids) each."""
    texts, growing = [], [(0.0, list(start))]
    for _ in range(n):
        grown = [
            (log_p + more, [*ids, token])
            for log_p, ids in growing
            for token, more in enumerate(table[ids[-1]].tolist())
        ]
        texts += [text for text in grown if text[1][-1] == END]
        growing = [text for text in grown if text[1][-1] != END]
    return texts + growing


def widths_and_lengths(
    beam_search: Callable, seed: int, n_model: int = 20, n: int = 10
) -> dict[str, dict[str, float]]:
    """Search the texts of some tables narrowly, widely, and widely by mean log-probability.

    -> for each way the mean length of the best text found and its mean log-probability.
    """
    generator = torch.Generator().manual_seed(seed)
    tables = [draw_table(6, 0.15, generator) for _ in range(n_model)]
    ways = {"width 1": (1, 0.0), "width 8": (8, 0.0), "width 8, alpha 1": (8, 1.0)}
    found = {}
    for name, (width, alpha) in ways.items():
        best = [beam_search(model_of(t), [1], END, width, n, alpha)[0] for t in tables]
        found[name] = {
            "length": sum(len(ids) - 1 for _, ids in best) / n_model,
            "log-probability": sum(log_p for log_p, _ in best) / n_model,
        }
    return found
