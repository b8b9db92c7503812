"""warm_up: the reference against PyTorch's own, and what only a right answer does."""

import math

import pytest
import torch
import torch.nn.functional as F

from autograder.checks.marking import mark
from autograder.lessons import load
from solutions.warm_up import one_hot_rows, softmax, weighted_average

LESSON = load("warm_up")


def normal(*shape, dtype=torch.float32):
    return 2 * torch.randn(*shape, generator=torch.Generator().manual_seed(3), dtype=dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("dim", [-3, -2, -1, 0, 1, 2])
def test_softmax_agrees_with_torch(dim, dtype):
    x = normal(2, 3, 5, dtype=dtype)
    torch.testing.assert_close(softmax(x, dim), F.softmax(x, dim))


def test_softmax_has_the_gradient_of_torch():
    x = normal(3, 5, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: softmax(x, -1), x)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_softmax_keeps_the_dtype_and_stays_finite_at_ten_thousand(dtype):
    x = torch.tensor([[10_000.0, -10_000.0, 0.0], [-10_000.0] * 3]).to(dtype)
    weights = softmax(x, -1)
    assert weights.dtype == dtype and weights.isfinite().all()
    assert torch.allclose(weights.sum(-1).float(), torch.ones(2), atol=4e-3)


def test_adding_the_same_number_to_all_scores_changes_no_weight():
    x = normal(4, 6, dtype=torch.float64)
    torch.testing.assert_close(softmax(x + 1000, -1), softmax(x, -1), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("batch", [(), (2,), (2, 4)])
def test_weighted_average_agrees_with_a_sum_over_rows(batch):
    weights, values = normal(*batch, 3, 5).softmax(-1), normal(*batch, 5, 7)
    by_hand = sum(weights[..., s, None] * values[..., s, None, :] for s in range(5))
    torch.testing.assert_close(weighted_average(weights, values), by_hand)


def test_an_average_lies_between_the_least_and_the_largest_value():
    average = weighted_average(normal(3, 5).softmax(-1), normal(5, 7))
    values = normal(5, 7)
    assert (average <= values.amax(0) + 1e-6).all() and (average >= values.amin(0) - 1e-6).all()


@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (2, 3, 4)])
def test_one_hot_rows_agree_with_torch(shape):
    ids = torch.randint(0, 6, shape)
    assert torch.equal(one_hot_rows(ids, 6), F.one_hot(ids, 6).float())


def test_the_references_run_on_another_device():
    with torch.device("meta"):
        x, ids = torch.empty(2, 3), torch.zeros(4, dtype=torch.long)
    assert softmax(x, -1).is_meta and softmax(x, -1).shape == (2, 3)
    assert weighted_average(x, x.T).shape == (2, 2) and weighted_average(x, x.T).is_meta
    assert one_hot_rows(ids, 5).shape == (4, 5) and one_hot_rows(ids, 5).is_meta


def stable(x, dim):
    return (x - x.amax(dim, keepdim=True)).exp()


def by(e, dim):
    return e / e.sum(dim, keepdim=True)


