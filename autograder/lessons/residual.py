"""residual: the feed-forward layer, the skip, gradients against depth, the loss surface."""

import itertools
import math

import torch

from autograder.exercise import (
    ARGUMENTS,
    GRADIENT,
    Case,
    Choice,
    Conclusion,
    Draw,
    Exercise,
    built,
)
from autograder.probe import module
from autograder.puzzle import Puzzle
from autograder.slips import Slip
from solutions.loss_surface import filter_normalise, loss_surface
from solutions.residual import FeedForward, Residual, gradient_by_depth


def _weights(d, c, hidden, dtype=torch.float32):
    return {
        "up.weight": d.normal(hidden, c, std=c**-0.5, dtype=dtype),
        "up.bias": d.normal(hidden, dtype=dtype),
        "down.weight": d.normal(c, hidden, std=hidden**-0.5, dtype=dtype),
        "down.bias": d.normal(c, dtype=dtype),
    }


def _layer(*leading, tokens=None, hidden=False):
    def draw(d):
        t, c, n_hidden = d.sizes(3)
        t = tokens or t
        config = {"n_embd": c, "n_hidden": n_hidden} if hidden else {"n_embd": c}
        x = d.normal(*leading, t, c)
        return built(config, _weights(d, c, n_hidden if hidden else 4 * c), x)

    return draw


def _tokens_as_columns(d):
    """As many tokens as columns: a network across the tokens does not fail, it misleads."""
    c = d.sizes(1, 3, 6)[0]
    return built({"n_embd": c}, _weights(d, c, 4 * c), d.normal(2, c, c))


def _no_token_axis(d):
    c = d.sizes(1)[0]
    return built({"n_embd": c}, _weights(d, c, 4 * c), d.normal(c))


def _bent_by(activation):
    def draw(d):
        t, c, hidden = d.sizes(3)
        return {"n_embd": c, "n_hidden": hidden}, _weights(d, c, hidden), d.normal(t, c), activation

    return draw


def _with_activation(own, name, config, weights, x, activation):
    """Build the layer with another activation than ReLU, and run it."""
    import torch

    layer = getattr(own, name)(**config, activation=getattr(torch, activation))
    layer.load_state_dict(weights)
    x = x.requires_grad_()
    result = layer(x)
    gradients = [None]
    if isinstance(result, torch.Tensor) and result.requires_grad:
        push = torch.cos(torch.arange(result.numel(), dtype=result.dtype)).reshape(result.shape)
        gradients = torch.autograd.grad(result, [x], push, allow_unused=True)
    return {"result": result, "gradients": list(gradients)}


