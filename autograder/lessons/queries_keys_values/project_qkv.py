"""project_qkv: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.question import GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from solutions.queries_keys_values import project_qkv


def _three(own, name, *tensors):
    """Project: the three results by name, and all gradients."""
    import torch

    from autograder.seam.probe import push

    fresh = [t.clone().requires_grad_() for t in tensors]
    q, k, v = getattr(own, name)(*(t * 1 for t in fresh))
    seen = {"queries": q, "keys": k, "values": v}
    total = sum((t * push(t)).sum() for t in (q, k, v))
    seen["gradients"] = list(torch.autograd.grad(total, fresh, allow_unused=True))
    return seen


def _project(*leading, square=False, dtype=torch.float32):
    def draw(d):
        t, c, size, e = d.sizes(4)
        size, e = (c, c) if square else (size, e)
        shapes = [(*leading, t, c), (c, size), (c, size), (c, e)]
        return tuple(d.normal(*shape, dtype=dtype) for shape in shapes)

    return draw


QUESTION = Exercise(
    project_qkv,
    parts={"values": 6, "batches": 2, GRADIENT: 2},
    cases=[
        Case("values", "the tokens of one sentence", _project(), _three),
        Case("values", "square matrices", _project(square=True), _three),
        Case("values", "float64", _project(dtype=torch.float64), _three),
        Case("batches", "a batch", _project(3), _three),
        Case("batches", "two leading axes", _project(2, 3, square=True), _three),
    ],
    slips=[
        Slip(
            "matrices transposed",
            project_qkv,
            "x @ w_q, x @ w_k, x @ w_v",
            "x @ w_q.T, x @ w_k.T, x @ w_v.T",
            "The matrices are transposed. Here tokens are rows and the matrices have shape (C, D): "
            "q = x @ w_q. (`nn.Linear` keeps the transpose, (D, C).)",
        ),
        Slip(
            "queries and keys exchanged",
            project_qkv,
            "x @ w_q, x @ w_k, x @ w_v",
            "x @ w_k, x @ w_q, x @ w_v",
            "Queries and keys are exchanged: the first result is made with w_q.",
        ),
        Slip(
            "keys and values exchanged",
            project_qkv,
            "x @ w_q, x @ w_k, x @ w_v",
            "x @ w_q, x @ w_v, x @ w_k",
            "Keys and values are exchanged: return queries, keys, values, in this order.",
        ),
        Slip(
            "one matrix for queries and keys",
            project_qkv,
            "x @ w_k",
            "x @ w_q",
            "Queries and keys are made with the same matrix. Then the scores are symmetric, and a "
            "token cannot look for something other than what it offers.",
        ),
        Slip(
            "projected twice",
            project_qkv,
            "x @ w_q, x @ w_k, x @ w_v",
            "x @ w_q, x @ w_q @ w_k, x @ w_q @ w_v",
            "Keys and values are made from the queries: each of the three is a projection of x "
            "itself.",
        ),
        Slip(
            "values not projected",
            project_qkv,
            "x @ w_v",
            "x",
            "The values are the tokens themselves: w_v is not used.",
        ),
        Slip(
            "values made from keys",
            project_qkv,
            "x @ w_v",
            "x @ w_k @ w_v",
            "The values are made from the keys: they are a projection of x.",
        ),
        Slip(
            "scaled already",
            project_qkv,
            "x @ w_q,",
            "x @ w_q / w_q.size(-1) ** 0.5,",
            "The queries are divided by sqrt(D) here: that belongs into the attention, and doing "
            "it in both places divides by D.",
        ),
        Slip(
            "no gradient to the tokens",
            project_qkv,
            "x @ w_q, x @ w_k, x @ w_v",
            "x.detach() @ w_q, x.detach() @ w_k, x.detach() @ w_v",
            "The values are right but no gradient reaches x: is there a detach() or .data?",
        ),
    ],
)
