"""Little scenes in which people get a mood and are mentioned again: who was in which mood?"""

import torch
from torch import Tensor

NAMES = ["Anna", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana"]
MOODS = ["glad", "sad", "tired", "proud", "shy"]
UNTOLD = len(MOODS)  # the mood of a mention: it is what is asked
N_PAIR = 4
IGNORED = -100  # what cross-entropy leaves out


def draw_mentions(
    n: int, generator: torch.Generator, tidy: bool = False, n_pair: int = N_PAIR
) -> tuple[Tensor, Tensor, Tensor]:
    """Draw scenes of n_pair people, each introduced with a mood and mentioned once without.

    -> names, moods, targets, each (B, T) with T = 2 * n_pair: the mood of a mention is UNTOLD,
    its target is the mood of its introduction; introductions have no target. In tidy scenes all
    introductions come first and the mentions follow in the same order; else any token may stand
    anywhere.
    """
    people = torch.rand(n, len(NAMES), generator=generator).argsort(1)[:, :n_pair]
    told = torch.randint(len(MOODS), (n, n_pair), generator=generator)
    names = torch.cat([people, people], 1)
    moods = torch.cat([told, torch.full_like(told, UNTOLD)], 1)
    targets = torch.cat([torch.full_like(told, IGNORED), told], 1)
    if tidy:
        return names, moods, targets
    order = torch.rand(n, 2 * n_pair, generator=generator).argsort(1)
    return tuple(table.gather(1, order) for table in (names, moods, targets))


def describe(names: Tensor, moods: Tensor) -> str:
    """Write one scene as words."""
    pairs = zip(names.tolist(), moods.tolist(), strict=True)
    return " ".join(f"{NAMES[n]}{'?' if m == UNTOLD else ':' + MOODS[m]}" for n, m in pairs)
