"""padding_mask: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.draw import args
from autograder.checks.question import Case, Exercise
from autograder.checks.slips import Slip
from solutions.queries_keys_values import padding_mask


def _ids(*leading, padding=0, at="end"):
    """Draw ids with some padding: at the end, at the start, or here and there."""

    def draw(d):
        s = d.sizes(1, 4, 7)[0]
        ids = d.integers(padding + 1, padding + 9, *leading, s)
        if at == "scattered":
            ids = torch.where(d.mask(*leading, s), ids, padding)
            ids[..., 1] = padding
        else:
            real = d.integers(1, s, *leading, 1)
            place = torch.arange(s) if at == "end" else torch.arange(s).flip(0)
            ids = torch.where(place < real, ids, padding)
        return args(ids, *([] if padding == 0 else [padding]))

    return draw


def _around(d):
    """Ids below and above the padding's."""
    ids = d.integers(0, 9, 3, 6)
    ids[0, :3] = torch.tensor([5, 2, 8])
    return args(ids, 5)


QUESTION = Exercise(
    padding_mask,
    parts={"values": 6, "any leading axes": 2},
    cases=[
        Case("values", "padding at the end", _ids(3)),
        Case("values", "padding at the start", _ids(2, at="start")),
        Case("values", "padding here and there", _ids(3, at="scattered")),
        Case("values", "another id for padding", _around),
        Case("values", "no padding", lambda d: args(d.integers(1, 9, 2, 5))),
        Case("values", "padding only", lambda d: args(torch.zeros(2, 3, dtype=torch.long))),
        Case("any leading axes", "one sentence", _ids()),
        Case("any leading axes", "two leading axes", _ids(2, 3, padding=4)),
    ],
    slips=[
        Slip(
            "inverted",
            padding_mask,
            "ids != padding",
            "ids == padding",
            "The mask is True where there is padding. True means that looking is allowed: where "
            "the token is real.",
        ),
        Slip(
            "no axis for the queries",
            padding_mask,
            ".unsqueeze(-2)",
            "",
            "The mask has shape (..., S): against scores (B, T, S) a mask (B, S) stretches over "
            "the wrong axis. Insert one for the queries: (..., 1, S).",
        ),
        Slip(
            "queries forbidden, not keys",
            padding_mask,
            "unsqueeze(-2)",
            "unsqueeze(-1)",
            "The mask has shape (..., S, 1) and forbids whole queries: padding may ask what it "
            "likes, but nobody may look at it. Its axis is the last: (..., 1, S).",
        ),
        Slip(
            "padding is always 0",
            padding_mask,
            "ids != padding",
            "ids != 0",
            "`padding` is not used: id 0 need not be the one that only fills up.",
        ),
        Slip(
            "only larger ids are real",
            padding_mask,
            "ids != padding",
            "ids > padding",
            "Ids smaller than the padding's are taken for padding too: compare with !=.",
        ),
        Slip(
            "cut at the first padding",
            padding_mask,
            "(ids != padding)",
            "(ids != padding).cumprod(-1).bool()",
            "Everything after the first padding is forbidden: padding may stand anywhere, at the "
            "start too.",
        ),
        Slip(
            "pairs of real tokens",
            padding_mask,
            "(ids != padding).unsqueeze(-2)",
            "((ids != padding).unsqueeze(-2) & (ids != padding).unsqueeze(-1))",
            "The rows of padding are forbidden as well, in a square (..., S, S). One row that "
            "serves every query is enough, and it also fits other queries: (..., 1, S).",
        ),
        Slip(
            "ones and zeros",
            padding_mask,
            "(ids != padding)",
            "(ids != padding).float()",
            "The mask holds numbers, 1.0 and 0.0: return booleans.",
        ),
    ],
)
