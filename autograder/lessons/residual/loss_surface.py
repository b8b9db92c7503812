"""loss_surface: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.question import ARGUMENTS, Case, Exercise
from autograder.checks.slips import Slip
from solutions.loss_surface import loss_surface


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


QUESTION = Exercise(
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
