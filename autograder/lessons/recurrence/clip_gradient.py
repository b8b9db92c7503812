"""clip_gradient: the cases it is tried in, and the slips that are known."""

import math

import torch

from autograder.checks.question import ARGUMENTS, Case, Exercise
from autograder.checks.slips import Slip
from solutions.recurrence import clip_gradient


def clipped(own, name, gradients, longest):
    """Clip a list of tensors: the result, whether it is new, and the tensors as they were left."""
    given = [g.clone() for g in gradients]
    result = getattr(own, name)(list(given), longest)
    seen = {"result": result, "inputs": given}
    if isinstance(result, list):
        places = {g.data_ptr() for g in given}
        held = [r.data_ptr() for r in result if hasattr(r, "data_ptr")]
        seen["tensors that are not new"] = sum(place in places for place in held)
    return seen


def _gradients(norm, longest, shapes=((3, 4), (5,), (2, 1, 3)), dtype=torch.float32):
    """Draw tensors whose norm, taken together, is `norm`."""

    def draw(d):
        made = [d.normal(*shape, dtype=torch.float64) for shape in shapes]
        whole = math.sqrt(sum(float(g.square().sum()) for g in made))
        return [(g * (norm / whole)).to(dtype) for g in made], longest

    return draw


def _transposed(d):
    tensors, longest = _gradients(12.0, 3.0)(d)
    return [tensors[0].T, *tensors[1:]], longest


def _all_zero(d):
    return [torch.zeros(2, 3), torch.zeros(4)], 1.5


QUESTION = Exercise(
    clip_gradient,
    parts={"long gradients": 5, "short gradients": 3, ARGUMENTS: 2},
    cases=[
        Case("long gradients", "a norm of 12, at most 3 allowed", _gradients(12.0, 3.0), clipped),
        Case("long gradients", "a norm of 900, at most 0.5", _gradients(900.0, 0.5), clipped),
        Case(
            "long gradients",
            "each tensor short, all together long",
            _gradients(2.0, 1.5, ((2, 2), (3,), (4,), (2, 3))),
            clipped,
        ),
        Case("long gradients", "one tensor", _gradients(7.0, 1.0, ((4,),)), clipped),
        Case("long gradients", "a transposed tensor", _transposed, clipped),
        Case("long gradients", "float64", _gradients(5000.0, 2.0, dtype=torch.float64), clipped),
        Case("short gradients", "a norm of 0.7, 2 allowed", _gradients(0.7, 2.0), clipped),
        Case("short gradients", "a norm of 2.9, 3 allowed", _gradients(2.9, 3.0), clipped),
        Case("short gradients", "zeros", _all_zero, clipped),
    ],
    slips=[
        Slip(
            "clipped per element",
            clip_gradient,
            "[g * scale for g in gradients]",
            "[g.clamp(-longest, longest) for g in gradients]",
            "Every number is clipped by itself, which turns the gradient into another direction. "
            "Shorten the whole vector instead.",
        ),
        Slip(
            "every tensor by itself",
            clip_gradient,
            "[g * scale for g in gradients]",
            "[g * (longest / g.norm()).clamp(max=1.0) for g in gradients]",
            "Each tensor is shortened by its own norm: the norm is that of all of them together.",
        ),
        Slip(
            "short gradients lengthened",
            clip_gradient,
            "(longest / norm).clamp(max=1.0)",
            "longest / norm.clamp(min=1e-12)",
            "Gradients shorter than `longest` are scaled up: only long ones are to be changed.",
        ),
        Slip(
            "not a number for zeros",
            clip_gradient,
            "(longest / norm).clamp(max=1.0)",
            "(longest / norm).clamp(max=1.0) * norm / norm",
            "A gradient of zeros becomes not a number: 0 / 0. Nothing is to be changed there.",
        ),
        Slip(
            "sum of the norms",
            clip_gradient,
            "torch.cat([g.flatten() for g in gradients]).norm()",
            "sum(g.norm() for g in gradients)",
            "The norms of the tensors are added. The norm of all together is the root of the sum "
            "of their squares.",
        ),
        Slip(
            "norm not rooted",
            clip_gradient,
            "torch.cat([g.flatten() for g in gradients]).norm()",
            "torch.cat([g.flatten() for g in gradients]).square().sum()",
            "The sum of squares is used as the norm: its root is missing.",
        ),
        Slip(
            "sum of absolute values",
            clip_gradient,
            ".norm()\n",
            ".norm(1)\n",
            "The length is measured as a sum of absolute values: the Euclidean norm was asked for.",
        ),
        Slip(
            "largest entry as the norm",
            clip_gradient,
            ".norm()\n",
            ".abs().max()\n",
            "The length is measured by the largest entry: the Euclidean norm was asked for.",
        ),
        Slip(
            "mean square as the norm",
            clip_gradient,
            ".norm()\n",
            ".square().mean().sqrt()\n",
            "The length is averaged over the entries: sum the squares, do not average them.",
        ),
        Slip(
            "set to zero",
            clip_gradient,
            "(longest / norm).clamp(max=1.0)",
            "(norm <= longest).to(norm.dtype)",
            "A long gradient is thrown away altogether: shorten it to `longest`.",
        ),
        Slip(
            "given tensors returned",
            clip_gradient,
            "[g * scale for g in gradients]",
            "[g * scale if scale < 1 else g for g in gradients]",
            "A short gradient comes back as the very tensors that were given: return copies, or a "
            "later change of the result changes the gradient.",
        ),
        Slip(
            "changed in place",
            clip_gradient,
            "[g * scale for g in gradients]",
            "[g.mul_(scale) for g in gradients]",
            "The given tensors were changed: return new ones.",
        ),
    ],
)
