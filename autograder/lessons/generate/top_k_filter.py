"""top_k_filter: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.draw import args
from autograder.checks.question import ARGUMENTS, Case, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.generate.shared import LARGER_FIRST, NO_GRADIENT, drawn_rows
from solutions.generate import top_k_filter


def _top_k(*leading, k=None, dtype=torch.float32):
    def draw(d):
        v = d.sizes(1, 6, 9)[0]
        return *args(d.normal(*leading, v, dtype=dtype), k or d.sizes(1, 2, 4)[0]), NO_GRADIENT

    return draw


def _ties(k):
    def draw(d):
        scores = torch.tensor([[1.0, 3.0, 2.0, 3.0, 2.0, 2.0], [2.0, 2.0, 2.0, 2.0, 2.0, 2.0]])
        return *args(scores + float(d.integers(0, 5)), k), NO_GRADIENT

    return draw


def _cut_before(p_or_k):
    def draw(d):
        scores = d.normal(2, 7)
        scores[:, 1], scores[:, 4] = -torch.inf, -torch.inf
        return *args(scores, p_or_k), NO_GRADIENT

    return draw


K_LINE = "return scores.scatter(-1, order[..., k:], -math.inf)"


QUESTION = Exercise(
    top_k_filter,
    parts={"values": 5, "ties": 3, ARGUMENTS: 2},
    cases=[
        Case("values", "a batch of scores", _top_k(3)),
        Case("values", "k = 1", _top_k(4, k=1)),
        Case("values", "k = V", lambda d: (*args(d.normal(2, 5), 5), NO_GRADIENT)),
        Case("values", "k above V", lambda d: (*args(d.normal(2, 5), 8), NO_GRADIENT)),
        Case("values", "no batch", _top_k()),
        Case("values", "two leading axes, float64", _top_k(2, 3, dtype=torch.float64)),
        Case("values", "transposed", lambda d: (*args(d.normal(7, 3).mT, 3), NO_GRADIENT)),
        Case("values", "scores that are -inf already", _cut_before(3)),
        Case("values", "scores far apart", drawn_rows([-200.0, -120.0, 0.0], 2)),
        Case("values", "scores close together", drawn_rows([2.0, 2.00003, 1.0], 1)),
        Case("ties", "equal scores at the border", _ties(3)),
        Case("ties", "equal scores, k = 1", _ties(1)),
        Case("ties", "twenty equal scores", lambda d: (*args(torch.zeros(20), 7), NO_GRADIENT)),
    ],
    slips=[
        Slip(
            "the worst kept",
            top_k_filter,
            "descending=True",
            "descending=False",
            "The lowest scores are kept and the best are cut: sort with descending=True.",
        ),
        Slip(
            "all equals kept",
            top_k_filter,
            K_LINE,
            "return scores.masked_fill(scores < scores.sort(dim=-1, descending=True)"
            ".values[..., : k][..., -1:], -math.inf)",
            "All tokens with the score of the k-th best are kept, which may be more than k. Of "
            "equal scores only the smaller ids stay: rank with a stable sort, then cut by rank.",
        ),
        Slip(
            "larger ids first",
            top_k_filter,
            "order = scores.argsort(dim=-1, descending=True, stable=True)",
            LARGER_FIRST,
            "Of equal scores the larger ids are kept; the smaller id comes first.",
        ),
        Slip(
            "one too many",
            top_k_filter,
            "order[..., k:]",
            "order[..., k + 1 :]",
            "k + 1 tokens are kept: the ranks 0 to k - 1 stay.",
        ),
        Slip(
            "one too few",
            top_k_filter,
            "order[..., k:]",
            "order[..., max(k - 1, 1) :]",
            "k - 1 tokens are kept: the ranks 0 to k - 1 stay.",
        ),
        Slip(
            "the k best cut",
            top_k_filter,
            "order[..., k:]",
            "order[..., :k]",
            "The k best are cut and the others kept; it is the other way round.",
        ),
        Slip(
            "zero instead of -inf",
            top_k_filter,
            K_LINE,
            K_LINE.replace("-math.inf", "0.0"),
            "The others get the score 0. That is a score like any other, and often a good one: "
            "only -inf becomes the probability zero.",
        ),
        Slip(
            "a large negative number",
            top_k_filter,
            K_LINE,
            K_LINE.replace("-math.inf", "-1e9"),
            "The others get -1e9, which is no -inf: a row of such scores is still a fair draw.",
        ),
        Slip(
            "one border for the whole batch",
            top_k_filter,
            K_LINE,
            "return scores.masked_fill(scores < scores.flatten().sort(descending=True)"
            ".values[: k][-1], -math.inf)",
            "The k best of the whole batch are kept: every row has its own k best.",
        ),
        Slip(
            "left in sorted order",
            top_k_filter,
            K_LINE,
            "return scores.gather(-1, order).masked_fill("
            "torch.arange(scores.size(-1)) >= k, -math.inf)",
            "The scores come back sorted, so they belong to other tokens now: bring them back to "
            "their ids.",
        ),
        Slip(
            "probabilities returned",
            top_k_filter,
            K_LINE,
            "return scores.scatter(-1, order[..., k:], -math.inf).softmax(-1)",
            "These are probabilities. Return scores: whoever draws does the softmax.",
        ),
        Slip(
            "scores overwritten",
            top_k_filter,
            "scores.scatter(",
            "scores.scatter_(",
            "The argument itself is changed: the caller's scores are lost. Return a new tensor.",
        ),
    ],
    equivalent={
        "top_k_filter: scores.argsort(dim=-1, descending=True, stable=True) -> "
        "scores.argsort(descending=True, stable=True)": "the last axis is the default",
    },
)
