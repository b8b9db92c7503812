"""TransformerBlock: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.draw import built
from autograder.checks.question import ARGUMENTS, GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from autograder.seam.probe import module
from solutions.layer_norm import TransformerBlock

NAMES = ("query", "key", "value", "out")


def _block(d, b, t, heads, size, norm, std=1.5, mask=None, bias=True, **config):
    """Draw a block with every weight its own, norms included, and tokens (B, T, C)."""
    c, hidden = heads * size, heads * size + 3
    weights = {f"attention.{n}.weight": d.normal(c, c, std=1.2 * c**-0.5) for n in NAMES}
    if bias:
        weights |= {f"attention.{n}.bias": d.normal(c, std=0.5) for n in NAMES}
    for name in ("attention_norm", "feed_forward_norm"):
        weights |= {f"{name}.gain": d.normal(c, std=1.0), f"{name}.bias": d.normal(c, std=0.5)}
    for name, (rows, columns) in {"up": (hidden, c), "down": (c, hidden)}.items():
        weights[f"feed_forward.{name}.weight"] = d.normal(rows, columns, std=1.2 * columns**-0.5)
        weights[f"feed_forward.{name}.bias"] = d.normal(rows, std=0.5)
    config = {"n_embd": c, "n_head": heads, "norm": norm, "n_hidden": hidden, "bias": bias} | config
    keywords = {} if mask is None else {"mask": mask}
    return built(config, weights, d.normal(b, t, c, std=std), **keywords)


def _free(norm, **options):
    def draw(d):
        b, t, heads, size = d.sizes(4, 2, 5)
        return _block(d, b, t, heads, size, norm, **options)

    return draw


def _causal(norm):
    def draw(d):
        t = d.sizes(1, 3, 6)[0]
        mask = torch.ones(t, t, dtype=torch.bool).tril()
        return _block(d, 2, t, 3, 2, norm, mask=mask)

    return draw


def _batch_mask(norm):
    return lambda d: _block(d, 3, 4, 2, 3, norm, mask=d.mask(3, 4, 4))


def _dropped(own, name, config, weights, x):
    """Train with a dropout of 1: both branches fall silent, and what is left is the skips."""
    block = getattr(own, name)(**config, dropout=1.0)
    block.load_state_dict(weights)
    block.train()
    return {"result": block(x)}


def _half_dropped(own, name, config, weights, x):
    """Drop half, the feed-forward layer silent: by what are the attention's numbers multiplied?"""
    import torch

    block = getattr(own, name)(**config, dropout=0.5)
    block.load_state_dict({n: 0 * w if "down" in n else w for n, w in weights.items()})
    torch.manual_seed(0)
    with torch.no_grad():
        branch = block.eval()(x) - x
        factors = ((block.train()(x) - x) / branch).nan_to_num(99.0, 99.0, 99.0)
    return {"factors": sorted(set(factors.round(decimals=1).flatten().abs().tolist()))}


def _masked_before(own, name, config, weights, x, mask):
    """Call with a mask, then without: nothing of it may remain."""
    block = getattr(own, name)(**config)
    block.load_state_dict(weights)
    block.eval()
    block(x, mask)
    return {"result": block(x)}


def _unmasked(d):
    config, weights, (x,), keywords = _causal("pre")(d)
    return config, weights, x, keywords["mask"]


def _silent(norm):
    def draw(d):
        config, weights, positional, _ = _block(d, 2, 3, 2, 4, norm)
        return config, weights, *positional

    return draw


PRE = (
    "x = x + self.dropout(self.attention(self.attention_norm(x), mask=mask))\n"
    "            return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))"
)


POST = (
    "x = self.attention_norm(x + self.dropout(self.attention(x, mask=mask)))\n"
    "        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))"
)


BOTH = f"{PRE}\n        {POST}"


