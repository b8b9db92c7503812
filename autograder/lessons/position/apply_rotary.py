"""apply_rotary: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.draw import args
from autograder.checks.question import ARGUMENTS, GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from solutions.position import apply_rotary


def _turned(*leading, dtype=torch.float32, start=None, t=None):
    def draw(d):
        n, size = t or d.random.randint(3, 5), 2 * d.random.randint(3, 5)
        begin = [] if start is None else [start]
        return args(d.normal(*leading, n, size, dtype=dtype), *begin)

    return draw


def _meets(own, name, offsets):
    """Do a turned query and a turned key still match by their distance alone?"""
    import torch

    generator = torch.Generator().manual_seed(3)
    q, k = torch.randn(2, 1, 8, generator=generator)
    turn = getattr(own, name)
    return {
        f"key {o} back": [
            float(turn(q.clone(), p) @ turn(k.clone(), p - o).T) for p in (o, o + 3, o + 20)
        ]
        for o in offsets
    }


QUESTION = Exercise(
    apply_rotary,
    parts={"values": 7, "start": 4, "any leading axes": 3, "dtype": 2, GRADIENT: 1, ARGUMENTS: 1},
    cases=[
        Case("values", "heads of a batch", _turned(2, 3)),
        Case("values", "as many heads as tokens", _turned(2, 4, t=4)),
        Case("values", "one pair of columns", lambda d: args(d.normal(2, 3, 5, 2))),
        Case("values", "one token", _turned(2, 3, t=1)),
        Case("start", "from position 7 on", _turned(2, 3, start=7)),
        Case("start", "one token at position 12", _turned(2, start=12, t=1)),
        Case("start", "distances only", lambda d: ([1, 2, 5],), _meets),
        Case("any leading axes", "no batch", _turned()),
        Case("any leading axes", "three leading axes", _turned(2, 1, 3)),
        Case(
            "any leading axes",
            "heads that were split",
            lambda d: args(d.normal(2, 5, 3, 6).transpose(1, 2)),
        ),
        Case("dtype", "half precision", _turned(2, 3, dtype=torch.float16)),
        Case("dtype", "half precision, far on", _turned(2, dtype=torch.float16, start=900)),
        Case("dtype", "bfloat16, far on", _turned(2, dtype=torch.bfloat16, start=901)),
        Case(
            "dtype",
            "half precision, thousands on",
            lambda d: args(d.normal(2, 3, 2, dtype=torch.float16), 5001),
        ),
    ],
    slips=[
        Slip(
            "halves instead of pairs",
            apply_rotary,
            "a, b = x[..., ::2], x[..., 1::2]\n"
            "    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)",
            "a, b = x.chunk(2, dim=-1)\n"
            "    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)",
            "Column i is paired with column i + D/2. Many models do that, and it works as well, "
            "but it is another layout: here columns 2i and 2i + 1 form a pair.",
        ),
        Slip(
            "pairs taken apart",
            apply_rotary,
            "torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)",
            "torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)",
            "The turned numbers are right but not where they came from: all first ones stand on "
            "the left, all second ones on the right. Interleave them again.",
        ),
        Slip(
            "turned the other way",
            apply_rotary,
            "[a * cos - b * sin, a * sin + b * cos]",
            "[a * cos + b * sin, b * cos - a * sin]",
            "The pairs are turned the other way: (a, b) becomes (a cos - b sin, a sin + b cos).",
        ),
        Slip(
            "no minus",
            apply_rotary,
            "a * cos - b * sin",
            "a * cos + b * sin",
            "There is no minus in the first number: that is no rotation, lengths change. It is "
            "a cos - b sin.",
        ),
        Slip(
            "sine and cosine exchanged",
            apply_rotary,
            "sin, cos = table",
            "cos, sin = table",
            "Sine and cosine are exchanged: at position 0 nothing may move.",
        ),
        Slip(
            "start not used",
            apply_rotary,
            "sinusoidal_positions(start + t, size)[start:]",
            "sinusoidal_positions(t, size)",
            "`start` is not used: with a cache every new token would be turned as if it stood at "
            "position 0.",
        ),
        Slip(
            "positions from one",
            apply_rotary,
            "sinusoidal_positions(start + t, size)[start:]",
            "sinusoidal_positions(1 + start + t, size)[1 + start :]",
            "The first token is turned as if it stood at position 1: positions count from 0.",
        ),
        Slip(
            "positions added",
            apply_rotary,
            "torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)",
            "x + table",
            "The sinusoids are added to x: that is the absolute encoding. Here the pairs are "
            "turned.",
        ),
        Slip(
            "turned by the head",
            apply_rotary,
            "sinusoidal_positions(start + t, size)[start:].to(x)  # (T, D)\n"
            "    sin, cos = table[:, ::2], table[:, 1::2]",
            "sinusoidal_positions(start + x.size(-3), size)[start:].to(x)[:, None]\n"
            "    sin, cos = table[..., ::2], table[..., 1::2]",
            "The angle grows along the heads, not along the tokens: the tokens are the second "
            "last axis.",
        ),
        Slip(
            "exponent i / D",
            apply_rotary,
            "size)[start:].to(x)",
            "2 * size)[start:, :size].to(x)",
            "The exponent is i / D for pair i; it should be 2i / D.",
        ),
        Slip(
            "only the first pair",
            apply_rotary,
            "sin, cos = table[:, ::2], table[:, 1::2]",
            "sin, cos = table[:, :1], table[:, 1:2]",
            "All pairs are turned by the angle of the first: pair i has its own speed.",
        ),
        Slip(
            "single precision returned",
            apply_rotary,
            "[start:].to(x)",
            "[start:]",
            "The result is float32 whatever x is: bring sine and cosine to x's dtype.",
        ),
        Slip(
            "argument overwritten",
            apply_rotary,
            "return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)",
            "return x.copy_(torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2))",
            "The call writes into its own argument: make a new tensor.",
        ),
    ],
)
