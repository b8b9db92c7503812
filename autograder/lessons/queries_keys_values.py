"""queries_keys_values: three projections, scaled attention, two masks, cross-attention."""

import torch

from autograder.exercise import (
    ARGUMENTS,
    GRADIENT,
    Case,
    Choice,
    Conclusion,
    Draw,
    Exercise,
    args,
    built,
)
from autograder.probe import module, module_used_before
from autograder.puzzle import Puzzle
from autograder.slips import Slip, patched
from solutions.queries_keys_values import (
    CrossAttention,
    causal_mask,
    padding_mask,
    project_qkv,
    scaled_dot_product_attention,
)


def _three(own, name, *tensors):
    """Project: the three results by name, and all gradients."""
    import torch

    fresh = [t.clone().requires_grad_() for t in tensors]
    q, k, v = getattr(own, name)(*(t * 1 for t in fresh))
    seen = {"queries": q, "keys": k, "values": v}
    push = [torch.cos(torch.arange(t.numel(), dtype=t.dtype)).reshape(t.shape) for t in (q, k, v)]
    total = sum((t * p).sum() for t, p in zip((q, k, v), push, strict=True))
    seen["gradients"] = list(torch.autograd.grad(total, fresh, allow_unused=True))
    return seen


def _project(*leading, square=False, dtype=torch.float32):
    def draw(d):
        t, c, size, e = d.sizes(4)
        size, e = (c, c) if square else (size, e)
        shapes = [(*leading, t, c), (c, size), (c, size), (c, e)]
        return tuple(d.normal(*shape, dtype=dtype) for shape in shapes)

    return draw


