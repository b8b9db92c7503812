"""Cut a flat sheet through the space of all parameters and look at the loss on it."""

import copy
import itertools
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Direction = dict[str, Tensor]  # a tensor for every parameter, under the parameter's name


def filter_normalise(direction: Direction, weights: Direction) -> Direction:
    """Make each filter of a direction as long as the same filter of the weights.

    The filters of a tensor with two or more axes are its slices along the first axis: row i
    of a matrix holds all weights that lead into unit i. Each slice keeps its direction and
    gets the length of the same slice of the weights (root of the sum of squares); a slice
    of zeros stays zero. Tensors with one axis or none (biases, the gains of a norm) become
    zeros: the sheet does not move them. Both arguments, dicts with the same names and
    shapes, are left as they are.

    >>> direction = {"up": torch.tensor([[3.0, 4.0], [0.0, 2.0]]), "bias": torch.ones(2)}
    >>> weights = {"up": torch.tensor([[0.0, 10.0], [1.0, 0.0]]), "bias": torch.ones(2)}
    >>> filter_normalise(direction, weights)
    {'up': tensor([[6., 8.],
            [0., 1.]]), 'bias': tensor([0., 0.])}
    """
    made = {}
    for name, d in direction.items():
        if d.ndim < 2:
            made[name] = torch.zeros_like(d)
            continue
        lengths = weights[name].flatten(1).norm(dim=1, keepdim=True)  # (filters, 1)
        made[name] = (lengths * F.normalize(d.flatten(1), dim=1)).reshape(d.shape)
    return made


def loss_surface(
    model: nn.Module,
    loss: Callable[[nn.Module], Tensor],
    first: Direction,
    second: Direction,
    places: Tensor,
) -> Tensor:
    """Measure the loss at every point of a sheet through the model's parameters.

    loss(model) -> a tensor with one number; first and second hold a tensor for every name
    of model.named_parameters(); places (N) are the steps to take along either direction
    -> (N, N): entry [i, j] is the loss at
    parameters + places[i] * first + places[j] * second.
    Afterwards the model has the parameters it had before.
    """
    there = copy.deepcopy(model)
    home = dict(model.named_parameters())
    values = []
    with torch.no_grad():
        for a, b in itertools.product(places, places):
            for name, parameter in there.named_parameters():
                parameter.copy_(home[name] + a * first[name] + b * second[name])
            values.append(loss(there))
    return torch.stack(values).reshape(len(places), len(places))
