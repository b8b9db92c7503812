"""position: sinusoids, learned rows, relative bias, rotary turns, ALiBi."""

import torch

from autograder.exercise import (
    ARGUMENTS,
    GRADIENT,
    Case,
    Choice,
    Conclusion,
    Exercise,
    args,
    built,
)
from autograder.probe import module
from autograder.puzzle import Puzzle
from autograder.slips import Slip, patched
from solutions.position import (
    LearnedPositions,
    RelativeBias,
    alibi_bias,
    apply_rotary,
    sinusoidal_positions,
)


def _table(d):
    """A table with unequal sides; the width is even."""
    return args(d.random.randint(5, 9), 2 * d.random.randint(5, 7))


def _size(own, name, *sizes):
    """The shape alone: far on, the last digits of an angle are anybody's."""
    return list(getattr(own, name)(*sizes).shape)


SINUSOIDS = Exercise(
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


def _learned(d, *leading, t=None, rows=None, start=None, width=None):
    """Draw a table and tokens that fit into it."""
    t = t or d.random.randint(3, 5)
    rows = rows or t + d.random.randint(2, 4)
    width = width or d.random.randint(6, 9)
    inputs = [d.normal(*leading, t, width)] + ([] if start is None else [start])
    config = {"block_size": rows, "n_embd": width}
    return built(config, {"table.weight": d.normal(rows, width)}, *inputs)


def _refusal(own, name, block_size, width, t, start):
    """What happens past the end of the table: is there an error, and does it name the numbers?"""
    import re

    import torch

    layer = getattr(own, name)(block_size, width)
    rows = torch.arange(1.0, block_size + 1).unsqueeze(-1).expand(-1, width)
    layer.load_state_dict({"table.weight": rows})
    try:
        result = layer(torch.zeros(2, t, width), start)
    except Exception as error:
        named = {int(n) for n in re.findall(r"\d+", str(error))}
        both = {block_size, start + t} <= named
        return {"a ValueError": isinstance(error, ValueError), "it names both numbers": both}
    return {"a ValueError": False, "it names both numbers": False, "result": result}


def _again(own, name, config, weights, first, second):
    """Call twice, the weights changed in between: nothing of the first call may remain."""
    import torch

    layer = getattr(own, name)(**config)
    layer.load_state_dict(weights)
    layer.eval()
    layer(*first)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.mul_(2)
        return {"result": layer(*second)}


def _learned_before(d):
    config, weights = {"block_size": 9, "n_embd": 4}, {"table.weight": d.normal(9, 4)}
    return config, weights, [d.normal(2, 3, 4), 1], [d.normal(3, 5, 4)]


def _learned_later(d):
    config, weights = {"block_size": 9, "n_embd": 4}, {"table.weight": d.normal(9, 4)}
    return config, weights, [d.normal(2, 3, 4)], [d.normal(2, 3, 4), 5]


_REFUSE = """if end > rows:
            raise ValueError(
                f"LearnedPositions: the table has {rows} rows, this text needs {end}; "
                "use a larger block_size."
            )
        return x + self.table.weight[start:end]"""

LEARNED = Exercise(
    LearnedPositions,
    parts={"values": 3, "start": 2, "past the table": 3, GRADIENT: 1, ARGUMENTS: 1},
    cases=[
        Case("values", "a batch", lambda d: _learned(d, 2), module),
        Case("values", "called before", _learned_before, _again),
        Case("start", "called before, from another start", _learned_later, _again),
        Case("values", "as many sentences as tokens", lambda d: _learned(d, 4, t=4), module),
        Case("values", "no batch", lambda d: _learned(d), module),
        Case("values", "two leading axes", lambda d: _learned(d, 2, 3), module),
        Case("values", "one token", lambda d: _learned(d, 3, t=1), module),
        Case("values", "as long as the table", lambda d: _learned(d, 2, t=5, rows=5), module),
        Case("start", "from position 2 on", lambda d: _learned(d, 2, start=2), module),
        Case("start", "to the end", lambda d: _learned(d, 2, t=3, rows=7, start=4), module),
        Case("past the table", "too long", lambda d: (11, 4, 13, 0), _refusal),
        Case("past the table", "one too many", lambda d: (11, 4, 12, 0), _refusal),
        Case("past the table", "one row left", lambda d: (11, 4, 3, 10), _refusal),
    ],
    slips=[
        Slip(
            "start not used",
            LearnedPositions.forward,
            "self.table.weight[start:end]",
            "self.table.weight[: x.size(-2)]",
            "`start` is not used: the first token always gets row 0. With a cache the new tokens "
            "would all believe that they open the text.",
        ),
        Slip(
            "positions along the batch",
            LearnedPositions.forward,
            "self.table.weight[start:end]",
            "self.table.weight[start : start + x.size(0)].view(-1, *[1] * (x.dim() - 2), "
            "x.size(-1))",
            "The rows run along the first axis: sentence b gets row b, whatever its tokens. They "
            "belong to the tokens, the second last axis.",
        ),
        Slip(
            "tokens left out",
            LearnedPositions.forward,
            "x + self.table.weight[start:end]",
            "self.table.weight[start:end].expand_as(x)",
            "Only the positions are returned: add them to the tokens.",
        ),
        Slip(
            "one row for all tokens",
            LearnedPositions.forward,
            "self.table.weight[start:end]",
            "self.table.weight[start]",
            "All tokens get the same row, so their order still does not count.",
        ),
        Slip(
            "multiplied",
            LearnedPositions.forward,
            "x + self",
            "x * self",
            "The rows are multiplied with the tokens: add them.",
        ),
        Slip(
            "position 0 left out",
            LearnedPositions.forward,
            "self.table.weight[start:end]",
            "self.table.weight[torch.arange(start + 1, end + 1) % rows]",
            "Every token gets the row after its own: positions count from 0.",
        ),
        Slip(
            "not tested",
            LearnedPositions.forward,
            _REFUSE,
            "if end > rows:\n            pass\n\n\n\n"
            "        return x + self.table.weight[start:end]",
            "Nothing tests the length: a slice past the end is silently shorter, and a single row "
            "that is left is added to every token. Compare start + T with the rows first, and "
            "raise a ValueError.",
        ),
        Slip(
            "x changed in place",
            LearnedPositions.forward,
            "return x + self.table.weight[start:end]",
            "return x.add_(self.table.weight[start:end])",
            "The positions are written into the caller's x: return a new tensor.",
        ),
        Slip(
            "starts again from row 0",
            LearnedPositions.forward,
            _REFUSE,
            "if end > rows:\n            pass\n\n\n\n"
            "        return x + self.table.weight[torch.arange(start, end) % rows]",
            "Past its end the table starts again from row 0: two tokens get the same position and "
            "nobody is told. Raise a ValueError.",
        ),
        Slip(
            "last row again and again",
            LearnedPositions.forward,
            _REFUSE,
            "if end > rows:\n            pass\n\n\n\n"
            "        return x + self.table.weight[torch.arange(start, end).clamp(max=rows - 1)]",
            "Past its end the last row of the table is used again and again, and nobody is told. "
            "Raise a ValueError.",
        ),
        Slip(
            "an error that says little",
            LearnedPositions.forward,
            _REFUSE,
            "if end > rows:\n            pass\n\n\n\n"
            "        return x + self.table(torch.arange(start, end))",
            "Past the table there is an error, but not one that helps: a ValueError should say how "
            "many rows there are and how many are needed.",
        ),
        Slip(
            "nothing learned",
            LearnedPositions.forward,
            "self.table.weight[start:end]",
            "self.table.weight[start:end].detach()",
            "The values are right but no gradient reaches the table: is there a detach() or .data?",
        ),
    ],
)


def _relative(n_head, clip, *sizes):
    def draw(d):
        config = {"n_head": n_head, "max_distance": clip}
        return built(config, {"table.weight": d.normal(2 * clip + 1, n_head)}, *sizes)

    return draw


def _relative_before(d):
    config, weights = {"n_head": 2, "max_distance": 3}, {"table.weight": d.normal(7, 2)}
    return config, weights, [5], [2, 6]


RELATIVE = Exercise(
    RelativeBias,
    parts={"values": 6, "far away": 4, "fewer queries": 4, GRADIENT: 2},
    cases=[
        Case("values", "near tokens", _relative(3, 6, 5), module),
        Case("values", "as many heads as tokens", _relative(4, 5, 4), module),
        Case("values", "one token", _relative(3, 2, 1), module),
        Case("values", "one head", _relative(1, 4, 3), module),
        Case("values", "called before", _relative_before, _again),
        Case("far away", "beyond the largest distance", _relative(3, 2, 7), module),
        Case("far away", "at most one step", _relative(2, 1, 5), module),
        Case("far away", "no distance at all", _relative(2, 0, 4), module),
        Case("fewer queries", "the last queries of a text", _relative(2, 4, 3, 5), module),
        Case("fewer queries", "one query", _relative(3, 2, 1, 6), module),
        Case("fewer queries", "as many queries as keys", _relative(3, 2, 5, 5), module),
    ],
    slips=[
        Slip(
            "query minus key",
            RelativeBias.forward,
            "torch.arange(n_key, device=device) - query",
            "query - torch.arange(n_key, device=device)",
            "The offset is query minus key: left and right are exchanged. It is key minus query, "
            "-3 for a key three places back.",
        ),
        Slip(
            "direction lost",
            RelativeBias.forward,
            "device=device) - query  #",
            "device=device).sub(query).abs()  #",
            "Only the distance is used: a key two back and a key two ahead get the same number, "
            "and order is invisible again. Keep the sign of the offset.",
        ),
        Slip(
            "not moved to rows from 0",
            RelativeBias.forward,
            "far) + far",
            "far)",
            "The offsets are used as rows as they are: row -2 is the second last, by Python's "
            "rule. Add max_distance, so that the lowest offset has row 0.",
        ),
        Slip(
            "wrapped instead of clipped",
            RelativeBias.forward,
            "offset.clamp(-far, far) + far",
            "(offset + far) % (2 * far + 1)",
            "Far offsets come in again at the other end of the table (a remainder, or an index "
            "below zero): a key far back counts as one ahead. Clip them.",
        ),
        Slip(
            "heads last",
            RelativeBias.forward,
            ".movedim(-1, 0)",
            "",
            "The heads stand last, (T, S, H); the scores have them in front: (H, T, S).",
        ),
        Slip(
            "queries and keys exchanged",
            RelativeBias.forward,
            ".movedim(-1, 0)",
            ".movedim(-1, 0).mT",
            "Rows and columns are exchanged: a row of the table of scores belongs to a query.",
        ),
        Slip(
            "queries from position 0",
            RelativeBias.forward,
            "torch.arange(n_key - n_query, n_key, device=device)",
            "torch.arange(n_query, device=device)",
            "With fewer queries than keys the queries are the last tokens: query i stands at "
            "position i + S - T, not at i.",
        ),
        Slip(
            "n_key not used",
            RelativeBias.forward,
            "n_query if n_key is None else n_key",
            "n_query",
            "`n_key` is not used: the table has as many columns as there are keys.",
        ),
        Slip(
            "far keys left alone",
            RelativeBias.forward,
            "self.table.weight[row].movedim(-1, 0)",
            "(self.table.weight[row] * (offset.abs() <= far)[..., None]).movedim(-1, 0)",
            "Keys beyond max_distance get 0; they should get the number of the largest distance.",
        ),
        Slip(
            "first head for all",
            RelativeBias.forward,
            "self.table.weight[row]",
            "self.table.weight[:, :1].expand_as(self.table.weight)[row]",
            "All heads use the first column of the table: head h has column h.",
        ),
        Slip(
            "no gradient to the table",
            RelativeBias.forward,
            "self.table.weight[row]",
            "self.table.weight.detach()[row]",
            "The values are right but no gradient reaches the table: is there a detach() or .data?",
        ),
    ],
    equivalent={
        f"RelativeBias.forward: torch.arange({n}, device=device) -> torch.arange({n})": "checks "
        "run on the CPU, where tensors are made anyway; elsewhere the indexing would raise"
        for n in ("n_key - n_query, n_key", "n_key")
    },
)


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


ROTARY = Exercise(
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


ALIBI = Exercise(
    alibi_bias,
    parts={"looking back": 5, "fewer queries": 2, "both directions": 3},
    cases=[
        Case("looking back", "a few heads", lambda d: args(d.random.choice([3, 5, 6]), 4)),
        Case("looking back", "eight heads", lambda d: args(8, 5)),
        Case("looking back", "as many heads as tokens", lambda d: args(4, 4)),
        Case("looking back", "one head", lambda d: args(1, 6)),
        Case("looking back", "one token", lambda d: args(3, 1)),
        Case("fewer queries", "the last queries of a text", lambda d: args(3, 2, 5)),
        Case("fewer queries", "one query", lambda d: args(2, 1, 7)),
        Case("both directions", "four heads", lambda d: args(4, 5, causal=False)),
        Case("both directions", "three heads", lambda d: args(3, 4, causal=False)),
        Case("both directions", "one head", lambda d: args(1, 3, causal=False)),
        Case("both directions", "more keys", lambda d: args(2, 3, 5, causal=False)),
    ],
    slips=[
        Slip(
            "slopes 2^-h",
            alibi_bias,
            "2.0 ** (-8 * torch.arange(1, n_head + 1) / n_head)",
            "2.0 ** (-torch.arange(1, n_head + 1))",
            "The slopes are 2^-h: that fits eight heads only. With H heads they are 2^(-8h / H), "
            "so that the last is always 2^-8.",
        ),
        Slip(
            "heads from zero",
            alibi_bias,
            "torch.arange(1, n_head + 1) / n_head",
            "torch.arange(n_head) / n_head",
            "The heads are counted from 0: the first slope is 2^(-8 / H), not 1.",
        ),
        Slip(
            "symmetric",
            alibi_bias,
            "(-slope[:, None, None] * back).masked_fill(back < 0, -torch.inf)",
            "-slope[:, None, None] * back.abs()",
            "Only the distance counts: without -inf on one side a head cannot tell before from "
            "after, and a layer that sees both sides stays blind to order.",
        ),
        Slip(
            "distance as a reward",
            alibi_bias,
            "(-slope[:, None, None] * back)",
            "(slope[:, None, None] * back)",
            "The sign is wrong: the further a key, the more it is preferred. It should be a "
            "penalty.",
        ),
        Slip(
            "later keys at zero",
            alibi_bias,
            "back < 0, -torch.inf",
            "back < 0, 0.0",
            "The keys on the other side get 0, the best there is; they should get -inf.",
        ),
        Slip(
            "later keys open",
            alibi_bias,
            ".masked_fill(back < 0, -torch.inf)",
            "",
            "The keys on the other side are not closed: they even get a bonus that grows with the "
            "distance. They should get -inf.",
        ),
        Slip(
            "own place closed",
            alibi_bias,
            "back < 0",
            "back <= 0",
            "The query's own place is closed as well: its distance is 0 and so is its penalty.",
        ),
        Slip(
            "queries from position 0",
            alibi_bias,
            "torch.arange(n_key - n_query, n_key)",
            "torch.arange(n_query)",
            "With fewer queries than keys the queries are the last tokens: query i stands at "
            "position i + S - T, not at i.",
        ),
        Slip(
            "one slope for all heads",
            alibi_bias,
            "-slope[:, None, None]",
            "-slope[0]",
            "All heads have the slope of the first: then they all look equally far.",
        ),
        Slip(
            "all heads look back",
            alibi_bias,
            "if not causal:",
            "if False:",
            "`causal` is not used: with causal=False heads 2, 4, ... look ahead.",
        ),
        Slip(
            "first heads look ahead",
            alibi_bias,
            "% 2 == 1",
            "% 2 == 0",
            "With causal=False heads 1, 3, ... look ahead; they should look back, and heads "
            "2, 4, ... ahead.",
        ),
        Slip(
            "half the heads each",
            alibi_bias,
            "torch.arange(n_head) % 2 == 1",
            "torch.arange(n_head) >= (n_head + 1) // 2",
            "The second half of the heads looks ahead: then all steep slopes look back. It is "
            "every second head: 2, 4, ...",
        ),
        Slip(
            "the other way round for all",
            alibi_bias,
            "if not causal:",
            "if causal:",
            "`causal` is the wrong way round: True means that all heads look back.",
        ),
    ],
)


def puzzle() -> Puzzle:
    """How one word matches itself at all pairs of positions, the keys turned the wrong way."""
    slip = next(s for s in ROTARY.slips if s.name == "turned the other way")
    word = torch.ones(6, 4)  # the same word at six positions
    q, k = apply_rotary(word), patched(slip)["apply_rotary"](word)
    title = "score of a query at t with a key at s, the same word everywhere"
    return Puzzle(q @ k.T, title, "query at t", "key at s")


WHICH_LINE = Choice(
    "which_line",
    points=8,
    right="c",
    answers={
        "a": "If the keys were not turned, all keys would be the same vector: every row would "
        "hold one number six times. In the picture the rows change.",
        "b": "With halves for pairs, in queries and keys alike, the scores would still depend on "
        "t - s only: every diagonal would hold one number, with the largest on the main one.",
        "c": "Turned by +t and by -s, the vectors differ by the angle t + s: equal numbers stand "
        "on the lines from bottom left to top right. Both must turn the same way, so that the "
        "difference t - s is left.",
        "d": "Counted from 1 on both sides, t - s stays what it was: nothing would change at all.",
    },
)


def _order_at_two_lengths(own, seed):
    """Train the two tiny encoders with the positions under test."""
    from solutions.studies.position_model import order_at_two_lengths

    found = order_at_two_lengths(own.sinusoidal_positions, seed)
    return {
        "without": found["without"][8],
        "trained": found["with"][8],
        "longer": found["with"][48],
    }


def _what_positions_buy(measured: dict) -> str:
    if measured["trained"] < 0.75:
        return "a"
    if measured["without"] > 0.8:
        return "b"
    return "c" if measured["longer"] > 0.8 else "d"


WHAT_POSITIONS_BUY = Conclusion(
    "what_positions_buy",
    points=10,
    probe=_order_at_two_lengths,
    inputs=(0,),
    decide=_what_positions_buy,
    measures=[sinusoidal_positions],
    answers={
        letter: "With {whose} table, sentences of the trained length 8 came out right in "
        "{trained:.0%} (without positions {without:.0%}), sentences of 48 tokens in {longer:.0%}; "
        "guessing gets 50%."
        for letter in "abcd"
    },
)

QUESTIONS = [
    SINUSOIDS,
    LEARNED,
    RELATIVE,
    ROTARY,
    ALIBI,
    WHICH_LINE,
    WHAT_POSITIONS_BUY,
]