FORWARD = "self.down(self.activation(self.up(x)))"
FEED_FORWARD = Exercise(
    FeedForward,
    parts={"values": 6, "hidden width": 3, "activation": 3, GRADIENT: 3},
    cases=[
        Case("values", "a batch of tokens", _layer(3), module),
        Case("values", "one token", _layer(2, tokens=1), module),
        Case("values", "as many tokens as columns", _tokens_as_columns, module),
        Case("values", "a single vector", _no_token_axis, module),
        Case("values", "two leading axes", _layer(2, 3), module),
        Case("hidden width", "n_hidden given", _layer(2, hidden=True), module),
        Case("activation", "tanh", _bent_by("tanh"), _with_activation),
        Case("activation", "sine", _bent_by("sin"), _with_activation),
    ],
    slips=[
        Slip(
            "activation at the end",
            FeedForward.forward,
            FORWARD,
            "self.activation(self.down(self.up(x)))",
            "The activation comes after the second linear layer. It belongs between the two: two "
            "linear layers in a row are one linear layer.",
        ),
        Slip(
            "no activation",
            FeedForward.forward,
            FORWARD,
            "self.down(self.up(x))",
            "There is no activation between the two linear layers: together they are one linear "
            "layer, whatever the hidden width.",
        ),
        Slip(
            "activation twice",
            FeedForward.forward,
            FORWARD,
            "self.activation(self.down(self.activation(self.up(x))))",
            "The activation is applied a second time, to the result: a ReLU there lets the layer "
            "only ever add, never subtract.",
        ),
        Slip(
            "activation at the start",
            FeedForward.forward,
            FORWARD,
            "self.down(self.up(self.activation(x)))",
            "The activation is applied to the input. It belongs between `up` and `down`.",
        ),
        Slip(
            "always ReLU",
            FeedForward.__init__,
            "self.activation = activation",
            "self.activation = F.relu",
            "The layer uses ReLU whatever `activation` says.",
        ),
        Slip(
            "hidden width C",
            FeedForward.__init__,
            "4 * n_embd if",
            "n_embd if",
            "The hidden layer is as wide as a token. Where n_hidden is None it is 4 * n_embd wide.",
        ),
        Slip(
            "n_hidden not used",
            FeedForward.__init__,
            "4 * n_embd if n_hidden is None else n_hidden",
            "4 * n_embd",
            "The hidden layer has 4 * n_embd columns even where n_hidden says otherwise.",
        ),
        Slip(
            "no biases",
            FeedForward.__init__,
            "self.up = nn.Linear(n_embd, n_hidden)\n"
            "        self.down = nn.Linear(n_hidden, n_embd)",
            "self.up = nn.Linear(n_embd, n_hidden, bias=False)\n"
            "        self.down = nn.Linear(n_hidden, n_embd, bias=False)",
            "The linear layers have no biases; both are asked to have one.",
        ),
        Slip(
            "input added",
            FeedForward.forward,
            FORWARD,
            "x + self.down(self.activation(self.up(x)))",
            "The input is added to the result. That is the work of `Residual`, the next exercise; "
            "the layer itself returns only its own part.",
        ),
        Slip(
            "across the tokens",
            FeedForward.forward,
            FORWARD,
            "self.down(self.activation(self.up(x.transpose(-2, -1)))).transpose(-2, -1)",
            "The network runs along the tokens instead of along the columns of each token: it "
            "mixes tokens, and works only where T happens to equal C.",
        ),
        Slip(
            "not narrowed again",
            FeedForward.forward,
            FORWARD,
            "self.activation(self.up(x))",
            "`down` is not used: the result still has the hidden width.",
        ),
        Slip(
            "no gradient to `up`",
            FeedForward.forward,
            FORWARD,
            "self.down(self.activation(self.up(x)).detach())",
            "The result is right, but no gradient reaches `up` and the input: is there a detach() "
            "or .data?",
        ),
    ],
)


def _around(own, name, weight, x, args, kwargs):
    """Wrap a layer that can take a mask and a strength, and run it."""
    import torch

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(weight)

        def forward(self, x, mask=None, strength=1.0):
            said = torch.tanh(x @ self.weight) * strength
            return said if mask is None else said * mask

    layer = Layer()
    wrapped = getattr(own, name)(layer)
    leaf = x.clone().requires_grad_()
    fresh = leaf * 1  # a leaf may not be written into, and that is not what is asked here
    result = wrapped(fresh, *args, **kwargs)
    seen = {"result": result, "inputs": [fresh]}
    if not isinstance(result, torch.Tensor):
        return seen
    try:
        push = torch.cos(torch.arange(result.numel(), dtype=result.dtype)).reshape(result.shape)
        wanted = [leaf, layer.weight]
        seen["gradients"] = list(torch.autograd.grad(result, wanted, push, allow_unused=True))
    except RuntimeError as error:
        seen["gradient error"] = str(error).splitlines()[0]
    return seen


def _around_a_function(own, name, x):
    """Wrap a plain function."""
    import torch

    return getattr(own, name)(torch.cos)(x)


def _around_nothing(own, name, x):
    """Wrap a function that gives back its very argument."""
    result = getattr(own, name)(lambda x: x)(x)
    return {"result": result, "inputs": [x]}


def _wrapped(*leading, dtype=torch.float32):
    def draw(d):
        t, c = d.sizes(2)
        return d.normal(c, c, dtype=dtype), d.normal(*leading, t, c, dtype=dtype), (), {}

    return draw


def _with_mask(d):
    t, c = d.sizes(2)
    return d.normal(c, c), d.normal(2, t, c), (d.mask(t, c),), {}


def _with_keyword(d):
    t, c = d.sizes(2)
    return d.normal(c, c), d.normal(2, t, c), (), {"strength": 0.25}


