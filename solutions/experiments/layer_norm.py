"""layer_norm: towers of blocks with different norms, warm-up, and small batches."""

from itertools import product

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from solutions.batch_norm import BatchNorm, NoNorm
from solutions.layer_norm import LayerNorm, RMSNorm, TransformerBlock
from solutions.studies.block_tower import BlockTower, draw_reversals
from solutions.studies.train_together import train_together
from solutions.train import Recipe, train

SEEDS = (0, 1, 2)
KINDS = {"none": NoNorm, "batch": BatchNorm, "layer": LayerNorm, "rms": RMSNorm}
RATES = (1e-3, 3e-3, 1e-2, 3e-2)
TOWERS = (  # kind of norm, its place, whether the matrices start as nn.Transformer's do
    ("none", "pre", True),
    ("none", "pre", False),
    ("batch", "pre", True),
    ("layer", "pre", True),
    ("rms", "pre", True),
    ("layer", "post", True),
)
HIGH_RATES = (1e-2, 2e-2, 4e-2)
WARM_UPS = (("post", 0), ("post", 60), ("pre", 0))
BATCHES = (2, 4, 32)


def tower_losses(
    kind: str, norm: str, xavier: bool, n_layer: int, rates: tuple, recipe: Recipe
) -> Tensor:
    """Train a tower for every rate and seed; return the losses, (steps, rates, seeds)."""
    models, each_rate, each_seed = [], [], []
    for rate, seed in product(rates, SEEDS):
        torch.manual_seed(seed)
        tower = BlockTower(TransformerBlock, norm, KINDS[kind], n_layer, xavier=xavier)
        models.append(tower)
        each_rate.append(rate)
        each_seed.append(seed)
    losses = train_together(models, each_rate, draw_reversals, each_seed, recipe)
    return losses.unflatten(1, (len(rates), len(SEEDS)))


def rate_sweep(kind: str, norm: str, xavier: bool) -> Tensor:
    """Train towers of eight blocks; return the mean loss of the last ten steps, (rates, seeds)."""
    recipe = Recipe(steps=80, batch=16, warmup=10)
    return tower_losses(kind, norm, xavier, 8, RATES, recipe)[-10:].mean(0)


def warm_up(norm: str, warmup: int) -> Tensor:
    """Train towers of four blocks at high rates; return their losses, (steps, rates, seeds)."""
    recipe = Recipe(steps=150, batch=16, warmup=warmup)
    return tower_losses("layer", norm, True, 4, HIGH_RATES, recipe)


def small_batches(kind: str, batch: int) -> list[float]:
    """Train a small net on 8 x 8 digits; return the share of right test answers for each seed."""
    from sklearn.datasets import load_digits

    images, labels = (torch.from_numpy(a) for a in load_digits(return_X_y=True))
    images = images.float() / 8 - 1
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(0))
    known, unknown = order[:1400], order[1400:]

    def draw(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        at = known[torch.randint(len(known), (n,), generator=generator)]
        return images[at], labels[at]

    def loss(model: nn.Module, drawn: tuple[Tensor, ...]) -> Tensor:
        return F.cross_entropy(model(drawn[0]), drawn[1])

    norm = {"none": NoNorm, "batch": nn.BatchNorm1d, "layer": LayerNorm}[kind]
    right = []
    for seed in SEEDS:
        torch.manual_seed(seed)
        hidden = [nn.Linear(64, 32), norm(32), nn.ReLU(), nn.Linear(32, 32), norm(32), nn.ReLU()]
        model = nn.Sequential(*hidden, nn.Linear(32, 10))
        recipe = Recipe(steps=150, batch=batch, lr=3e-3, warmup=10, seed=seed)
        train(model, draw, recipe, loss, progress=False)
        with torch.no_grad():
            answers = model(images[unknown]).argmax(-1)
        right.append((answers == labels[unknown]).float().mean().item())
    return right


RUNS = [
    *((rate_sweep, {"kind": k, "norm": n, "xavier": x}) for k, n, x in TOWERS),
    *((warm_up, {"norm": norm, "warmup": warmup}) for norm, warmup in WARM_UPS),
    *(
        (small_batches, {"kind": kind, "batch": batch})
        for kind in ("none", "batch", "layer")
        for batch in BATCHES
    ),
]