QUESTION = Exercise(
    TransformerBlock,
    parts={"pre-norm": 7, "post-norm": 8, "mask": 5, GRADIENT: 2, "dropout": 2, ARGUMENTS: 1},
    cases=[
        Case("pre-norm", "a batch of sentences", _free("pre"), module),
        Case("pre-norm", "one token", lambda d: _block(d, 2, 1, 3, 2, "pre"), module),
        Case("pre-norm", "one sentence", lambda d: _block(d, 1, 5, 2, 3, "pre"), module),
        Case("pre-norm", "attention without biases", _free("pre", bias=False), module),
        Case("post-norm", "a batch of sentences", _free("post"), module),
        Case("post-norm", "one token", lambda d: _block(d, 2, 1, 3, 2, "post"), module),
        Case("post-norm", "one sentence", lambda d: _block(d, 1, 5, 2, 3, "post"), module),
        Case("mask", "pre-norm, a causal mask", _causal("pre"), module),
        Case("mask", "post-norm, a causal mask", _causal("post"), module),
        Case("mask", "pre-norm, a mask for each sentence", _batch_mask("pre"), module),
        Case("mask", "post-norm, a mask for each sentence", _batch_mask("post"), module),
        Case("dropout", "pre-norm, all branches dropped", _silent("pre"), _dropped),
        Case("mask", "no mask, after a call with one", _unmasked, _masked_before),
        Case("dropout", "post-norm, all branches dropped", _silent("post"), _dropped),
        Case("dropout", "pre-norm, half dropped", _silent("pre"), _half_dropped),
        Case("dropout", "pre-norm, in evaluation", _free("pre", dropout=1.0), module),
        Case("dropout", "post-norm, in evaluation", _free("post", dropout=1.0), module),
    ],
    slips=[
        Slip(
            "x changed in place",
            TransformerBlock.forward,
            BOTH,
            BOTH.replace("x = x + self.dropout(", "x += self.dropout("),
            "`x += ...` writes into the caller's x, and into what the gradients need: make a new "
            "tensor, x = x + ...",
        ),
        Slip(
            "dropout never rests",
            TransformerBlock.forward,
            BOTH,
            BOTH.replace("self.dropout(", "nn.Dropout(self.dropout.p)("),
            "The dropout is still at work in evaluation, where the same text should come out the "
            "same every time: use `self.dropout`, which rests then.",
        ),
        Slip(
            "pre and post exchanged",
            TransformerBlock.forward,
            'self.norm == "pre"',
            'self.norm == "post"',
            'The two orders are exchanged: "pre" normalises what a branch reads, "post" the sum.',
        ),
        Slip(
            "always pre-norm",
            TransformerBlock.forward,
            'self.norm == "pre"',
            "True",
            'The block is pre-norm whatever was asked for: `self.norm` may be "post".',
        ),
        Slip(
            "always post-norm",
            TransformerBlock.forward,
            'self.norm == "pre"',
            "False",
            'The block is post-norm whatever was asked for: `self.norm` may be "pre".',
        ),
        Slip(
            "skip from the normalised input",
            TransformerBlock.forward,
            PRE,
            "x = self.attention_norm(x); x = x + self.dropout(self.attention(x, mask=mask))\n"
            "            x = self.feed_forward_norm(x); "
            "return x + self.dropout(self.feed_forward(x))",
            "In pre-norm the normalised x also takes the skip: the straight road must stay free, "
            "x + f(norm(x)).",
        ),
        Slip(
            "norm of the branch only",
            TransformerBlock.forward,
            POST,
            "x = x + self.attention_norm(self.dropout(self.attention(x, mask=mask)))\n"
            "        return x + self.feed_forward_norm(self.dropout(self.feed_forward(x)))",
            "In post-norm only the branch is normalised: the norm stands around the whole sum, "
            "norm(x + f(x)).",
        ),
        Slip(
            "first norm used twice",
            TransformerBlock.forward,
            BOTH,
            BOTH.replace("feed_forward_norm", "attention_norm"),
            "`attention_norm` serves both branches: the feed-forward branch has its own norm, with "
            "its own gain and bias.",
        ),
        Slip(
            "norms exchanged",
            TransformerBlock.forward,
            BOTH,
            BOTH.replace("attention_norm", "?")
            .replace("feed_forward_norm", "attention_norm")
            .replace("?", "feed_forward_norm"),
            "The two norms are exchanged: each branch has the one that bears its name.",
        ),
        Slip(
            "feed-forward first",
            TransformerBlock.forward,
            PRE,
            "x = x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))\n            "
            "return x + self.dropout(self.attention(self.attention_norm(x), mask=mask))",
            "In pre-norm the feed-forward layer comes before the attention: first the tokens talk, "
            "then each thinks.",
        ),
        Slip(
            "branches side by side",
            TransformerBlock.forward,
            PRE,
            PRE.replace("x = x +", "y = x +").replace("return x +", "return y +"),
            "In pre-norm both branches read the same x: the feed-forward layer reads what the "
            "attention has changed.",
        ),
        Slip(
            "no skip around the attention",
            TransformerBlock.forward,
            PRE,
            PRE.replace("x = x +", "x ="),
            "In pre-norm the attention replaces x instead of adding to it: x + f(norm(x)).",
        ),
        Slip(
            "no skip around the feed-forward layer",
            TransformerBlock.forward,
            PRE,
            PRE.replace("return x +", "return"),
            "In pre-norm the feed-forward layer replaces x: it should add to it, x + f(norm(x)).",
        ),
        Slip(
            "post-norm without skips",
            TransformerBlock.forward,
            POST,
            POST.replace("x + ", ""),
            "In post-norm the branches replace x: norm(x + f(x)), not norm(f(x)).",
        ),
        Slip(
            "also normalised at the end",
            TransformerBlock.forward,
            "return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))",
            "return self.feed_forward_norm("
            "x + self.dropout(self.feed_forward(self.feed_forward_norm(x))))",
            "In pre-norm the block's result is normalised as well. The last norm belongs after the "
            "last block, once for the whole tower.",
        ),
        Slip(
            "mask not used",
            TransformerBlock.forward,
            BOTH,
            BOTH.replace(", mask=mask", ""),
            "The mask is not passed on: every token sees everything.",
        ),
        Slip(
            "mask inverted",
            TransformerBlock.forward,
            '"""\n        if self.norm == "pre":',
            '"""; mask = None if mask is None else ~mask\n        if self.norm == "pre":',
            "The mask is turned round: True means that looking is allowed.",
        ),
        Slip(
            "keys and values from the raw tokens",
            TransformerBlock.forward,
            "self.attention(self.attention_norm(x), mask=mask)",
            "self.attention(self.attention_norm(x), x, mask=mask)",
            "Only the queries are normalised: in pre-norm keys and values are made from the "
            "normalised tokens too.",
        ),
        Slip(
            "dropout missing",
            TransformerBlock.forward,
            BOTH,
            "x = x + self.attention(self.attention_norm(x), mask=mask)\n"
            "            return x + self.feed_forward(self.feed_forward_norm(x))\n"
            "        x = self.attention_norm(x + self.attention(x, mask=mask))\n"
            "        return self.feed_forward_norm(x + self.feed_forward(x))",
            "`self.dropout` is not used: it belongs on the result of each branch, before the sum.",
        ),
        Slip(
            "dropout on the skip",
            TransformerBlock.forward,
            BOTH,
            BOTH.replace("x + self.dropout(", "self.dropout(x + "),
            "Dropout falls on the sum, so it also cuts the skip: drop numbers of the branch only.",
        ),
    ],
)
