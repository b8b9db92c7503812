"""gradient_by_depth: the cases it is tried in, and the slips that are known."""

import itertools

import torch

from autograder.checks.question import ARGUMENTS, Case, Exercise
from autograder.checks.slips import Slip
from solutions.residual import gradient_by_depth


def _through_layers(own, name, weights, x, push):
    """Stack tanh layers with these matrices, and see what of a gradient arrives."""
    import torch

    layers = [lambda h, w=w: torch.tanh(h @ w) for w in weights]
    result = getattr(own, name)(layers, x, push)
    marks = torch.tensor([x.requires_grad, x.grad is not None])
    return {"result": result, "inputs": [x, push, marks]}


def _asks_already(own, name, weights, x, push):
    """Hand over an x that asks for gradients: does it still ask afterwards?"""
    import contextlib

    import torch

    layers = [lambda h, w=w: torch.tanh(h @ w) for w in weights]
    x.requires_grad_()
    with contextlib.suppress(Exception):  # what goes wrong here is seen in the other cases
        getattr(own, name)(layers, x, push)
    return {"inputs": [torch.tensor(x.requires_grad)]}


def _stack(rows, depth, widths=None, dtype=torch.float32):
    def draw(d):
        w = [d.sizes(1, 3, 6)[0]] * (depth + 1) if widths is None else widths
        pairs = itertools.pairwise(w)
        weights = [d.normal(a, b, std=0.8 * a**-0.5, dtype=dtype) for a, b in pairs]
        x, push = d.normal(*rows, w[0], dtype=dtype), d.normal(*rows, w[-1], dtype=dtype)
        return weights, x, push

    return draw


NORMS = "gradient.norm() for gradient in gradients"


QUESTION = Exercise(
    gradient_by_depth,
    parts={"values": 9, "every stack": 6, ARGUMENTS: 5},
    cases=[
        Case("values", "four layers", _stack((3,), 4), _through_layers),
        Case("values", "a batch of sentences", _stack((2, 3), 3), _through_layers),
        Case("values", "float64", _stack((4,), 6, dtype=torch.float64), _through_layers),
        Case("every stack", "an x that asks for gradients", _stack((3,), 2), _asks_already),
        Case("every stack", "one layer", _stack((2,), 1), _through_layers),
        Case("every stack", "a single row", _stack((), 3), _through_layers),
        Case(
            "every stack",
            "layers of different widths",
            _stack((3,), 3, (5, 2, 7, 4)),
            _through_layers,
        ),
    ],
    slips=[
        Slip(
            "output first",
            gradient_by_depth,
            "norms / norms[-1]",
            "(norms / norms[-1]).flip(0)",
            "The depths come in reverse: entry 0 belongs to x, the last one to the output.",
        ),
        Slip(
            "not divided",
            gradient_by_depth,
            "norms / norms[-1]",
            "norms",
            "The sizes are not divided by that of the gradient at the output: the last entry must "
            "be 1.",
        ),
        Slip(
            "divided by the input's",
            gradient_by_depth,
            "norms / norms[-1]",
            "norms / norms[0]",
            "The sizes are divided by that of the gradient at the input. The gradient starts at "
            "the output: divide by the last one.",
        ),
        Slip(
            "squares",
            gradient_by_depth,
            "gradient.norm()",
            "gradient.square().sum()",
            "These are sums of squares: the root is missing.",
        ),
        Slip(
            "absolute values",
            gradient_by_depth,
            "gradient.norm()",
            "gradient.abs().sum()",
            "The absolute values are added up. Asked for is the root of the sum of the squares.",
        ),
        Slip(
            "largest entry",
            gradient_by_depth,
            "gradient.norm()",
            "gradient.abs().max()",
            "Only the largest entry of each gradient is taken: use all, the root of the sum of "
            "the squares.",
        ),
        Slip(
            "mean of the squares",
            gradient_by_depth,
            "gradient.norm()",
            "gradient.square().mean().sqrt()",
            "The squares are averaged, not added up: where layers have different widths that is "
            "another number.",
        ),
        Slip(
            "mean of the rows",
            gradient_by_depth,
            "gradient.norm()",
            "gradient.norm(dim=-1).mean()",
            "Each row's length is taken and the lengths are averaged. Take one length, of all "
            "entries together.",
        ),
        Slip(
            "push not used",
            gradient_by_depth,
            "states, push)",
            "states, torch.ones_like(states[-1]))",
            "`push` is not used: this is the gradient of the sum of the output.",
        ),
        Slip(
            "input left out",
            gradient_by_depth,
            "in gradients]",
            "in gradients[1:]]",
            "The gradient with respect to x itself is missing: L layers have L + 1 states.",
        ),
        Slip(
            "output left out",
            gradient_by_depth,
            "return norms / norms[-1]",
            "return (norms / norms[-1])[:-1]",
            "The gradient at the output is missing: L layers have L + 1 states, and the last entry "
            "is 1.",
        ),
        Slip(
            "one layer for all",
            gradient_by_depth,
            "layer(states[-1])",
            "layers[0](states[-1])",
            "The first layer is applied again and again: each layer has its own turn.",
        ),
        Slip(
            "layers in reverse",
            gradient_by_depth,
            "for layer in layers:",
            "for layer in reversed(layers):",
            "The layers are applied from the last to the first.",
        ),
        Slip(
            "states, not gradients",
            gradient_by_depth,
            NORMS,
            "state.norm() for state in states",
            "These are the sizes of the states h_l themselves, not of the gradients with respect "
            "to them.",
        ),
        Slip(
            "logarithms",
            gradient_by_depth,
            "return norms / norms[-1]",
            "return (norms / norms[-1]).log10()",
            "These are logarithms. Return the ratios; a logarithmic axis is the plot's business.",
        ),
        Slip(
            "x asks for gradients afterwards",
            gradient_by_depth,
            "x.detach().requires_grad_()",
            "x.requires_grad_()",
            "The caller's x asks for gradients after the call: `requires_grad_` changes it in "
            "place. Work on x.detach() or on a copy.",
        ),
    ],
)
