"""MultiHeadAttention: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.draw import built
from autograder.checks.question import ARGUMENTS, GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from autograder.seam.probe import module, module_used_before
from solutions.multi_head import MultiHeadAttention


def _layer(d, b, t, s, heads, size, bias=False, **keywords):
    """Draw a layer and its inputs: (B, T, C) looking at (B, S, C), or at itself when s is None."""
    c = heads * size
    names = [f"{n}.weight" for n in ("query", "key", "value", "out")]
    weights = {n: d.normal(c, c, std=1.5 * c**-0.5) for n in names}
    if bias:
        weights |= {n.replace("weight", "bias"): d.normal(c) for n in names}
        order = [f"{n}.{k}" for n in ("query", "key", "value", "out") for k in ("weight", "bias")]
        weights = {k: weights[k] for k in order}
    inputs = [d.normal(b, t, c)] + ([] if s is None else [d.normal(b, s, c)])
    config = {"n_embd": c, "n_head": heads, "bias": bias}
    return built(config, weights, *inputs, **keywords)


def _self(d, **options):
    b, t, h, size = d.sizes(4, 2, 5)
    return _layer(d, b, t, None, h, size, **options)


def _cross(d):
    b, t, s, h, size = d.sizes(5, 2, 6)
    return _layer(d, b, t, s, h, size)


def _causal(d):
    t = d.sizes(1, 3, 6)[0]
    return _layer(d, 2, t, None, 3, 4, mask=torch.ones(t, t, dtype=torch.bool).tril())


def _batch_mask(d):
    """As many sentences as heads: a mask that lands on the head axis does not fail, it misleads."""
    t, s = d.sizes(2, 4, 7)
    return _layer(d, 3, t, s, 3, 2, mask=d.mask(3, t, s))


def _blind_query(d):
    mask = d.mask(4, 5)
    mask[1] = False
    return _layer(d, 2, 4, 5, 3, 2, bias=True, mask=mask)


def _again(d):
    config, weights, *first = _layer(d, 3, 4, 5, 3, 2, mask=d.mask(3, 4, 5))
    return config, weights, tuple(first), ((d.normal(2, 6, 6),), {})


QUESTION = Exercise(
    MultiHeadAttention,
    parts={"self-attention": 11, "cross-attention": 7, "mask": 8, GRADIENT: 6, ARGUMENTS: 3},
    cases=[
        Case("self-attention", "tokens that look at each other", _self, module),
        Case("self-attention", "one head", lambda d: _layer(d, 2, 4, None, 1, 6), module),
        Case("self-attention", "one token", lambda d: _layer(d, 3, 1, None, 2, 4), module),
        Case("self-attention", "one sentence", lambda d: _layer(d, 1, 5, None, 3, 2), module),
        Case("self-attention", "with biases", lambda d: _self(d, bias=True), module),
        Case("self-attention", "the layer used before", _again, module_used_before),
        Case("cross-attention", "T tokens look at S others", _cross, module),
        Case(
            "cross-attention", "a context as long as x", lambda d: _layer(d, 2, 4, 4, 3, 2), module
        ),
        Case("mask", "a causal mask", _causal, module),
        Case("mask", "a mask for each sentence", _batch_mask, module),
        Case("mask", "a token that may look at nothing", _blind_query, module),
    ],
    slips=[
        Slip(
            "scaled by the model width",
            MultiHeadAttention.forward,
            "scaled_dot_product_attention(q, k, v, mask)",
            "scaled_dot_product_attention(q * self.n_head**-0.5, k, v, mask)",
            "The scores are divided by sqrt(C), the width of the model. A head's keys have only "
            "D = C / H columns: divide by sqrt(D).",
        ),
        Slip(
            "not scaled",
            MultiHeadAttention.forward,
            "scaled_dot_product_attention(q, k, v, mask)",
            "scaled_dot_product_attention(q * q.size(-1) ** 0.5, k, v, mask)",
            "The scores are not divided by sqrt(D).",
        ),
        Slip(
            "no output projection",
            MultiHeadAttention.forward,
            "self.out(merge_heads(heads))",
            "merge_heads(heads)",
            "The merged heads are returned as they are. `self.out` is missing: without it no "
            "output column can combine what two heads found.",
        ),
        Slip(
            "one head for all",
            MultiHeadAttention.forward,
            "q = split_heads(self.query(x), self.n_head)  # (B, H, T, D)\n"
            "        k = split_heads(self.key(context), self.n_head)  # (B, H, S, D)\n"
            "        v = split_heads(self.value(context), self.n_head)",
            "q = split_heads(self.query(x), 1)\n"
            "        k = split_heads(self.key(context), 1)\n"
            "        v = split_heads(self.value(context), 1)",
            "All columns are matched together: this is a single head of width C.",
        ),
        Slip(
            "first head's weights for all",
            MultiHeadAttention.forward,
            "scaled_dot_product_attention(q, k, v, mask)",
            "scaled_dot_product_attention(q[:, :1], k[:, :1], v, mask)",
            "Every head uses the weights of the first one: each must match its own queries and "
            "keys.",
        ),
        Slip(
            "keys and values exchanged",
            MultiHeadAttention.forward,
            "scaled_dot_product_attention(q, k, v, mask)",
            "scaled_dot_product_attention(q, v, k, mask)",
            "Keys and values are exchanged: queries are matched with keys, values are averaged.",
        ),
        Slip(
            "queries and keys exchanged",
            MultiHeadAttention.forward,
            "q = split_heads(self.query(x), self.n_head)  # (B, H, T, D)\n"
            "        k = split_heads(self.key(context), self.n_head)",
            "q = split_heads(self.key(x), self.n_head)\n"
            "        k = split_heads(self.query(context), self.n_head)",
            "`self.query` and `self.key` are exchanged: x asks, so the queries are self.query(x).",
        ),
        Slip(
            "context not used",
            MultiHeadAttention.forward,
            "x if context is None else context",
            "x",
            "`context` is never looked at: keys and values come from it when it is given.",
        ),
        Slip(
            "values from x",
            MultiHeadAttention.forward,
            "self.value(context)",
            "self.value(x)",
            "The values are made from x. What is handed over must come from the tokens that were "
            "looked at: self.value(context).",
        ),
        Slip(
            "keys from x",
            MultiHeadAttention.forward,
            "self.key(context)",
            "self.key(x)",
            "The keys are made from x: with a context, its tokens are the ones to match.",
        ),
        Slip(
            "values not projected",
            MultiHeadAttention.forward,
            "self.value(context)",
            "context",
            "The values are the tokens themselves: `self.value` is not used.",
        ),
        Slip(
            "mask not used",
            MultiHeadAttention.forward,
            "scaled_dot_product_attention(q, k, v, mask)",
            "scaled_dot_product_attention(q, k, v)",
            "The mask is not passed on: every token still sees everything.",
        ),
        Slip(
            "mask inverted",
            MultiHeadAttention.forward,
            "mask.unsqueeze(-3)",
            "~mask.unsqueeze(-3)",
            "The mask is the wrong way round: True means that looking is allowed.",
        ),
        Slip(
            "mask on the head axis",
            MultiHeadAttention.forward,
            "mask = mask.unsqueeze(-3)",
            "mask = mask",
            "A mask (B, T, S) meets scores (B, H, T, S) without an axis for the heads: with B "
            "equal to H it silently masks head b instead of sentence b. Insert the axis: "
            "unsqueeze(-3).",
        ),
        Slip(
            "input added",
            MultiHeadAttention.forward,
            "return self.out(merge_heads(heads))",
            "return x + self.out(merge_heads(heads))",
            "The input is added to the result. That is the residual connection, which the block "
            "adds later (lesson `residual`), not this layer.",
        ),
        Slip(
            "merged by reshape",
            MultiHeadAttention.forward,
            "merge_heads(heads)",
            "heads.reshape(x.shape)",
            "The heads are joined by a reshape, which mixes the tokens: use `merge_heads`.",
        ),
        Slip(
            "split by reshape",
            MultiHeadAttention.forward,
            "q = split_heads(self.query(x), self.n_head)  # (B, H, T, D)\n"
            "        k = split_heads(self.key(context), self.n_head)  # (B, H, S, D)\n"
            "        v = split_heads(self.value(context), self.n_head)",
            "q = self.query(x).reshape(x.size(0), self.n_head, x.size(1), -1)\n"
            "        k = self.key(context).reshape(x.size(0), self.n_head, context.size(1), -1)\n"
            "        v = self.value(context).reshape(x.size(0), self.n_head, context.size(1), -1)",
            "The heads are cut by a reshape to (B, H, T, D), which mixes the tokens: use "
            "`split_heads`.",
        ),
        Slip(
            "no gradient to the scores",
            MultiHeadAttention.forward,
            "scaled_dot_product_attention(q, k, v, mask)",
            "scaled_dot_product_attention(q.detach(), k, v, mask)",
            "The result is right but no gradient reaches the queries: is there a detach() or "
            ".data?",
        ),
    ],
)