def _with_two(d):
    t, c = d.sizes(2)
    return d.normal(c, c), d.normal(2, t, c), (d.mask(t, c), 0.5), {}


def _with_both(d):
    t, c = d.sizes(2)
    return d.normal(c, c), d.normal(t, c), (d.mask(t, c),), {"strength": 3.0}


SUM = "x + self.f(x, *args, **kwargs)"
RESIDUAL = Exercise(
    Residual,
    parts={"values": 4, "further arguments": 3, GRADIENT: 3, ARGUMENTS: 2},
    cases=[
        Case("values", "a batch of tokens", _wrapped(3), _around),
        Case("values", "no batch", _wrapped(), _around),
        Case("values", "float64", _wrapped(2, dtype=torch.float64), _around),
        Case("values", "a plain function", lambda d: (d.normal(2, 3),), _around_a_function),
        Case(
            "values", "a function that does nothing", lambda d: (d.normal(2, 3),), _around_nothing
        ),
        Case("further arguments", "a mask", _with_mask, _around),
        Case("further arguments", "two without names", _with_two, _around),
        Case("further arguments", "a named argument", _with_keyword, _around),
        Case("further arguments", "both", _with_both, _around),
    ],
    slips=[
        Slip(
            "f(x) only",
            Residual.forward,
            SUM,
            "self.f(x, *args, **kwargs)",
            "The layer's answer replaces the input. Add the input: x + f(x).",
        ),
        Slip(
            "subtracted",
            Residual.forward,
            SUM,
            "x - self.f(x, *args, **kwargs)",
            "The layer's answer is subtracted; add it.",
        ),
        Slip(
            "multiplied",
            Residual.forward,
            SUM,
            "x * self.f(x, *args, **kwargs)",
            "Input and answer are multiplied. That is a gate: where f(x) is near 0 nothing passes. "
            "Add them.",
        ),
        Slip(
            "averaged",
            Residual.forward,
            SUM,
            "(x + self.f(x, *args, **kwargs)) / 2",
            "The sum is halved: after L layers only 2^-L of the input is left. Add, no more.",
        ),
        Slip(
            "argument overwritten",
            Residual.forward,
            SUM,
            "x.add_(self.f(x, *args, **kwargs))",
            "The call writes into its own argument (`x += ...` or `add_`): the caller's tensor "
            "changes, and autograd may fail. Make a new one: x + ...",
        ),
        Slip(
            "further arguments dropped",
            Residual.forward,
            SUM,
            "x + self.f(x)",
            "Further arguments never reach f: a mask given to the layer is silently ignored. Pass "
            "on *args and **kwargs.",
        ),
        Slip(
            "named arguments dropped",
            Residual.forward,
            SUM,
            "x + self.f(x, *args)",
            "Named arguments do not reach f: pass on **kwargs too.",
        ),
        Slip(
            "unnamed arguments dropped",
            Residual.forward,
            SUM,
            "x + self.f(x, **kwargs)",
            "Arguments given without a name do not reach f: pass on *args too.",
        ),
        Slip(
            "skip detached",
            Residual.forward,
            SUM,
            "x.detach() + self.f(x, *args, **kwargs)",
            "The values are right but the straight road is closed for gradients: x is detached.",
        ),
        Slip(
            "branch detached",
            Residual.forward,
            SUM,
            "x + self.f(x, *args, **kwargs).detach()",
            "The values are right but f gets no gradient: its answer is detached, so f never "
            "learns.",
        ),
        Slip(
            "f twice",
            Residual.forward,
            SUM,
            "x + self.f(self.f(x, *args, **kwargs), *args, **kwargs)",
            "f is applied to its own answer. It reads x, once.",
        ),
        Slip(
            "skip around the wrong input",
            Residual.forward,
            "return x + self.f(x, *args, **kwargs)",
            "y = self.f(x, *args, **kwargs); return y + self.f(y, *args, **kwargs)",
            "The skip starts behind f: what is added to f's answer is another answer of f, and x "
            "itself is lost.",
        ),
        Slip(
            "f reads the sum",
            Residual.forward,
            "return x + self.f(x, *args, **kwargs)",
            "y = x + self.f(x, *args, **kwargs); return x + self.f(y, *args, **kwargs)",
            "f reads the sum x + f(x) instead of x.",
        ),
        Slip(
            "ReLU after the sum",
            Residual.forward,
            SUM,
            "F.relu(x + self.f(x, *args, **kwargs))",
            "The sum goes through a ReLU. Early residual networks did that, but it puts a toll "
            "gate on the straight road: what is negative in x is lost.",
        ),
        Slip(
            "norm after the sum",
            Residual.forward,
            SUM,
            "F.layer_norm(x + self.f(x, *args, **kwargs), x.shape[-1:])",
            "The sum is normalised. That is the post-norm of the next lesson; here the sum is "
            "returned as it is.",
        ),
        Slip(
            "side by side",
            Residual.forward,
            SUM,
            "torch.cat([x, self.f(x, *args, **kwargs)], -1)",
            "Input and answer are set side by side, which doubles the width. Add them.",
        ),
    ],
)


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
DEPTH = Exercise(
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


def _filters(own, name, direction, weights):
    result = getattr(own, name)(direction, weights)
    left = [*direction.values(), *weights.values()]
    return {"result": dict(result), "inputs": left}


def _tensors(**shapes):
    def draw(d):
        made = [{k: d.normal(*shape) for k, shape in shapes.items()} for _ in range(2)]
        return tuple(made)

    return draw


def _two_layers(d):
    a, b, c = d.sizes(3)
    shapes = {"up.weight": (b, a), "up.bias": (b,), "down.weight": (c, b), "down.bias": (c,)}
    return _tensors(**shapes)(d)


def _zero_filter(d):
    direction, weights = _tensors(weight=(4, 3), bias=(4,))(d)
    direction["weight"][1] = 0.0
    weights["weight"][2] = 0.0
    return direction, weights


def _other_order(d):
    """Names decide, not the order; and axes decide, not names: a norm's gain is a weight, too."""
    direction, weights = _tensors(**{"norm.weight": (5,), "first": (4, 3), "second": (3, 4)})(d)
    return direction, dict(reversed(weights.items()))


def _tiny(d):
    direction, weights = _tensors(weight=(4, 3))(d)
    return {"weight": 1e-4 * direction["weight"]}, weights


def _transposed(d):
    direction, weights = _tensors(weight=(5, 3))(d)
    return {k: v.T for k, v in direction.items()}, {k: v.T for k, v in weights.items()}


LENGTHS = "lengths = weights[name].flatten(1).norm(dim=1, keepdim=True)  # (filters, 1)\n        "
SCALED = "made[name] = (lengths * F.normalize(d.flatten(1), dim=1)).reshape(d.shape)"
FILTERS = Exercise(
    filter_normalise,
    parts={"matrices": 5, "filters with more axes": 3, "biases and gains": 3, ARGUMENTS: 2},
    cases=[
        Case("matrices", "two linear layers", _two_layers, _filters),
        Case("matrices", "a square matrix", _tensors(weight=(4, 4)), _filters),
        Case("matrices", "a filter of zeros", _zero_filter, _filters),
        Case("matrices", "transposed matrices", _transposed, _filters),
        Case("matrices", "one column", _tensors(weight=(3, 1)), _filters),
        Case("matrices", "names in another order", _other_order, _filters),
        Case("matrices", "a tiny direction", _tiny, _filters),
        Case("filters with more axes", "a convolution", _tensors(weight=(4, 3, 2, 5)), _filters),
        Case("filters with more axes", "three axes", _tensors(weight=(3, 5, 2)), _filters),
        Case("biases and gains", "a norm", _tensors(gain=(5,), bias=(5,)), _filters),
        Case("biases and gains", "a single number", _tensors(temperature=()), _filters),
    ],
    slips=[
        Slip(
            "whole tensor",
            filter_normalise,
            LENGTHS + SCALED,
            "lengths = weights[name].norm()\n        "
            "made[name] = (lengths * F.normalize(d.flatten(), dim=0)).reshape(d.shape)",
            "Each tensor gets the length of the whole tensor of weights. Do it filter by filter: "
            "each slice along the first axis for itself.",
        ),
        Slip(
            "columns",
            filter_normalise,
            LENGTHS + SCALED,
            "lengths = weights[name].flatten(1).norm(dim=0, keepdim=True)\n        "
            "made[name] = (lengths * F.normalize(d.flatten(1), dim=0)).reshape(d.shape)",
            "The columns are scaled. A filter is a row: all weights that lead into one unit.",
        ),
        Slip(
            "biases kept",
            filter_normalise,
            "torch.zeros_like(d)",
            "d",
            "Biases and gains are returned as they are: they become zeros, so that the sheet does "
            "not move them.",
        ),
        Slip(
            "biases made as long as the weights'",
            filter_normalise,
            "torch.zeros_like(d)",
            "weights[name].norm() * F.normalize(d, dim=0)",
            "Biases and gains are scaled like a filter: they become zeros.",
        ),
        Slip(
            "biases scaled one by one",
            filter_normalise,
            "torch.zeros_like(d)",
            "d.sign() * weights[name].abs()",
            "Each number of a bias or gain is taken for a filter: they become zeros.",
        ),
        Slip(
            "filters of length one",
            filter_normalise,
            "lengths * F.normalize",
            "F.normalize",
            "Every filter of the direction has length one: multiply by the length of the same "
            "filter of the weights.",
        ),
        Slip(
            "not divided by its own length",
            filter_normalise,
            "F.normalize(d.flatten(1), dim=1)",
            "d.flatten(1)",
            "The filters are multiplied by the weights' lengths but not divided by their own.",
        ),
        Slip(
            "weights and direction exchanged",
            filter_normalise,
            LENGTHS + SCALED,
            "lengths = d.flatten(1).norm(dim=1, keepdim=True)\n        "
            "made[name] = (lengths * F.normalize(weights[name].flatten(1), dim=1)).view_as(d)",
            "The roles are exchanged: this is the weights' direction with the direction's length.",
        ),
        Slip(
            "last axis only",
            filter_normalise,
            LENGTHS + SCALED,
            "lengths = weights[name].norm(dim=-1, keepdim=True)\n        "
            "made[name] = lengths * F.normalize(d, dim=-1)",
            "The lengths are taken along the last axis only. With more than two axes a filter is "
            "the whole slice along the first one.",
        ),
        Slip(
            "zero divided by zero",
            filter_normalise,
            "F.normalize(d.flatten(1), dim=1)",
            "d.flatten(1) / d.flatten(1).norm(dim=1, keepdim=True)",
            "A filter of zeros is divided by its length 0 and becomes nan: it stays zero.",
        ),
        Slip(
            "sums of absolute values",
            filter_normalise,
            LENGTHS + SCALED,
            "lengths = weights[name].flatten(1).norm(p=1, dim=1, keepdim=True)\n        "
            "made[name] = (lengths * F.normalize(d.flatten(1), p=1, dim=1)).reshape(d.shape)",
            "Lengths are sums of absolute values here; asked for is the root of the sum of the "
            "squares.",
        ),
        Slip(
            "the moved weights",
            filter_normalise,
            "made[name] = (lengths * F.normalize(d.flatten(1), dim=1)).reshape(d.shape)",
            "made[name] = weights[name] + (lengths * F.normalize(d.flatten(1), dim=1)).view_as(d)",
            "The weights are added already. Return the direction alone; `loss_surface` walks along "
            "it.",
        ),
        Slip(
            "argument overwritten",
            filter_normalise,
            "torch.zeros_like(d)",
            "d.zero_()",
            "The call writes zeros into its own argument: make a new tensor.",
        ),
    ],
    equivalent={
        "filter_normalise: F.normalize(d.flatten(1), dim=1) -> F.normalize(d.flatten(1))": (
            "dim=1 is what normalize takes by itself"
        ),
        "filter_normalise: F.normalize(d.flatten(1), dim=1) -> "
        "F.normalize(d.flatten(1), dim=-1)": "a table's last axis is its axis 1",
        "filter_normalise: weights[name].flatten(1).norm(dim=1, keepdim=True) -> "
        "weights[name].flatten(1).norm(dim=-1, keepdim=True)": "a table's last axis is its axis 1",
    },
)


def _on_a_sheet(own, name, weights, first, second, places, x, target):
    """Cut a sheet through a small network, and look whether the network is the same after."""
    import torch

    hidden, inputs = weights["0.weight"].shape
    outputs = weights["2.weight"].shape[0]
    layers = [torch.nn.Linear(inputs, hidden), torch.nn.Tanh(), torch.nn.Linear(hidden, outputs)]
    model = torch.nn.Sequential(*layers).to(x.dtype)
    model.load_state_dict(weights)

    def loss(model):
        return (model(x) - target).square().mean()

    result = getattr(own, name)(model, loss, first, second, places)
    if isinstance(result, torch.Tensor) and result.is_floating_point():
        result = result.float()  # no text asks for a dtype
    marks = torch.tensor([model.training, *(p.requires_grad for p in model.parameters())])
    left = [*model.state_dict().values(), *first.values(), *second.values(), places, marks]
    return {"result": result, "inputs": left}


def _sheet(places, dtype=torch.float32, along=(True, True)):
    def draw(d):
        a, b, c, n = d.sizes(4)
        shapes = {"0.weight": (b, a), "0.bias": (b,), "2.weight": (c, b), "2.bias": (c,)}
        home, *directions = (
            {k: d.normal(*s, std=0.7, dtype=dtype) for k, s in shapes.items()} for _ in range(3)
        )
        for direction, moves in zip(directions, along, strict=True):
            if not moves:
                direction.update({k: torch.zeros_like(v) for k, v in direction.items()})
        at = torch.tensor(places, dtype=dtype)
        return home, *directions, at, d.normal(n, a, dtype=dtype), d.normal(n, c, dtype=dtype)

    return draw


def _shuffled(d):
    """Directions belong to weights by name, whatever their order."""
    home, first, second, *rest = _sheet([-1.0, 0.5])(d)
    return home, dict(reversed(first.items())), second, *rest


MOVE = "home[name] + a * first[name] + b * second[name]"
SURFACE = Exercise(
    loss_surface,
    parts={"values": 8, ARGUMENTS: 5},
    cases=[
        Case("values", "a sheet of 3 by 3 points", _sheet([-1.0, 0.0, 1.0]), _on_a_sheet),
        Case("values", "places in no order", _sheet([0.5, -2.0, 0.1, 1.5]), _on_a_sheet),
        Case("values", "one point", _sheet([0.7]), _on_a_sheet),
        Case("values", "names in another order", _shuffled, _on_a_sheet),
        Case("values", "float64", _sheet([-0.3, 0.9], torch.float64), _on_a_sheet),
    ],
    slips=[
        Slip(
            "directions exchanged",
            loss_surface,
            ".reshape(len(places), len(places))",
            ".reshape(len(places), len(places)).T",
            "Rows and columns are exchanged: entry [i, j] goes places[i] along `first` and "
            "places[j] along `second`.",
        ),
        Slip(
            "second direction not used",
            loss_surface,
            MOVE,
            "home[name] + a * first[name]",
            "The second direction is not used: all columns are alike.",
        ),
        Slip(
            "first direction not used",
            loss_surface,
            MOVE,
            "home[name] + b * second[name]",
            "The first direction is not used: all rows are alike.",
        ),
        Slip(
            "the same step along both",
            loss_surface,
            MOVE,
            "home[name] + a * first[name] + a * second[name]",
            "The same step is taken along both directions: this is a line, not a sheet.",
        ),
        Slip(
            "not from home",
            loss_surface,
            MOVE,
            "a * first[name] + b * second[name]",
            "The steps start at zero: add the model's own parameters.",
        ),
        Slip(
            "walked on from the last point",
            loss_surface,
            "parameter.copy_(home[name] + a * first[name] + b * second[name])",
            "parameter.add_(a * first[name] + b * second[name])",
            "Each step starts where the last one ended: start from the model's own parameters at "
            "every point.",
        ),
        Slip(
            "never came home",
            loss_surface,
            "there = copy.deepcopy(model)\n    home = dict(model.named_parameters())",
            "there = model\n    home = {n: p.clone() for n, p in model.named_parameters()}",
            "The surface is right, but the model is left at the last point of the sheet: put its "
            "parameters back, or move a copy.",
        ),
        Slip(
            "walked on and never came home",
            loss_surface,
            "copy.deepcopy(model)",
            "model",
            "The model itself is moved, so its `home` moves along: keep a copy of the parameters.",
        ),
        Slip(
            "only the matrices",
            loss_surface,
            "in there.named_parameters():",
            "in [(n, p) for n, p in there.named_parameters() if p.ndim > 1]:",
            "Only the matrices are moved. Whether biases move is for the directions to say, which "
            "may hold zeros for them.",
        ),
        Slip(
            "backwards",
            loss_surface,
            MOVE,
            "home[name] - a * first[name] - b * second[name]",
            "The steps are taken backwards: add them.",
        ),
        Slip(
            "never moved",
            loss_surface,
            "loss(there)",
            "loss(model)",
            "The loss is taken at home every time: the surface is flat.",
        ),
        Slip(
            "height above the centre",
            loss_surface,
            "loss(there)",
            "loss(there) - loss(model)",
            "The loss of the model itself is subtracted: return the losses as they are.",
        ),
        Slip(
            "logarithm of the loss",
            loss_surface,
            "loss(there)",
            "loss(there).log()",
            "These are logarithms of the loss: return the losses as they are.",
        ),
        Slip(
            "upside down",
            loss_surface,
            ".reshape(len(places), len(places))",
            ".reshape(len(places), len(places)).flip(0)",
            "The rows come in reverse: row i belongs to places[i].",
        ),
        Slip(
            "one long list",
            loss_surface,
            ".reshape(len(places), len(places))",
            "",
            "The losses come as one long list: shape them (N, N).",
        ),
    ],
)


def puzzle() -> Puzzle:
    """What arrives of a gradient where one skip leads around the whole stack."""
    rows = []
    for seed in range(3):
        d = Draw("puzzle", seed)
        weights = [d.normal(32, 32, std=0.5 * 32**-0.5) for _ in range(6)]
        states = [d.normal(8, 32).requires_grad_()]
        for w in weights:
            states.append(torch.tanh(states[-1] @ w))
        push = d.normal(8, 32)
        out = states[0] + states[-1]
        gradients = torch.autograd.grad(out, [*states[:-1], out], push)
        norms = torch.stack([g.norm() for g in gradients])
        rows.append(norms / norms[-1])
    title = "share of the gradient that arrives, stack of 6 layers"
    return Puzzle(torch.stack(rows), title, "random start", "state l (0: input, 6: output)")


WHICH_LINE = Choice(
    "which_line",
    points=8,
    right="c",
    answers={
        "a": "Without any skip the gradient shrinks layer by layer down to the input too. In the "
        "picture it shrinks from state 5 to state 1, but at the input all of it is there.",
        "b": "A detached skip carries no gradient: the picture would be that of a stack without "
        "skips, smallest at the input.",
        "c": "One skip leads from the input to the output, around everything. The gradient takes "
        "it and arrives whole at the input, but the states in between lie on the long road only: "
        "six layers, each a fraction. Those layers learn as slowly as without a skip.",
        "d": "The same layer six times, each time with its skip, keeps the gradient at 1 or above "
        "at every state.",
    },
)


def _three_stacks(own, seed):
    """Send a gradient through 64 layers, wired in three ways."""
    from solutions.studies.deep_stack import compare_depths

    return compare_depths(own.FeedForward, own.Residual, own.gradient_by_depth, seed)


def _what_skips_do(measured: dict) -> str:
    plain, skips, large = (measured[k] for k in ("plain", "skips", "large"))
    if plain < 1e-6 and 1e-3 < skips < 1e3:
        grown = large > 1e6 or math.isnan(large)
        return "b" if grown else "a"
    return "d" if plain > 1e3 * skips else "c"


WHAT_SKIPS_DO = Conclusion(
    "what_skips_do",
    points=10,
    probe=_three_stacks,
    inputs=(0,),
    decide=_what_skips_do,
    measures=[FeedForward, Residual, gradient_by_depth],
    answers={
        letter: "With {whose} code, a gradient of size 1 arrived with size {plain:.1e} at the "
        "input of the plain stack, {skips:.1e} with skips, {large:.1e} with skips and large "
        "weights."
        for letter in "abcd"
    },
)

QUESTIONS = [FEED_FORWARD, RESIDUAL, DEPTH, FILTERS, SURFACE, WHICH_LINE, WHAT_SKIPS_DO]
