"""multi_head: splitting into heads, merging them, the whole layer."""

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
from solutions.multi_head import MultiHeadAttention, merge_heads, split_heads


def _split(*leading, heads=None, dtype=torch.float32):
    def draw(d):
        h, t, size = d.sizes(3)
        h = heads or h
        return args(d.normal(*leading, t, h * size, dtype=dtype), h)

    return draw


SPLIT = Exercise(
    split_heads,
    parts={"values": 10, "any leading axes": 5},
    cases=[
        Case("values", "a batch of tokens", _split(3)),
        Case("values", "one head", _split(2, heads=1)),
        Case("values", "one column a head", lambda d: args(d.normal(2, 3, 5), 5)),
        Case("values", "one token", lambda d: args(d.normal(2, 1, 12), 3)),
        Case("values", "a transposed tensor", lambda d: args(d.normal(2, 12, 5).mT, 3)),
        Case("values", "whole numbers", lambda d: args(torch.arange(48).reshape(2, 3, 8), 4)),
        Case("any leading axes", "no batch", _split()),
        Case("any leading axes", "two leading axes", _split(2, 3)),
    ],
    slips=[
        Slip(
            "reshaped without a transpose",
            split_heads,
            "x.unflatten(-1, (n_head, x.size(-1) // n_head)).transpose(-3, -2)",
            "x.reshape(*x.shape[:-2], n_head, x.size(-2), x.size(-1) // n_head)",
            "The shape is right but the numbers are dealt out in reading order: a head gets pieces "
            "of several tokens. Cut the last axis into (H, D) first, then exchange T and H.",
        ),
        Slip(
            "heads left behind the tokens",
            split_heads,
            ".transpose(-3, -2)",
            "",
            "The heads still stand behind the tokens, (..., T, H, D): exchange the two axes.",
        ),
        Slip(
            "every H-th column",
            split_heads,
            "x.unflatten(-1, (n_head, x.size(-1) // n_head)).transpose(-3, -2)",
            "x.unflatten(-1, (x.size(-1) // n_head, n_head)).movedim(-1, -3)",
            "Head h takes every H-th column; it should take D columns that lie side by side.",
        ),
        Slip(
            "H and D exchanged",
            split_heads,
            "(n_head, x.size(-1) // n_head)",
            "(x.size(-1) // n_head, n_head)",
            "H and D are exchanged: there are n_head heads of C // n_head columns each.",
        ),
        Slip(
            "the same columns for every head",
            split_heads,
            "x.unflatten(-1, (n_head, x.size(-1) // n_head)).transpose(-3, -2)",
            "x[..., : x.size(-1) // n_head].unsqueeze(-3).repeat_interleave(n_head, -3)",
            "Every head gets the first D columns; head h takes its own, from h * D on.",
        ),
        Slip(
            "tokens behind the columns",
            split_heads,
            ".transpose(-3, -2)",
            ".movedim(-3, -1)",
            "The tokens ended up last: (..., H, D, T). Only T and H change places.",
        ),
        Slip(
            "heads in reverse",
            split_heads,
            ".transpose(-3, -2)",
            ".transpose(-3, -2).flip(-3)",
            "The heads come in reverse order: head 0 gets the first D columns.",
        ),
    ],
    equivalent={
        "split_heads: x.size(-1) -> -1": "-1 // n_head is -1, and unflatten works that size out",
    },
)


def _merge(*leading):
    def draw(d):
        return args(d.normal(*leading, *d.sizes(3)))

    return draw


