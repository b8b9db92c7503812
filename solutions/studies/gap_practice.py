"""Lines in a tiny language, and a tiny model that fills their gaps: the notebook's experiment."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

CLS, MASK, N_SPECIAL = 1, 3, 4
WORDS = (("boat", "whale", "gull", "tide"), ("barn", "horse", "hen", "field"))
N_VOCAB, N_WORD, LENGTH = N_SPECIAL + 8, 4, 5


def draw_lines(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw lines of five words, all from one of two themes: ids (n, 6) with [CLS], themes (n)."""
    theme = torch.randint(2, (n,), generator=generator)
    word = torch.randint(N_WORD, (n, LENGTH), generator=generator)
    ids = N_SPECIAL + N_WORD * theme[:, None] + word
    return torch.cat([torch.full((n, 1), CLS), ids], dim=1), theme


def theme_by_place(
    bert: Callable[..., nn.Module],
    masked_language_model: Callable[..., nn.Module],
    mask_tokens: Callable[..., tuple[Tensor, Tensor]],
    seed: int,
    steps: int = 70,
) -> dict[str, list[float] | float]:
    """Train on hidden words, then hide one place at a time: how likely is the right theme there?

    "one hidden": the mean probability of the right theme's four words at each of the five places;
    "all hidden": the same where no word is left to read.
    """
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = masked_language_model(bert(N_VOCAB, LENGTH + 1, n_embd=16, n_head=2, n_layer=1))
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2, fused=True)
    for _ in range(steps):
        ids, _ = draw_lines(48, generator)
        draws = torch.rand(3, *ids.shape, generator=generator)
        loss = model.loss(*mask_tokens(ids, draws, N_VOCAB, N_SPECIAL, MASK, 0.25))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    model.eval()
    ids, theme = draw_lines(200, generator)

    def right_theme(hidden: list[int], asked: int) -> float:
        read = ids.clone()
        read[:, hidden] = MASK
        with torch.no_grad():
            odds = model(read)[:, asked].softmax(-1)[:, N_SPECIAL:]  # (200, 8)
        by_theme = odds.unflatten(-1, (2, N_WORD)).sum(-1)
        return by_theme.gather(1, theme[:, None]).mean().item()

    places = range(1, LENGTH + 1)
    return {
        "one hidden": [right_theme([place], place) for place in places],
        "all hidden": right_theme(list(places), 1),
    }
