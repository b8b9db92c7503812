"""scaled_dot_product_attention: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.draw import args
from autograder.checks.question import ARGUMENTS, GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from solutions.queries_keys_values import scaled_dot_product_attention


def _half(own, name, q, k, v, mask):
    """Attend in half precision: what comes back, and of which kind."""
    result = getattr(own, name)(q, k, v, mask)
    return {"result": result}


def _attend(*leading, dtype=torch.float32, mask=None, square=False):
    """Draw queries, keys, values of unequal sizes, and a mask drawn by `mask(d, t, s)`."""

    def draw(d):
        t, s, size, e = d.sizes(4)
        t, e = (s, size) if square else (t, e)
        q, k = d.normal(*leading, t, size, dtype=dtype), d.normal(*leading, s, size, dtype=dtype)
        v = d.normal(*leading, s, e, dtype=dtype)
        return args(q, k, v, *([] if mask is None else [mask(d, t, s)]))

    return draw


def _blind(d, t, s):
    mask = d.mask(t, s)
    mask[-1] = False
    return mask


def _one_blind_sentence(d, t, s):
    mask = d.mask(2, 1, s)
    mask[1] = False
    return mask


def _padding(d, t, s):
    return (torch.arange(s) < torch.tensor([[s], [1], [s - 1]])).unsqueeze(-2)


def _double(d):
    sizes = ((3, 4), (5, 4), (5, 6))
    return args(*(d.normal(*size, dtype=torch.float64) for size in sizes))


def _far_below(d):
    """Allowed scores near -2,000: a forbidden place must be lower still."""
    q, k, v = (d.normal(n, c, dtype=torch.float64) for n, c in ((3, 4), (5, 4), (5, 2)))
    mask = torch.tensor([1, 0, 1, 0, 1], dtype=torch.bool).expand(3, 5).clone()
    return args(q.abs() + 30, -30 - k.abs(), v, mask)


def _in_half(mask):
    def draw(d):
        (q, k, v, m), _ = _attend(2, dtype=torch.float16, mask=mask)(d)
        return q, k, v, m

    return draw


def _far_ahead(masked):
    """Scores of 0 and 32, whose exp no half can hold; one query may not look at its best key."""

    def draw(d):
        q, k = 8 * torch.eye(4)[[2, 0, 3]], 8 * torch.eye(4)[[0, 1, 2, 3, 1]]
        mask = torch.ones(3, 5, dtype=torch.bool)
        mask[0, 2] = mask[1, 4] = False
        v = d.normal(5, 2, dtype=torch.float16)
        return q.half(), k.half(), v, mask if masked else None

    return draw


SCORES = "scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))"


WEIGHTS = (
    "weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)\n"
    "    return weights.masked_fill(~mask, 0.0) @ v"
)


BOTH = "return scores.softmax(-1) @ v\n    weights = scores.masked_fill(~mask, -torch.inf)"


QUESTION = Exercise(
    scaled_dot_product_attention,
    parts={
        **{"values": 9, "mask": 8, "nothing to look at": 4, "half precision": 3},
        **{GRADIENT: 4, ARGUMENTS: 2},
    },
    cases=[
        Case("values", "T queries, S keys", _attend()),
        Case("values", "a batch", _attend(3)),
        Case("values", "two leading axes", _attend(2, 3)),
        Case("values", "as many queries as keys, values as wide as keys", _attend(2, square=True)),
        Case(
            "values", "one query, one key", lambda d: args(*(d.normal(2, 1, n) for n in (3, 3, 5)))
        ),
        Case("values", "float64", _double),  # the root of D is exact, whoever takes it
        Case(
            "values",
            "transposed tensors",
            lambda d: args(d.normal(4, 3).T, d.normal(4, 5).T, d.normal(2, 5).T),
        ),
        Case("mask", "one mask for all", _attend(2, mask=lambda d, t, s: d.mask(t, s))),
        Case("mask", "a mask for each sentence", _attend(3, mask=lambda d, t, s: d.mask(3, t, s))),
        Case("mask", "padding", _attend(3, mask=_padding)),
        Case("mask", "two leading axes", _attend(2, 3, mask=lambda d, t, s: d.mask(t, s))),
        Case(
            "mask",
            "a mask for each sentence, several heads",
            _attend(2, 3, mask=lambda d, t, s: d.mask(2, 1, t, s)),
        ),
        Case(
            "mask",
            "a causal mask",
            _attend(2, square=True, mask=lambda d, t, s: torch.ones(t, s, dtype=torch.bool).tril()),
        ),
        Case("mask", "allowed scores far below zero", _far_below),
        Case("nothing to look at", "one query that may look at nothing", _attend(2, mask=_blind)),
        Case("nothing to look at", "a sentence of padding", _attend(2, mask=_one_blind_sentence)),
        Case("half precision", "a mask", _in_half(lambda d, t, s: d.mask(t, s)), _half),
        Case("half precision", "a query that may look at nothing", _in_half(_blind), _half),
        Case("half precision", "one key far ahead", _far_ahead(True), _half),
        Case("half precision", "no mask", _far_ahead(False), _half),
    ],
    slips=[
        Slip(
            "not scaled",
            scaled_dot_product_attention,
            " / math.sqrt(q.size(-1))",
            "",
            "The scores are not divided by sqrt(D): with wide queries the softmax saturates.",
        ),
        Slip(
            "divided by the width",
            scaled_dot_product_attention,
            "math.sqrt(q.size(-1))",
            "q.size(-1)",
            "The scores are divided by D, not by its root: all weights come out too even.",
        ),
        Slip(
            "divided by the root of the number of keys",
            scaled_dot_product_attention,
            "math.sqrt(q.size(-1))",
            "math.sqrt(k.size(-2))",
            "The scores are divided by sqrt(S), the number of keys. A dot product grows with the "
            "number of products in it: divide by sqrt(D), the width.",
        ),
        Slip(
            "divided by the root of the number of queries",
            scaled_dot_product_attention,
            "math.sqrt(q.size(-1))",
            "math.sqrt(q.size(-2))",
            "The scores are divided by sqrt(T), the number of queries: divide by sqrt(D).",
        ),
        Slip(
            "divided by the root of the value width",
            scaled_dot_product_attention,
            "math.sqrt(q.size(-1))",
            "math.sqrt(v.size(-1))",
            "The scores are divided by the root of the values' width. Queries and keys make the "
            "scores: it is their width that counts.",
        ),
        Slip(
            "scaled after the softmax",
            scaled_dot_product_attention,
            SCORES,
            "v, scores = v / math.sqrt(q.size(-1)), q @ k.transpose(-2, -1)",
            "The division comes after the softmax: the rows no longer sum to one, and the softmax "
            "has saturated already.",
        ),
        Slip(
            "softmax over the queries",
            scaled_dot_product_attention,
            f"{BOTH}.softmax(-1)",
            f"{BOTH.replace('softmax(-1)', 'softmax(-2)')}.softmax(-2)",
            "Each column sums to one, but each row should: the softmax runs over the keys, the "
            "last axis.",
        ),
        Slip(
            "keys and values exchanged",
            scaled_dot_product_attention,
            SCORES,
            "v, scores = k, q @ v.transpose(-2, -1) / math.sqrt(q.size(-1))",
            "Keys and values are exchanged: queries are matched with keys, values are averaged.",
        ),
        Slip(
            "values scored",
            scaled_dot_product_attention,
            "q @ k.transpose(-2, -1)",
            "q @ v.transpose(-2, -1)",
            "The queries are matched with the values: k is not used.",
        ),
        Slip(
            "keys handed over",
            scaled_dot_product_attention,
            SCORES,
            "v, scores = k, q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))",
            "The keys are averaged: v is not used. Keys say what fits, values are handed over.",
        ),
        Slip(
            "mask inverted",
            scaled_dot_product_attention,
            WEIGHTS,
            "weights = scores.masked_fill(mask, -torch.inf).softmax(-1)\n"
            "    return weights.masked_fill(mask, 0.0) @ v",
            "The mask is the wrong way round: True means that looking is allowed.",
        ),
        Slip(
            "mask not used",
            scaled_dot_product_attention,
            WEIGHTS,
            "weights = scores.softmax(-1)\n    return weights @ v",
            "The mask does not act on the scores: every query still sees every key.",
        ),
        Slip(
            "masked after the softmax",
            scaled_dot_product_attention,
            "scores.masked_fill(~mask, -torch.inf).softmax(-1)",
            "scores.softmax(-1)",
            "The mask comes after the softmax, so the rows sum to less than one: forbid the "
            "scores, before the softmax.",
        ),
        Slip(
            "masked scores set to zero",
            scaled_dot_product_attention,
            WEIGHTS,
            "weights = scores.masked_fill(~mask, 0.0).softmax(-1)\n    return weights @ v",
            "A forbidden score is set to 0, which is a score like any other: exp(0) is 1. Set it "
            "to minus infinity.",
        ),
        Slip(
            "not low enough",
            scaled_dot_product_attention,
            WEIGHTS,
            "weights = scores.masked_fill(~mask, -100.0).softmax(-1)\n    return weights @ v",
            "A forbidden score is set to some number such as -100: where the allowed scores are "
            "lower still, the forbidden places win. Use minus infinity.",
        ),
        Slip(
            "minus a billion",
            scaled_dot_product_attention,
            WEIGHTS,
            "weights = scores.masked_fill(~mask, -1e9).softmax(-1)\n    return weights @ v",
            "Forbidden scores are set to a large negative number such as -1e9: float16 cannot hold "
            "it, and a query that may look at nothing gets an even mix of forbidden values. Use "
            "minus infinity, and zeros for such a query.",
        ),
        Slip(
            "a large number that overflows",
            scaled_dot_product_attention,
            "scores.masked_fill(~mask, -torch.inf)",
            "(scores + ~mask * torch.tensor(-1e9, dtype=scores.dtype))",
            "-1e9 does not fit into half precision, whose numbers end at 65,504: it becomes minus "
            "infinity, and 0 times infinity is not a number. Fill with minus infinity, or with "
            "`torch.finfo(dtype).min`.",
        ),
        Slip(
            "nan where nothing may be looked at",
            scaled_dot_product_attention,
            "weights.masked_fill(~mask, 0.0)",
            "weights",
            "A query that may look at nothing gets nan: a softmax over nothing but minus infinity "
            "is 0/0. Such a query gets zeros.",
        ),
        Slip(
            "an even mix where nothing may be looked at",
            scaled_dot_product_attention,
            WEIGHTS,
            "weights = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1)\n"
            "    return weights @ v",
            "A query that may look at nothing gets the mean of all forbidden values, since all its "
            "scores are equally low. Such a query gets zeros.",
        ),
        Slip(
            "mask transposed",
            scaled_dot_product_attention,
            WEIGHTS,
            "weights = scores.masked_fill(~mask.mT, -torch.inf).softmax(-1)\n"
            "    return weights.masked_fill(~mask.mT, 0.0) @ v",
            "The mask is transposed: row t of the mask is for query t.",
        ),
        Slip(
            "minus infinity added",
            scaled_dot_product_attention,
            "scores.masked_fill(~mask, -torch.inf)",
            "(scores + torch.zeros_like(~mask, dtype=q.dtype).masked_fill(~mask, -torch.inf))",
            "The result is right, but where a query may look at nothing the gradient is nan: minus "
            "infinity is added, and the sum passes the nan of the softmax on. `masked_fill` stops "
            "it.",
        ),
        Slip(
            "no gradient to queries and keys",
            scaled_dot_product_attention,
            SCORES,
            "scores = (q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))).detach()",
            "The result is right but no gradient reaches queries and keys: is there a detach() or "
            ".data?",
        ),
        Slip(
            "queries overwritten",
            scaled_dot_product_attention,
            SCORES,
            "scores = q.div_(math.sqrt(q.size(-1))) @ k.transpose(-2, -1)",
            "The call changes its own argument: `q /= ...` writes into the caller's tensor. Make a "
            "new one: `q / ...`.",
        ),
    ],
)
