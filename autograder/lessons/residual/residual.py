"""Residual: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.question import ARGUMENTS, GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from solutions.residual import Residual


def _around(own, name, weight, x, args, kwargs):
    """Wrap a layer that can take a mask and a strength, and run it."""
    import torch

    from autograder.seam.probe import push

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
        wanted = [leaf, layer.weight]
        seen["gradients"] = list(
            torch.autograd.grad(result, wanted, push(result), allow_unused=True)
        )
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


QUESTION = Exercise(
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
