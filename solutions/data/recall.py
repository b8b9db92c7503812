"""Remember the first symbol: a sequence, and the question what it began with."""

import torch
from torch import Tensor

N_SYMBOLS = 8
BLANK = N_SYMBOLS  # one id more, for panels with empty distractors
CHANCE = 1 / N_SYMBOLS


def draw_recall(
    n: int, generator: torch.Generator, lag: int, blank: bool = False
) -> tuple[Tensor, Tensor]:
    """Draw sequences (n, lag + 1) and their first symbols (n).

    After the first symbol come `lag` distractors: symbols of the same eight, or blanks.
    """
    ids = torch.randint(N_SYMBOLS, (n, lag + 1), generator=generator)
    if blank:
        ids[:, 1:] = BLANK
    return ids, ids[:, 0].clone()
