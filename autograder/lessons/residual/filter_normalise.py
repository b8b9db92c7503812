"""filter_normalise: the cases it is tried in, and the slips that are known."""

from autograder.checks.question import ARGUMENTS, Case, Exercise
from autograder.checks.slips import Slip
from solutions.loss_surface import filter_normalise


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


QUESTION = Exercise(
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