MERGE = Exercise(
    merge_heads,
    parts={"values": 8, "any leading axes": 4, "any memory layout": 3},
    cases=[
        Case("values", "a batch of heads", _merge(3)),
        Case("values", "as many heads as tokens", lambda d: args(d.normal(2, 3, 3, 4))),
        Case("values", "one head", lambda d: args(d.normal(2, 1, 4, 3))),
        Case("values", "one token", lambda d: args(d.normal(2, 3, 1, 4))),
        Case("values", "whole numbers", lambda d: args(torch.arange(24).reshape(2, 3, 2, 2))),
        Case("any leading axes", "no batch", _merge()),
        Case("any leading axes", "two leading axes", _merge(2, 3)),
        Case(
            "any memory layout",
            "heads that were split",
            lambda d: args(d.normal(2, 4, 3, 5).transpose(1, 2)),
        ),
        Case(
            "any memory layout",
            "a permuted tensor",
            lambda d: args(d.normal(5, 2, 4, 3).movedim(0, -1)),
        ),
    ],
    slips=[
        Slip(
            "merged without a transpose",
            merge_heads,
            "x.transpose(-3, -2).flatten(-2)",
            "x.reshape(*x.shape[:-3], x.size(-2), x.size(-3) * x.size(-1))",
            "The shape is right but the tokens are mixed: bring the heads behind the tokens before "
            "you join the last two axes.",
        ),
        Slip(
            "heads interleaved",
            merge_heads,
            "x.transpose(-3, -2).flatten(-2)",
            "x.movedim(-3, -1).flatten(-2)",
            "The columns of the heads alternate; those of one head must stay side by side.",
        ),
        Slip(
            "heads averaged",
            merge_heads,
            "x.transpose(-3, -2).flatten(-2)",
            "x.mean(-3)",
            "The heads are averaged, and what each of them found is lost: set them side by side.",
        ),
        Slip(
            "heads added",
            merge_heads,
            "x.transpose(-3, -2).flatten(-2)",
            "x.sum(-3)",
            "The heads are added up, and what each of them found is lost: set them side by side.",
        ),
        Slip(
            "tokens flattened into the heads",
            merge_heads,
            "x.transpose(-3, -2).flatten(-2)",
            "x.flatten(-3, -2)",
            "Heads and tokens are joined into one axis; join heads and columns: (..., T, H * D).",
        ),
        Slip(
            "heads in reverse",
            merge_heads,
            "x.transpose(-3, -2)",
            "x.flip(-3).transpose(-3, -2)",
            "The heads are joined in reverse order: head 0's columns come first.",
        ),
        Slip(
            "not joined",
            merge_heads,
            ".flatten(-2)",
            "",
            "The axes are in the right order, (..., T, H, D), but the last two are not joined yet.",
        ),
    ],
)


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


LAYER = Exercise(
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


def puzzle() -> Puzzle:
    """How strongly each token acts on each output, where the heads were cut by a reshape."""
    slip = next(s for s in LAYER.slips if s.name == "split by reshape")
    draw = Draw("puzzle")
    layer = patched(slip)["MultiHeadAttention"](n_embd=12, n_head=3)
    layer.load_state_dict({k: draw.normal(12, 12, std=0.3) for k in layer.state_dict()})
    x = draw.normal(1, 6, 12)
    mask = torch.ones(6, 6, dtype=torch.bool).tril()

    def influence(t):
        leaf = x.clone().requires_grad_()
        layer(leaf, mask=mask)[0, t].norm().backward()
        return leaf.grad[0].norm(dim=-1)

    table = torch.stack([influence(t) for t in range(6)])
    title = "how strongly input s acts on output t (causal mask given)"
    return Puzzle(table, title, "output t", "input s")


WHICH_LINE = Choice(
    "which_line",
    points=10,
    right="b",
    answers={
        "a": "If the mask were not passed on, every input would act on every output: no cell would "
        "be empty. Here some are.",
        "b": "Cut by a reshape, head 0 holds the first T * D numbers in reading order, that is "
        "pieces of tokens 0 and 1 only. With T = 6 and three heads, row 0 of the three heads "
        "belongs to tokens 0, 2 and 4: exactly the inputs that act on output 0.",
        "c": "The output projection works on each token by itself. Without it the numbers would "
        "change, but no output would depend on a later input.",
        "d": "With the mask the wrong way round, output t would depend on the inputs after t: the "
        "filled cells would lie above the diagonal.",
    },
)


def _one_head_or_two(own, seed):
    """Train the small lookup models with the layer under test."""
    from solutions.studies.lookup_model import compare_heads

    right = compare_heads(own.MultiHeadAttention, seed)
    return {"one": right["one head"]["both"], "two": right["two heads"]["both"]}


def _what_heads_buy(measured: dict) -> str:
    gain = measured["two"] - measured["one"]
    if abs(gain) > 0.2:
        return "b" if gain > 0 else "c"
    return "a" if measured["one"] > 0.5 else "d"


WHAT_HEADS_BUY = Conclusion(
    "what_heads_buy",
    points=15,
    probe=_one_head_or_two,
    inputs=(0,),
    decide=_what_heads_buy,
    measures=[MultiHeadAttention],
    answers={
        letter: "With {whose} layer, one head had both answers right in {one:.0%} of the scenes, "
        "two heads in {two:.0%}."
        for letter in "abcd"
    },
)

QUESTIONS = [SPLIT, MERGE, LAYER, WHICH_LINE, WHAT_HEADS_BUY]