# plausible, wrong, and none of them among the slips
WRONG = {
    "softmax": {
        "no keepdim": lambda x, dim: stable(x, dim) / stable(x, dim).sum(dim),
        "mean subtracted": lambda x, dim: by((x - x.mean(dim, keepdim=True)).exp(), dim),
        "scores clamped": lambda x, dim: by(stable(x.clamp(-80, 80), dim), dim),
        "only large scores clamped": lambda x, dim: by(x.clamp(max=80).exp(), dim),
        "length one": lambda x, dim: x / x.norm(dim=dim, keepdim=True),
        "sigmoids": lambda x, dim: by(x.sigmoid(), dim),
        "the axis without its sign": lambda x, dim: by(stable(x, abs(dim)), abs(dim)),
        "the least score wins": lambda x, dim: by(stable(-x, dim), dim),
        "maximum of the last axis": lambda x, dim: by(stable(x, -1), dim),
        "always float32": lambda x, dim: by(stable(x, dim), dim).float(),
        "computed in float32": lambda x, dim: by(stable(x.float(), dim), dim).to(x.dtype),
        "nan made zero": lambda x, dim: by(x.exp(), dim).nan_to_num(0.0),
        "nan made one": lambda x, dim: by(x.exp(), dim).nan_to_num(1.0),
        "rounded": lambda x, dim: by(stable(x, dim), dim).mul(1e4).round() / 1e4,
        "scaled": lambda x, dim: by(stable(x / math.sqrt(x.size(dim)), dim), dim),
        "epsilon too large": lambda x, dim: stable(x, dim) / (stable(x, dim).sum(dim, True) + 1e-4),
        "an array": lambda x, dim: by(stable(x, dim), dim).detach().numpy(),
        "a list": lambda x, dim: by(stable(x, dim), dim).tolist(),
        "first two axes only": lambda x, dim: by(stable(x, dim % 2), dim % 2),
    },
    "weighted_average": {
        "the other way round": lambda w, v: v @ w,
        "no batch": lambda w, v: torch.einsum("ts,sc->tc", w, v),
        "a batch only": lambda w, v: torch.bmm(w, v),
        "values not lined up": lambda w, v: (w.unsqueeze(-1) * v).sum(-2),
        "first batch only": lambda w, v: w @ (v if v.dim() < 3 else v[0]),
        "all pairs of a batch": lambda w, v: torch.tensordot(w, v, 1),
        "result transposed": lambda w, v: (w @ v).mT,
        "values detached": lambda w, v: w @ v.detach(),
        "weights detached": lambda w, v: w.detach() @ v,
        "axes of length one lost": lambda w, v: (w @ v).squeeze(),
        "double precision": lambda w, v: w.double() @ v.double(),
        "two axes only": lambda w, v: (v.T @ w.T).T,
    },
    "one_hot_rows": {
        "wrapped round": lambda ids, n: torch.eye(n)[ids - 1],
        "one axis only": lambda ids, n: torch.zeros(len(ids), n).scatter_(1, ids[:, None], 1.0),
        "n from the ids": lambda ids, n: torch.eye(int(ids.max()) + 1)[ids],
        "n not used": lambda ids, n: F.one_hot(ids).float(),
        "ids in the second axis": lambda ids, n: (ids[:, None] == torch.arange(n)).float(),
        "half precision": lambda ids, n: torch.eye(n)[ids].half(),
        "columns from one": lambda ids, n: (ids[..., None] == torch.arange(1, n + 1)).float(),
        "sums to one in all": lambda ids, n: torch.eye(n)[ids] / max(ids.numel(), 1),
        "the id itself": lambda ids, n: torch.eye(n)[ids] * ids.unsqueeze(-1),
        "a column too many": lambda ids, n: torch.eye(n + 1)[ids],
        "from the right": lambda ids, n: torch.eye(n).flip(0)[ids],
        "first id for all": lambda ids, n: torch.eye(n)[ids.flatten()[0]].expand(*ids.shape, n),
        "a list": lambda ids, n: torch.eye(n)[ids].tolist(),
    },
}
# unusual, and right: these are no other algorithms, so they are not among the alternatives
RIGHT = {
    "softmax": {
        "a module": lambda x, dim: torch.nn.Softmax(dim)(x),
        "wider inside": lambda x, dim: F.softmax(x, dim, dtype=torch.float64).to(x.dtype),
        "a tiny epsilon": lambda x, dim: stable(x, dim) / (stable(x, dim).sum(dim, True) + 1e-8),
        "least subtracted first": lambda x, dim: by(stable(x - x.amin(dim, True), dim), dim),
        "not contiguous": lambda x, dim: (
            x.softmax(dim).mT.contiguous().mT if x.dim() > 1 else x.softmax(dim)
        ),
    },
    "weighted_average": {
        "wider inside": lambda w, v: (w.double() @ v.double()).float(),
        "not contiguous": lambda w, v: (w @ v).mT.contiguous().mT,
    },
    "one_hot_rows": {
        "with a gradient": lambda ids, n: torch.eye(n)[ids].requires_grad_(),
        "a parameter": lambda ids, n: torch.nn.Parameter(torch.eye(n)[ids]),
        "an embedding": lambda ids, n: F.embedding(ids, torch.eye(n)),
    },
}


def answers(table):
    return [(name, how) for name, hows in table.items() for how in hows]


@pytest.mark.parametrize("name, how", answers(WRONG))
def test_a_plausible_wrong_answer_loses_points(name, how):
    assert mark(LESSON, name, {name: WRONG[name][how]}).score < LESSON[name].points


@pytest.mark.parametrize("name, how", answers(RIGHT))
@pytest.mark.parametrize("seed", [None, "one", "two"])
def test_an_unusual_right_answer_gets_full_marks(name, how, seed):
    result = mark(LESSON, name, {name: RIGHT[name][how]}, seed)
    assert result.passed, [part.found for part in result.parts]
