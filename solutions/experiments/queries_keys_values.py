"""queries_keys_values: reading backwards with one head, and what the scale does to the softmax."""

from dataclasses import replace

import torch
from torch import Tensor, nn

from solutions.data.reversal import N_SYMBOL, N_TOKEN, WIDTH, as_rows, draw_sequences
from solutions.queries_keys_values import SelfAttention, scaled_dot_product_attention
from solutions.studies.saturation import saturation, weights_of
from solutions.train import Recipe, train

SEEDS = (0, 1, 2)
WIDTHS = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
QUICK = Recipe(steps=200, batch=64, lr=2e-2, warmup=10)
GENTLE = replace(QUICK, lr=5e-3)
LONGER = 3 * QUICK.steps


class Unscaled(SelfAttention):
    """Leave the division out: queries longer by the root of D undo it."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        q = self.query(x) * self.query.out_features**0.5
        return scaled_dot_product_attention(q, self.key(x), self.value(x), mask)


class Reverser(nn.Module):
    """Read a sequence backwards with one attention and a linear read-out, nothing else."""

    def __init__(self, head_size: int, positions: bool, scaled: bool):
        super().__init__()
        self.positions, self.scaled = positions, scaled
        self.attention = (SelfAttention if scaled else Unscaled)(WIDTH, head_size)
        self.read = nn.Linear(head_size, N_SYMBOL)

    def forward(self, ids: Tensor) -> Tensor:
        """Score every symbol at every place: ids (B, T) -> (B, T, V)."""
        return self.read(self.attention(as_rows(ids, self.positions)))

    def weights(self, ids: Tensor) -> Tensor:
        """Return where each place looks: (B, T, T)."""
        x = as_rows(ids, self.positions)
        q, k = self.attention.query(x), self.attention.key(x)
        q = q if self.scaled else q * q.size(-1) ** 0.5
        return weights_of(scaled_dot_product_attention, q, k)


def reversal(
    seed: int,
    positions: bool = True,
    scaled: bool = True,
    head_size: int = 32,
    unit_start: bool = False,
    gentle: bool = False,
    steps: int = QUICK.steps,
) -> dict:
    """Train one head to reverse, and look where it looks on fresh sequences.

    unit_start: begin with queries and keys whose numbers have variance one.
    """
    torch.manual_seed(seed)
    model = Reverser(head_size, positions, scaled)
    if unit_start:  # two ones in every input row: variance 2 * 0.5
        for layer in (model.attention.query, model.attention.key):
            nn.init.normal_(layer.weight, std=0.5**0.5)
    recipe = replace(GENTLE if gentle else QUICK, seed=seed, steps=steps)
    train(model, draw_sequences, recipe, progress=False)
    ids, targets = draw_sequences(1000, torch.Generator().manual_seed(1_000_000))
    with torch.no_grad():
        weights = model.weights(ids)  # (B, T, T)
        right = model(ids).argmax(-1) == targets
    mirrored = torch.arange(N_TOKEN - 1, -1, -1)
    return {
        "accuracy": right.float().mean().item(),
        "per place": right.float().mean(0),
        "map": weights.mean(0),
        "looks right": (weights.argmax(-1) == mirrored).float().mean().item(),
        "on the mirrored place": weights.flip(-1).diagonal(dim1=-2, dim2=-1).mean().item(),
    }


def scale(seed: int) -> list[dict]:
    """Measure entropy and gradient for every width, divided in three ways."""
    return [saturation(scaled_dot_product_attention, width, seed) for width in WIDTHS]


HARD = dict(head_size=64, unit_start=True, gentle=True)
RUNS = [
    *((reversal, {"seed": s, "scaled": False, **HARD, "steps": LONGER}) for s in SEEDS),
    *((reversal, {"seed": s, "scaled": scaled, **HARD}) for scaled in (True, False) for s in SEEDS),
    *((reversal, {"seed": s, "scaled": False, "head_size": 64, "gentle": True}) for s in SEEDS),
    *((scale, {"seed": s}) for s in SEEDS),
    *((reversal, {"seed": s}) for s in SEEDS),
    *((reversal, {"seed": s, "scaled": False}) for s in SEEDS),
    *((reversal, {"seed": s, "positions": False}) for s in SEEDS),
]
