"""train_step: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.question import Case, Exercise
from autograder.checks.slips import Slip
from solutions.gpt import train_step


def _steps(own, name, table, mixing, batches, rate, keywords, dropout, left_over=0.0):
    """Take a few steps with a model that knows pairs of tokens; see losses and weights.

    The optimiser has two groups of parameters, of which the second goes at half the rate.
    left_over: what stands in all gradients before the first step, from somebody else's backward.
    """
    import torch
    from torch import nn

    mix = nn.Linear(*mixing.shape, bias=False)
    model = nn.Sequential(nn.Embedding(*table.shape), nn.Dropout(dropout), mix)
    for weight, value in zip(model.parameters(), (table, mixing), strict=True):
        weight.data.copy_(value)
        weight.grad = torch.full_like(value, left_over)
    model.eval()
    groups = [{"params": [model[0].weight]}, {"params": [mix.weight], "lr": rate / 2}]
    optimiser = torch.optim.SGD(groups, lr=rate)
    losses = [getattr(own, name)(model, optimiser, ids, **keywords) for ids in batches]
    kinds = [type(loss).__name__ for loss in losses]
    plain = [float(loss) if isinstance(loss, int | float) else 0.0 for loss in losses]
    left = [weight.detach() for weight in model.parameters()]
    return {"kinds": kinds, "losses": plain, "weights": left}


def _learning(n=1, rate=1.0, dropout=0.0, padding=None, left_over=0.0, **keywords):
    def draw(d):
        v, b, t = d.sizes(3, 3, 7)
        batches = [d.integers(0, v, b, t + 1) for _ in range(n)]
        if padding is not None:
            for ids in batches:
                ids[:, t // 2 + 1 :] = padding
        options = {**keywords, **({} if padding is None else {"padding": padding})}
        tables = d.normal(v, v), torch.eye(v) + d.normal(v, v, std=0.2)
        return *tables, batches, rate, options, dropout, left_over

    return draw


def _great_surprise(d):
    """One pair of tokens, the second least expected: a gradient longer than 1."""
    table = d.normal(5, 5, std=4.0)
    ids = torch.tensor([[2, int(table[2].argmin())]])
    return table, torch.eye(5), [ids], 1.0, {}, 0.0


QUESTION = Exercise(
    train_step,
    parts={"one step": 6, "step after step": 4, "clipping and padding": 3},
    cases=[
        Case("one step", "one batch", _learning(clip=100.0), _steps),
        Case("one step", "in training mode", _learning(dropout=1.0), _steps),
        Case("step after step", "three batches", _learning(3, clip=100.0), _steps),
        Case("step after step", "left over", _learning(2, clip=100.0, left_over=0.3), _steps),
        Case("clipping and padding", "a short leash", _learning(2, clip=0.05), _steps),
        Case("clipping and padding", "the usual leash", _great_surprise, _steps),
        Case("clipping and padding", "padded texts", _learning(2, padding=0, clip=9.0), _steps),
    ],
    slips=[
        Slip(
            "gradients not cleared",
            train_step,
            "    optimiser.zero_grad()",
            "    pass",
            "The gradients of earlier batches are still there, and backward adds to them: call "
            "optimiser.zero_grad() before it.",
        ),
        Slip(
            "cleared only after the step",
            train_step,
            "    optimiser.zero_grad()\n    loss.backward()\n"
            "    nn.utils.clip_grad_norm_(model.parameters(), clip)\n    optimiser.step()",
            "    loss.backward()\n    nn.utils.clip_grad_norm_(model.parameters(), clip)\n"
            "    optimiser.step()\n    optimiser.zero_grad()",
            "The gradients are cleared after the step, and what stood in them before your first "
            "step is learned too: call optimiser.zero_grad() before backward.",
        ),
        Slip(
            "the weights do not move",
            train_step,
            "    optimiser.zero_grad()\n    loss.backward()",
            "    loss.backward()\n    optimiser.zero_grad()",
            "The weights stay as they are: the gradients are cleared after backward, or the "
            "optimiser takes no step.",
        ),
        Slip(
            "clipped before backward",
            train_step,
            "    loss.backward()\n    nn.utils.clip_grad_norm_(model.parameters(), clip)",
            "    nn.utils.clip_grad_norm_(model.parameters(), clip)\n    loss.backward()",
            "The gradients are not clipped when the step is taken: clip them after backward and "
            "before optimiser.step().",
        ),
        Slip(
            "clipped number by number",
            train_step,
            "nn.utils.clip_grad_norm_(model",
            "nn.utils.clip_grad_value_(model",
            "Every number of the gradient is clipped by itself, which changes its direction: scale "
            "all down together (clip_grad_norm_).",
        ),
        Slip(
            "each matrix clipped by itself",
            train_step,
            "nn.utils.clip_grad_norm_(model.parameters(), clip)",
            "_ = [nn.utils.clip_grad_norm_(p, clip) for p in model.parameters()]",
            "Each parameter's gradient is clipped by itself, which changes the direction of the "
            "step: their joint length counts. Give clip_grad_norm_ all parameters at once.",
        ),
        Slip(
            "always clipped to 1",
            train_step,
            "(model.parameters(), clip)",
            "(model.parameters(), 1.0)",
            "The gradients are clipped to 1 whatever `clip` says.",
        ),
        Slip(
            "evaluation mode",
            train_step,
            "model.train()",
            "model.eval()",
            "The model learns in evaluation mode, without its dropout; it may come from an "
            "evaluation: call model.train() first.",
        ),
        Slip(
            "a tensor returned",
            train_step,
            "loss.item()",
            "loss",
            "A tensor comes back, which may hold on to all that was computed: return a number, "
            "loss.item().",
        ),
        Slip(
            "loss after the step",
            train_step,
            "return loss.item()",
            "return next_token_loss(model, ids, padding).item()",
            "The loss is measured again after the step, on the batch just learned from: return "
            "the one before.",
        ),
        Slip(
            "padding not passed on",
            train_step,
            "next_token_loss(model, ids, padding)",
            "next_token_loss(model, ids)",
            "`padding` is not passed on to the loss.",
        ),
        Slip(
            "two steps",
            train_step,
            "    optimiser.step()",
            "    optimiser.step(); optimiser.step()",
            "The optimiser takes two steps for one batch.",
        ),
    ],
)
