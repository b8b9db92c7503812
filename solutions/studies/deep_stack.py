"""Many layers on top of each other: with which weights they start, and how they are wired."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

DEFAULT = "default"  # what nn.Linear does by itself: uniform, variance 1 / (3 n), n the inputs
# variances of the weights of `up` and of `down`; n is the inputs, m the outputs of the matrix
VARIANCES = {
    DEFAULT: (lambda n, m: 1 / (3 * n), lambda n, m: 1 / (3 * n)),
    "0.02": (lambda n, m: 0.02**2, lambda n, m: 0.02**2),
    "Xavier": (lambda n, m: 2 / (n + m), lambda n, m: 2 / (n + m)),
    "gain 1": (lambda n, m: 2 / n, lambda n, m: 1 / n),
    "He": (lambda n, m: 2 / n, lambda n, m: 2 / n),
}
# is there a skip, and where does the norm stand
WIRINGS = {
    "plain": (False, "none"),
    "residual": (True, "none"),
    "pre-norm": (True, "before"),
    "post-norm": (True, "after"),
    "norm before, no skip": (False, "before"),
    "norm after, no skip": (False, "after"),
}


def initialise(layer: nn.Module, how: str) -> nn.Module:
    """Draw the matrices of a feed-forward layer anew, with biases of zero; "default" leaves all."""
    if how != DEFAULT:
        for linear, variance in zip((layer.up, layer.down), VARIANCES[how], strict=True):
            m, n = linear.weight.shape
            nn.init.normal_(linear.weight, std=variance(n, m) ** 0.5)
            nn.init.zeros_(linear.bias)
    return layer


def squared_gain(how: str, n_embd: int, n_hidden: int) -> float:
    """Compute by how much one layer multiplies a squared length on average; ReLU halves it."""
    up, down = VARIANCES[how]
    return n_embd * up(n_embd, n_hidden) / 2 * n_hidden * down(n_hidden, n_embd)


def wire(f: nn.Module, wiring: str, n_embd: int, residual: type) -> nn.Module:
    """Put a skip around f, or a norm before it or after it (lesson layer_norm), or both."""
    skip, norm = WIRINGS[wiring]
    level = nn.LayerNorm(n_embd, elementwise_affine=False)
    if norm == "before":
        f = nn.Sequential(level, f)
    if skip:
        f = residual(f)
    return nn.Sequential(f, level) if norm == "after" else f


def make_layers(
    n_layer: int, n_embd: int, how: str, wiring: str, feed_forward: type, residual: type
) -> nn.ModuleList:
    """Make a stack of feed-forward layers; the two classes are the reference's or your own."""
    made = (initialise(feed_forward(n_embd), how) for _ in range(n_layer))
    return nn.ModuleList(wire(layer, wiring, n_embd, residual) for layer in made)


class DeepStack(nn.Module):
    """Tell two spirals apart with a deep stack: read two numbers in, many layers, read two out."""

    def __init__(self, n_embd: int, layers: nn.ModuleList, final_norm: bool = False):
        super().__init__()
        self.read_in = nn.Linear(2, n_embd)
        self.layers = layers
        level = nn.LayerNorm(n_embd, elementwise_affine=False)
        self.read_out = nn.Sequential(level if final_norm else nn.Identity(), nn.Linear(n_embd, 2))

    def states(self, points: Tensor) -> list[Tensor]:
        """Return what stands between the layers: L + 1 tensors (B, C)."""
        states = [self.read_in(points)]
        for layer in self.layers:
            states.append(layer(states[-1]))
        return states

    def forward(self, points: Tensor) -> Tensor:
        """Score the two spirals: points (B, 2) -> (B, 2)."""
        return self.read_out(self.states(points)[-1])


def compare_depths(
    feed_forward: type, residual: type, gradient_by_depth: Callable, seed: int = 0
) -> dict[str, float]:
    """Measure what of a gradient arrives below 64 layers: plain, with skips, with large weights."""
    torch.manual_seed(seed)
    x, push = torch.randn(2, 16, 24, dtype=torch.float64)
    stacks = {
        "plain": ("plain", DEFAULT),
        "skips": ("residual", DEFAULT),
        "large": ("residual", "He"),
    }
    arrived = {}
    for name, (wiring, how) in stacks.items():
        layers = make_layers(64, 24, how, wiring, feed_forward, residual).double()
        arrived[name] = float(gradient_by_depth(list(layers), x, push)[0])
    return arrived
