"""LearnedPositions: the cases it is tried in, and the slips that are known."""

from autograder.checks.draw import built
from autograder.checks.question import ARGUMENTS, GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.position.shared import called_again
from autograder.seam.probe import module
from solutions.position import LearnedPositions


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


QUESTION = Exercise(
    LearnedPositions,
    parts={"values": 3, "start": 2, "past the table": 3, GRADIENT: 1, ARGUMENTS: 1},
    cases=[
        Case("values", "a batch", lambda d: _learned(d, 2), module),
        Case("values", "called before", _learned_before, called_again),
        Case("start", "called before, from another start", _learned_later, called_again),
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
