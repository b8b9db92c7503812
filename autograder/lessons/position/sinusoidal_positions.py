"""sinusoidal_positions: the cases it is tried in, and the slips that are known."""

from autograder.checks.draw import args
from autograder.checks.question import Case, Exercise
from autograder.checks.slips import Slip
from solutions.position import sinusoidal_positions


def _table(d):
    """A table with unequal sides; the width is even."""
    return args(d.random.randint(5, 9), 2 * d.random.randint(5, 7))


def _size(own, name, *sizes):
    """The shape alone: far on, the last digits of an angle are anybody's."""
    return list(getattr(own, name)(*sizes).shape)


QUESTION = Exercise(
    sinusoidal_positions,
    parts={"values": 14, "edge sizes": 6},
    cases=[
        Case("values", "a table", _table),
        Case("values", "two positions, four columns", lambda d: args(2, 4)),
        Case("values", "more positions than columns", lambda d: args(d.random.randint(20, 30), 6)),
        Case("values", "as many positions as columns", lambda d: args(8, 8)),
        Case("edge sizes", "one position", lambda d: args(1, 2 * d.random.randint(2, 5))),
        Case("edge sizes", "one pair of columns", lambda d: args(d.random.randint(4, 9), 2)),
        Case("edge sizes", "a wide table", lambda d: args(3, 2 * d.random.randint(20, 40))),
        Case("edge sizes", "thousands of positions", lambda d: (5003, 2), _size),
    ],
    slips=[
        Slip(
            "sines and cosines in halves",
            sinusoidal_positions,
            "torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)",
            "torch.cat([angle.sin(), angle.cos()], dim=-1)",
            "All sines stand on the left and all cosines on the right. The numbers are right, but "
            "the two of a pair belong side by side: sine in column 2i, cosine in column 2i + 1.",
        ),
        Slip(
            "exponent i / C",
            sinusoidal_positions,
            "-torch.arange(0, n_embd, 2) / n_embd",
            "-torch.arange(n_embd // 2) / n_embd",
            "The exponent is i / C for pair i; it should be 2i / C. The slowest clock now runs a "
            "hundred times too fast.",
        ),
        Slip(
            "a speed for every column",
            sinusoidal_positions,
            "speed = 10000.0 ** (-torch.arange(0, n_embd, 2) / n_embd)  # (C / 2,)\n"
            "    angle = position * speed\n"
            "    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)",
            "speed = 10000.0 ** (-torch.arange(n_embd) / n_embd)\n"
            "    angle = position * speed\n"
            "    return torch.stack([angle[:, ::2].sin(), angle[:, 1::2].cos()], -1).flatten(-2)",
            "Every column has a speed of its own. The sine and the cosine of a pair share one "
            "angle, or a shift is no rotation: 2i is the exponent of columns 2i and 2i + 1.",
        ),
        Slip(
            "positions from one",
            sinusoidal_positions,
            "torch.arange(n_position)",
            "torch.arange(1, n_position + 1)",
            "The first row is that of position 1: positions count from 0, and row 0 is "
            "0, 1, 0, 1, ...",
        ),
        Slip(
            "sine and cosine exchanged",
            sinusoidal_positions,
            "[angle.sin(), angle.cos()]",
            "[angle.cos(), angle.sin()]",
            "Sine and cosine are exchanged: the sine stands in the even column.",
        ),
        Slip(
            "sines only",
            sinusoidal_positions,
            "[angle.sin(), angle.cos()]",
            "[angle.sin(), angle.sin()]",
            "Both columns of a pair hold the sine: without the cosine two positions on either side "
            "of the peak look the same.",
        ),
        Slip(
            "multiplied by 10000^(2i / C)",
            sinusoidal_positions,
            "-torch.arange(0, n_embd, 2)",
            "torch.arange(0, n_embd, 2)",
            "The position is multiplied by 10000^(2i / C) where it should be divided: the clocks "
            "become faster from pair to pair instead of slower.",
        ),
        Slip(
            "stretched to the last pair",
            sinusoidal_positions,
            "/ n_embd)",
            "/ max(n_embd - 2, 1))",
            "The exponent is divided by C - 2, so that the last pair reaches 10000 exactly (some "
            "programs do that). The formula here divides by C.",
        ),
        Slip(
            "whole turns",
            sinusoidal_positions,
            "angle = position * speed",
            "angle = 2 * torch.pi * position * speed",
            "The angles are multiplied by 2 pi: the formula has t / 10000^(2i / C) in radians.",
        ),
        Slip(
            "slowest clock first",
            sinusoidal_positions,
            "angle = position * speed",
            "angle = position * speed.flip(0)",
            "The slow clocks come first. Pair 0 has the angle t, the fastest.",
        ),
        Slip(
            "transposed",
            sinusoidal_positions,
            ".flatten(-2)",
            ".flatten(-2).T",
            "The table is transposed: positions are rows, (T, C).",
        ),
    ],
)
