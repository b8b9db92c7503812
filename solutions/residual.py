"""A feed-forward layer for every token, the straight road around it, and what it does for depth."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class FeedForward(nn.Module):
    """Think about each token by itself: the same small network for every token."""

    def __init__(
        self,
        n_embd: int,
        n_hidden: int | None = None,
        activation: Callable[[Tensor], Tensor] = F.relu,
    ):
        """Make two linear layers with biases, and keep the activation for `forward`.

        `up` leads from C to n_hidden columns, `down` back to C.
        Where n_hidden is None it is 4 * n_embd.
        """
        super().__init__()
        n_hidden = 4 * n_embd if n_hidden is None else n_hidden
        self.up = nn.Linear(n_embd, n_hidden)
        self.down = nn.Linear(n_hidden, n_embd)
        self.activation = activation

    def forward(self, x: Tensor) -> Tensor:
        """Widen, bend, narrow: down(activation(up(x))).

        x (..., C), with any axes in front -> (..., C): every token the same way, alone.
        """
        return self.down(self.activation(self.up(x)))


class Residual(nn.Module):
    """Add what a layer says to what came in, instead of putting it in its place."""

    def __init__(self, f: Callable[..., Tensor]):
        super().__init__()
        self.f = f

    def forward(self, x: Tensor, *args, **kwargs) -> Tensor:
        """Return x + f(x, ...); further arguments, such as a mask, are for f alone.

        x (..., C) -> (..., C), a new tensor: x itself is left as it is.

        >>> Residual(torch.relu)(torch.tensor([2.0, -3.0]))
        tensor([ 4., -3.])
        """
        return x + self.f(x, *args, **kwargs)


def gradient_by_depth(layers: Sequence[Callable], x: Tensor, push: Tensor) -> Tensor:
    """Measure how much of a gradient arrives at every depth of a stack of layers.

    x enters the first layer, what a layer returns enters the next. Call x h_0, the output
    of layer l h_l and the last output h_L. `push`, of h_L's shape, is the gradient of some
    loss with respect to h_L; going backwards it becomes the gradient g_l with respect to
    each h_l -> a tensor (L + 1) of x's dtype: |g_l| / |g_L| for l = 0 to L, where |.| is
    the root of the sum of the squares of all entries, rows and columns alike. The last
    entry is 1. x is left as it is, also its `requires_grad`.

    >>> halve = lambda x: 0.5 * x
    >>> gradient_by_depth([halve, halve], torch.ones(1, 3), torch.ones(1, 3))
    tensor([0.2500, 0.5000, 1.0000])
    """
    states = [x.detach().requires_grad_()]
    for layer in layers:
        states.append(layer(states[-1]))
    gradients = torch.autograd.grad(states[-1], states, push)
    norms = torch.stack([gradient.norm() for gradient in gradients])
    return norms / norms[-1]
