"""residual: gradients against depth, deep stacks on two spirals, their loss surfaces, places."""

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from solutions.data.spirals import draw_spirals
from solutions.experiments import kept
from solutions.loss_surface import filter_normalise, loss_surface
from solutions.residual import FeedForward, Residual, gradient_by_depth
from solutions.studies.deep_stack import VARIANCES, WIRINGS, DeepStack, make_layers
from solutions.studies.position_probe import Encoder, draw_words, readable_places
from solutions.train import Recipe, train

SEEDS = (0, 1, 2)
DEPTH, WIDTH = 64, 64  # of the stacks whose gradients are measured
N_LAYER, N_EMBD = 40, 16  # of the stacks that are trained
SPIRALS = Recipe(steps=100, batch=128, lr=1e-3, warmup=10)
LONGER = replace(SPIRALS, steps=300)
WORDS = Recipe(steps=150, batch=32, lr=3e-3, warmup=20)
TRAINED = (
    ("default", "plain"),
    ("gain 1", "plain"),
    ("default", "residual"),
    ("gain 1", "residual"),
    ("gain 1", "pre-norm"),
)
SEEN = (("gain 1", "plain"), ("default", "residual"))  # whose loss surface is looked at
PLACES = torch.linspace(-1, 1, 13)


def gradients(how: str) -> dict[str, Tensor]:
    """Measure what of a gradient arrives at each depth, for each wiring: (seeds, DEPTH + 1)."""
    found = {}
    for wiring in WIRINGS:
        curves = []
        for seed in SEEDS:
            torch.manual_seed(seed)
            x, push = torch.randn(2, 32, WIDTH, dtype=torch.float64)
            layers = make_layers(DEPTH, WIDTH, how, wiring, FeedForward, Residual).double()
            curves.append(gradient_by_depth(list(layers), x, push))
        found[wiring] = torch.stack(curves)
    return found


def new_stack(how: str, wiring: str, n_layer: int = N_LAYER) -> DeepStack:
    """Build an untrained stack; a pre-norm stack gets a norm at its end."""
    layers = make_layers(n_layer, N_EMBD, how, wiring, FeedForward, Residual)
    return DeepStack(N_EMBD, layers, final_norm=wiring == "pre-norm")


def spirals(how: str, wiring: str, seed: int, longer: bool = False, n_layer: int = N_LAYER) -> dict:
    """Train a stack to tell the spirals apart; return its losses and its parameters."""
    torch.manual_seed(seed)
    model = new_stack(how, wiring, n_layer)
    recipe = replace(LONGER if longer else SPIRALS, seed=seed)
    losses = train(model, draw_spirals, recipe, progress=False).loss
    return {"loss": losses, "state": model.state_dict()}


def trained(how: str, wiring: str, seed: int) -> DeepStack:
    """Return a stack as training left it."""
    model = new_stack(how, wiring)
    model.load_state_dict(kept(spirals, how=how, wiring=wiring, seed=seed)["state"])
    return model


def test_loss(model: nn.Module) -> Tensor:
    """Compute the loss on 128 points that are the same every time."""
    points, spiral = draw_spirals(128, torch.Generator().manual_seed(1))
    return F.cross_entropy(model(points), spiral)


def surface(how: str, wiring: str, seed: int) -> Tensor:
    """Cut a sheet along two random, filter-normalised directions through a trained stack."""
    model = trained(how, wiring, seed)
    home = {name: p.detach() for name, p in model.named_parameters()}
    generator = torch.Generator().manual_seed(seed)
    first, second = (
        filter_normalise(
            {name: torch.randn(p.shape, generator=generator) for name, p in home.items()}, home
        )
        for _ in range(2)
    )
    return loss_surface(model, test_loss, first, second, PLACES)


def places(skips: str, seed: int) -> dict:
    """Probe an encoder for the places of its tokens, before and after training."""
    torch.manual_seed(seed)
    encoder = Encoder(skips)
    before = readable_places(encoder)
    losses = train(encoder, draw_words, replace(WORDS, seed=seed), progress=False).loss
    return {"before": before, "after": readable_places(encoder), "loss": losses}


RUNS = [
    (spirals, {"how": "gain 1", "wiring": "plain", "seed": 0, "longer": True}),
    *((spirals, {"how": h, "wiring": w, "seed": s}) for h, w in TRAINED for s in SEEDS),
    *((spirals, {"how": "default", "wiring": "plain", "seed": s, "n_layer": 1}) for s in SEEDS),
    *((places, {"skips": skips, "seed": s}) for skips in ("both", "none") for s in SEEDS),
    *((surface, {"how": h, "wiring": w, "seed": s}) for h, w in SEEN for s in SEEDS),
    *((gradients, {"how": how}) for how in VARIANCES),
]