PROJECT = Exercise(
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

ATTENTION = Exercise(
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

ROWS = "torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query)"

CAUSAL = Exercise(
    causal_mask,
    parts={"values": 6, "more keys than queries": 4},
    cases=[
        Case("values", "a few tokens", lambda d: args(d.sizes(1, 3, 7)[0])),
        Case("values", "one token", lambda d: args(1)),
        Case("values", "as many keys as queries", lambda d: args(4, 4)),
        Case("more keys than queries", "the last of many", lambda d: args(*sorted(d.sizes(2)))),
        Case("more keys than queries", "one query", lambda d: args(1, d.sizes(1)[0])),
    ],
    slips=[
        Slip(
            "the token itself forbidden",
            causal_mask,
            "tril(n_key - n_query)",
            "tril(n_key - n_query - 1)",
            "A token may not look at itself, and the first may look at nothing: the diagonal is "
            "allowed.",
        ),
        Slip(
            "one token ahead",
            causal_mask,
            "tril(n_key - n_query)",
            "tril(n_key - n_query + 1)",
            "Every token sees the next one, which is what it is to predict.",
        ),
        Slip(
            "inverted",
            causal_mask,
            ROWS,
            f"~{ROWS}",
            "The mask is the wrong way round: True means that looking is allowed. (PyTorch's "
            "`attn_mask` of nn.MultiheadAttention means the opposite.)",
        ),
        Slip(
            "the future instead of the past",
            causal_mask,
            ".tril(n_key - n_query)",
            ".triu(n_key - n_query)",
            "This allows the token itself and what comes after: `tril` keeps the lower triangle.",
        ),
        Slip(
            "counted from the first key",
            causal_mask,
            "tril(n_key - n_query)",
            "tril()",
            "With more keys than queries the first query is taken for token 0. The queries are the "
            "last ones: query i stands at position i + S - T.",
        ),
        Slip(
            "shifted the wrong way",
            causal_mask,
            "n_key - n_query)",
            "n_query - n_key)",
            "The shift has the wrong sign: query i stands at position i + S - T.",
        ),
        Slip(
            "a square of keys",
            causal_mask,
            ROWS,
            "torch.ones(n_key, n_key, dtype=torch.bool).tril()",
            "There is a row for every key: the mask has a row for each query, (T, S).",
        ),
        Slip(
            "a square of queries",
            causal_mask,
            ROWS,
            "torch.ones(n_query, n_query, dtype=torch.bool).tril()",
            "`n_key` is not used: the mask has a column for each key, (T, S).",
        ),
        Slip(
            "rows and columns exchanged",
            causal_mask,
            ROWS,
            f"{ROWS}.T",
            "Rows and columns are exchanged: a row belongs to a query, a column to a key.",
        ),
        Slip(
            "ones and zeros",
            causal_mask,
            ", dtype=torch.bool",
            "",
            "The mask holds numbers, 1.0 and 0.0: return booleans.",
        ),
        Slip(
            "minus infinities",
            causal_mask,
            ROWS,
            "torch.full((n_query, n_key), -torch.inf).triu(n_key - n_query + 1)",
            "The mask holds 0 and minus infinity, to be added to the scores. Here a mask is "
            "boolean, True where looking is allowed.",
        ),
    ],
)


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


PADDING = Exercise(
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


def _cross(d, b, t, s, c, other, size, bias=False, **keywords):
    """Draw a layer and its inputs: x (B, T, C) asks a context (B, S, C')."""
    widths = {"query": c, "key": other, "value": other}
    weights = {}
    for name, width in widths.items():
        weights[f"{name}.weight"] = d.normal(size, width, std=1.5 * width**-0.5)
        if bias:
            weights[f"{name}.bias"] = d.normal(size)
    config = {"n_embd": c, "n_context": other, "head_size": size, "bias": bias}
    return built(config, weights, d.normal(b, t, c), d.normal(b, s, other), **keywords)


def _unequal(d, **options):
    t, s, c, other, size = d.sizes(5, 2, 7)
    return _cross(d, 2, t, s, c, other, size, **options)


def _square(d):
    t, c = d.sizes(2, 3, 6)
    return _cross(d, 2, t, t, c, c, c)


def _masked(*leading):
    def draw(d):
        t, s, c, other, size = d.sizes(5, 2, 7)
        rows = t if len(leading) < 2 else 1  # (B, 1, S): padding of the context
        return _cross(d, 3, t, s, c, other, size, mask=d.mask(*leading[:1], rows, s))

    return draw


def _blind_query(d):
    mask = d.mask(4, 5)
    mask[2] = False
    return _cross(d, 2, 4, 5, 3, 6, 2, bias=True, mask=mask)


def _again(d):
    config, weights, *first = _cross(d, 3, 4, 5, 3, 6, 2, mask=d.mask(4, 5))
    return config, weights, tuple(first), ((d.normal(2, 4, 3), d.normal(2, 5, 6)), {})


PROJECTIONS = "q, k, v = self.query(x), self.key(context), self.value(context)"
CALL = "scaled_dot_product_attention(q, k, v, mask)"

CROSS = Exercise(
    CrossAttention,
    parts={"values": 7, "mask": 4, GRADIENT: 3},
    cases=[
        Case("values", "T tokens ask S others", _unequal, module),
        Case("values", "all sizes equal", _square, module),
        Case("values", "with biases", lambda d: _unequal(d, bias=True), module),
        Case("values", "one token asks", lambda d: _cross(d, 2, 1, 5, 3, 4, 6), module),
        Case("values", "a context of one token", lambda d: _cross(d, 1, 4, 1, 3, 5, 2), module),
        Case("values", "the layer used before", _again, module_used_before),
        Case("mask", "one mask for all", _masked(), module),
        Case("mask", "a mask for each sentence", _masked(3), module),
        Case("mask", "padding in the context", _masked(3, 1), module),
        Case("mask", "a token that may look at nothing", _blind_query, module),
    ],
    slips=[
        Slip(
            "scaled by the model width",
            CrossAttention.forward,
            "self.query(x)",
            "self.query(x) * (self.query.out_features / x.size(-1)) ** 0.5",
            "The scores are divided by sqrt(C), the width of the model: divide by sqrt(D), the "
            "width of queries and keys.",
        ),
        Slip(
            "not scaled",
            CrossAttention.forward,
            "self.query(x)",
            "self.query(x) * self.query.out_features**0.5",
            "The scores are not divided by sqrt(D).",
        ),
        Slip(
            "scaled twice",
            CrossAttention.forward,
            "self.query(x)",
            "self.query(x) / self.query.out_features**0.5",
            "The scores are divided by sqrt(D) twice: `scaled_dot_product_attention` does it.",
        ),
        Slip(
            "keys from x",
            CrossAttention.forward,
            "self.key(context)",
            "self.key(x)",
            "The keys are made from x: the tokens of the context are the ones to match.",
        ),
        Slip(
            "values from x",
            CrossAttention.forward,
            "self.value(context)",
            "self.value(x)",
            "The values are made from x. What is handed over comes from the tokens that were "
            "looked at: self.value(context).",
        ),
        Slip(
            "the context asks",
            CrossAttention.forward,
            PROJECTIONS,
            "q, k, v = self.query(context), self.key(x), self.value(x)",
            "The context asks and x answers: it is the other way round.",
        ),
        Slip(
            "only the context",
            CrossAttention.forward,
            "self.query(x)",
            "self.query(context)",
            "The queries are made from the context, so x is never looked at: it is x that asks.",
        ),
        Slip(
            "self-attention",
            CrossAttention.forward,
            PROJECTIONS,
            "q, k, v = self.query(x), self.key(x), self.value(x)",
            "All three are made from x: the context is not used.",
        ),
        Slip(
            "query and key layers exchanged",
            CrossAttention.forward,
            "self.query(x), self.key(context)",
            "self.key(x), self.query(context)",
            "`self.query` and `self.key` are exchanged: x asks, so the queries are self.query(x).",
        ),
        Slip(
            "keys and values exchanged",
            CrossAttention.forward,
            CALL,
            "scaled_dot_product_attention(q, v, k, mask)",
            "Keys and values are exchanged: queries are matched with keys, values are averaged.",
        ),
        Slip(
            "values not projected",
            CrossAttention.forward,
            "self.value(context)",
            "context",
            "The values are the tokens of the context themselves: `self.value` is not used.",
        ),
        Slip(
            "mask not used",
            CrossAttention.forward,
            CALL,
            "scaled_dot_product_attention(q, k, v)",
            "The mask is not passed on.",
        ),
        Slip(
            "mask inverted",
            CrossAttention.forward,
            CALL,
            "scaled_dot_product_attention(q, k, v, None if mask is None else ~mask)",
            "The mask is the wrong way round: True means that looking is allowed, here and in "
            "`scaled_dot_product_attention`.",
        ),
        Slip(
            "input added",
            CrossAttention.forward,
            f"return {CALL}",
            f"return x + {CALL}",
            "The input is added to the result. That is the residual connection of a later lesson.",
        ),
        Slip(
            "no gradient to the context",
            CrossAttention.forward,
            PROJECTIONS,
            "q, k, v = self.query(x), self.key(context.detach()), self.value(context.detach())",
            "The result is right but no gradient reaches the context: is there a detach()?",
        ),
    ],
)


def puzzle() -> Puzzle:
    """The weights under a causal mask whose forbidden scores were set to zero."""
    slip = next(s for s in ATTENTION.slips if s.name == "masked scores set to zero")
    draw = Draw("puzzle")
    q, k = draw.normal(5, 4), draw.normal(5, 4)
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    weights = patched(slip)["scaled_dot_product_attention"](q, k, torch.eye(5), mask)
    return Puzzle(weights, "weights under a causal mask", "query", "key", sums=True)


WHICH_LINE = Choice(
    "which_line",
    points=8,
    right="b",
    answers={
        "a": "Masked after the softmax, the cells above the diagonal would be empty and the rows "
        "would sum to less than one. Here they are filled and the rows sum to one.",
        "b": "Above the diagonal each row repeats one number: exp(0) over the row's sum. The "
        "future has the same score everywhere, 0, and that is not the lowest there is.",
        "c": "With the mask the wrong way round, the cells on and below the diagonal would be "
        "empty, and the last row, which then may look at nothing, would be nan.",
        "d": "Without a mask the cells above the diagonal would differ from each other, as the "
        "keys do.",
    },
)


def _narrow_and_wide(own, seed):
    """Look at the weights of the attention under test for widths 4 and 1,024."""
    from solutions.studies.saturation import saturation

    found = {}
    for width in (4, 1024):
        ways = saturation(own.scaled_dot_product_attention, width, seed, n_row=100, n_key=32)
        for name, way in (("plain", "not divided"), ("root", "divided by the root of D")):
            for what in ("largest", "gradient"):
                found[f"{name}_{what}_{width}"] = ways[way][what]
    return found


def _what_the_scale_does(measured: dict) -> str:
    def piled(name: str) -> bool:
        return not measured[f"{name}_largest_1024"] < 0.5

    return {(False, False): "a", (True, False): "b", (False, True): "c", (True, True): "d"}[
        piled("plain"), piled("root")
    ]


WHAT_THE_SCALE_DOES = Conclusion(
    "what_the_scale_does",
    points=10,
    probe=_narrow_and_wide,
    inputs=(0,),
    decide=_what_the_scale_does,
    measures=[scaled_dot_product_attention],
    answers={
        letter: "With {whose} attention, from D = 4 to D = 1,024: divided by the root, the largest "
        "weight went from {root_largest_4:.2f} to {root_largest_1024:.2f} and the typical gradient "
        "from {root_gradient_4:.1g} to {root_gradient_1024:.1g}; not divided, from "
        "{plain_largest_4:.2f} to {plain_largest_1024:.2f} and from {plain_gradient_4:.1g} to "
        "{plain_gradient_1024:.1g}."
        for letter in "abcd"
    },
)

QUESTIONS = [PROJECT, ATTENTION, CAUSAL, PADDING, CROSS, WHICH_LINE, WHAT_THE_SCALE_DOES]
