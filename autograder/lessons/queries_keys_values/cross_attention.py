"""CrossAttention: the cases it is tried in, and the slips that are known."""

from autograder.checks.draw import built
from autograder.checks.question import GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from autograder.seam.probe import module, module_used_before
from solutions.queries_keys_values import CrossAttention


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


QUESTION = Exercise(
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
