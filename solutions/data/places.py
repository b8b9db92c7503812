"""Two tasks about positions: which of two tokens comes first, and what stood three back."""

import torch
from torch import Tensor

A, B, FILLERS = 0, 1, 8  # the two tokens asked about, and how many others there are
LETTERS = 12  # the tokens of the second task
BACK = 3
IGNORE = -100  # cross_entropy passes over targets with this number


def draw_order(n: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw sentences with one A and one B among fillers, and say whether A comes first.

    -> ids (n, T), targets (n,): 1 where A stands before B.
    """
    ids = torch.randint(2, 2 + FILLERS, (n, length), generator=generator)
    places = torch.rand(n, length, generator=generator).argsort(-1)[:, :2]  # of A and of B
    ids.scatter_(1, places, torch.tensor([[A, B]]).expand(n, 2))
    return ids, (places[:, 0] < places[:, 1]).long()


def draw_back(n: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw random letters; the target of each place is the letter three places before it.

    -> ids (n, T), targets (n, T), IGNORE at the first three places.
    """
    ids = torch.randint(LETTERS, (n, length), generator=generator)
    targets = ids.roll(BACK, dims=1)
    targets[:, :BACK] = IGNORE
    return ids, targets
