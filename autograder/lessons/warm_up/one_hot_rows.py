"""one_hot_rows: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.question import Case, Exercise
from autograder.checks.slips import Slip
from solutions.warm_up import one_hot_rows


def _as_float(own, name, ids, n):
    """What the rows say, whatever their dtype, and the ids as they were left."""
    import torch

    rows = getattr(own, name)(ids, n)
    rows = rows.to(torch.float32) if isinstance(rows, torch.Tensor) else rows
    return {"result": rows, "inputs": [ids]}


def _dtype(own, name, ids, n):
    rows = getattr(own, name)(ids, n)
    return {"dtype": str(getattr(rows, "dtype", type(rows).__name__))}


QUESTION = Exercise(
    one_hot_rows,
    parts={"values": 8, "any shape": 4, "dtype": 3},
    cases=[
        Case("values", "a list of ids", lambda d: (d.integers(0, 5, 7), 5), _as_float),
        Case("values", "all ids in turn", lambda d: (torch.arange(4), 4), _as_float),
        Case("values", "more columns than ids", lambda d: (d.integers(0, 6, 2), 9), _as_float),
        Case("values", "one column", lambda d: (torch.zeros(3, dtype=torch.long), 1), _as_float),
        Case("any shape", "a batch of sentences", lambda d: (d.integers(0, 6, 2, 3), 6), _as_float),
        Case("any shape", "a single id", lambda d: (torch.tensor(2), 4), _as_float),
        Case("any shape", "three axes", lambda d: (d.integers(0, 5, 2, 3, 4), 5), _as_float),
        Case("dtype", "float32 asked for", lambda d: (d.integers(0, 5, 3), 5), _dtype),
    ],
    slips=[
        Slip(
            "whole numbers",
            one_hot_rows,
            ".float()",
            ".long()",
            "The rows are whole numbers (int64): a matrix product with a float table of "
            "embeddings fails. Return float32.",
        ),
        Slip(
            "booleans",
            one_hot_rows,
            ".float()",
            "",
            "The rows are booleans: return float32, 1.0 and 0.0.",
        ),
        Slip(
            "double precision",
            one_hot_rows,
            ".float()",
            ".double()",
            "The rows are float64 where float32 is asked for.",
        ),
        Slip(
            "counted from one",
            one_hot_rows,
            "ids.unsqueeze(-1)",
            "(ids.unsqueeze(-1) - 1)",
            "The column is one too far left: ids count from 0.",
        ),
        Slip(
            "one column too far right",
            one_hot_rows,
            "ids.unsqueeze(-1)",
            "(ids.unsqueeze(-1) + 1)",
            "The column is one too far right: id 0 belongs in column 0.",
        ),
        Slip(
            "all columns up to the id",
            one_hot_rows,
            "==",
            ">=",
            "All columns up to the id are filled; only column `id` may be 1.",
        ),
        Slip(
            "ones and zeros exchanged",
            one_hot_rows,
            "==",
            "!=",
            "Ones and zeros are exchanged: the 1 belongs in column `id` only.",
        ),
        Slip(
            "flattened ids",
            one_hot_rows,
            "ids.unsqueeze(-1)",
            "ids.flatten().unsqueeze(-1)",
            "The shape of the ids is lost: (B, T) ids give (B, T, n).",
        ),
        Slip(
            "columns in front",
            one_hot_rows,
            ".float()",
            ".float().movedim(-1, 0)",
            "The n columns come first; they belong in the last axis: (..., n).",
        ),
    ],
    equivalent={
        "one_hot_rows: torch.arange(n, device=ids.device) -> torch.arange(n)": "the checks run on "
        "the CPU, where tensors are made anyway; on another device the comparison would raise",
    },
)
