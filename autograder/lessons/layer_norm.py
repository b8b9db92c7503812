"""layer_norm: the formula, the layer, RMSNorm, the complete block."""

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
from autograder.probe import module
from autograder.puzzle import Puzzle
from autograder.slips import Slip, patched
from solutions.layer_norm import LayerNorm, RMSNorm, TransformerBlock, layer_norm

SMALL = 3e-3  # a standard deviation whose square is about eps: where eps stands shows


def _norm(*leading, std=1.5, gain=True, bias=True, dtype=torch.float32, eps=None):
    def draw(d):
        c = d.sizes(1, 4, 7)[0]
        parts = [d.normal(c, dtype=dtype) if given else None for given in (gain, bias)]
        keywords = {} if eps is None else {"eps": eps}
        return args(d.normal(*leading, c, std=std, dtype=dtype), *parts, **keywords)

    return draw


def _far_from_zero(d):
    """In float64, where any sound order of operations keeps enough digits."""
    x = d.normal(3, 6, dtype=torch.float64) + 1e6
    return args(x, d.normal(6, dtype=torch.float64), d.normal(6, dtype=torch.float64))


def _one_flat_token(d):
    x = d.normal(3, 4)
    x[1] = 2.0
    return *args(x, d.normal(4), d.normal(4)), False  # the values; no gradient is asked for


def _one_feature(d):
    return *args(d.normal(3, 1), d.normal(1), d.normal(1)), False


STATISTICS = (
    "mean = x.mean(-1, keepdim=True)  # (..., 1)\n"
    "    variance = (x - mean).square().mean(-1, keepdim=True)"
)

NORM = Exercise(
    layer_norm,
    parts={
        "values": 6,
        "gain and bias": 4,
        "small and large numbers": 5,
        GRADIENT: 3,
        ARGUMENTS: 2,
    },
    cases=[
        Case("values", "a batch of sentences", _norm(2, 3, gain=False, bias=False)),
        Case("values", "one token", _norm(gain=False, bias=False)),
        Case("values", "a table of tokens", _norm(3, gain=False, bias=False)),
        Case("values", "a batch of one token", _norm(1, 1, gain=False, bias=False)),
        Case("values", "four axes", _norm(2, 3, 2, gain=False, bias=False)),
        Case("values", "float64", _norm(2, 3, dtype=torch.float64)),
        Case("values", "a transposed tensor", lambda d: args(d.normal(2, 6, 4).mT)),
        Case("gain and bias", "a gain and a bias", _norm(2, 3)),
        Case("gain and bias", "a gain only", _norm(2, 3, bias=False)),
        Case("gain and bias", "a bias only", _norm(2, 3, gain=False)),
        Case("small and large numbers", "a small variance", _norm(2, 3, std=SMALL)),
        Case("small and large numbers", "another eps", _norm(3, std=0.3, eps=0.1)),
        Case("small and large numbers", "an eps of zero", _norm(3, std=SMALL, eps=0.0)),
        Case("small and large numbers", "tokens far from zero", _far_from_zero),
        Case("small and large numbers", "a token of equal numbers", _one_flat_token),
        Case("small and large numbers", "one feature", _one_feature),
    ],
    slips=[
        Slip(
            "unbiased variance",
            layer_norm,
            "variance = (x - mean).square().mean(-1, keepdim=True)",
            "variance = (x - mean).square().sum(-1, keepdim=True) / (x.size(-1) - 1)",
            "The variance divides by C - 1 (the default of `Tensor.var` and `Tensor.std`); here it "
            "divides by C: pass correction=0.",
        ),
        Slip(
            "epsilon outside the root",
            layer_norm,
            "torch.sqrt(variance + eps)",
            "(torch.sqrt(variance) + eps)",
            "eps is added to the standard deviation; add it to the variance, under the root. It "
            "shows where the variance is small.",
        ),
        Slip(
            "epsilon missing",
            layer_norm,
            "torch.sqrt(variance + eps)",
            "torch.sqrt(variance)",
            "eps is not used: a token of equal numbers becomes 0 / 0.",
        ),
        Slip(
            "epsilon fixed",
            layer_norm,
            "torch.sqrt(variance + eps)",
            "torch.sqrt(variance + 1e-5)",
            "eps is an argument, but 1e-5 is written into the formula.",
        ),
        Slip(
            "normalised over the tokens",
            layer_norm,
            STATISTICS,
            STATISTICS.replace("(-1,", "(max(-2, -x.ndim),"),
            "Mean and variance run over the tokens of a sentence (axis -2), for each feature. A "
            "token is normalised by its own C numbers: axis -1.",
        ),
        Slip(
            "normalised over the batch",
            layer_norm,
            STATISTICS,
            STATISTICS.replace("(-1,", "(0,"),
            "Mean and variance run over the batch (axis 0): that is batch normalisation, and one "
            "sentence changes another. Use axis -1.",
        ),
        Slip(
            "normalised over batch and tokens",
            layer_norm,
            STATISTICS,
            "mean = x.flatten(0, -2).mean(0) if x.ndim > 1 else x\n"
            "    variance = (x - mean).square().flatten(0, -2).mean(0) if x.ndim > 1 else 0 * x",
            "Every feature is normalised over all tokens of the batch: that is batch "
            "normalisation. Mean and variance belong to one token: axis -1.",
        ),
        Slip(
            "normalised over all but the batch",
            layer_norm,
            STATISTICS,
            STATISTICS.replace("(-1,", "(tuple(range(min(1, x.ndim - 1), x.ndim)),"),
            "All tokens of a sentence share one mean and one variance, so padding would change "
            "them. Each token has its own: axis -1 only.",
        ),
        Slip(
            "normalised over everything",
            layer_norm,
            STATISTICS,
            STATISTICS.replace("-1, keepdim=True", ""),
            "One mean and one variance for the whole tensor: give `dim=-1, keepdim=True`.",
        ),
        Slip(
            "mean not subtracted",
            layer_norm,
            "y = (x - mean) /",
            "y = x /",
            "The mean is not subtracted from the result.",
        ),
        Slip(
            "divided by the variance",
            layer_norm,
            "torch.sqrt(variance + eps)",
            "(variance + eps)",
            "The result is divided by the variance; divide by its root.",
        ),
        Slip(
            "divided by the root mean square",
            layer_norm,
            "(x - mean).square().mean(-1, keepdim=True)",
            "x.square().mean(-1, keepdim=True)",
            "The squares are those of x: take them of x - mean.",
        ),
        Slip(
            "mean of squares minus squared mean",
            layer_norm,
            "(x - mean).square().mean(-1, keepdim=True)",
            "x.square().mean(-1, keepdim=True) - mean.square()",
            "The variance is taken as a difference of two large numbers: for tokens far from zero "
            "their digits cancel. Subtract the mean before squaring.",
        ),
        Slip(
            "gain missing",
            layer_norm,
            "y = y * gain",
            "y = y",
            "The gain is not used.",
        ),
        Slip(
            "bias missing",
            layer_norm,
            "y = y + bias",
            "y = y",
            "The bias is not used.",
        ),
        Slip(
            "bias before the gain",
            layer_norm,
            "    if gain is not None:\n"
            "        y = y * gain\n"
            "    if bias is not None:\n"
            "        y = y + bias",
            "    if bias is not None:\n"
            "        y = y + bias\n"
            "    if gain is not None:\n"
            "        y = y * gain",
            "The bias is added before the gain, so the gain stretches it too: first times gain, "
            "then plus bias.",
        ),
        Slip(
            "no gradient through mean and variance",
            layer_norm,
            "y = (x - mean) / torch.sqrt(variance + eps)",
            "y = (x - mean.detach()) / torch.sqrt(variance.detach() + eps)",
            "The values are right, but mean and variance are detached: they depend on x, and the "
            "gradient must know.",
        ),
        Slip(
            "written into x",
            layer_norm,
            "y = (x - mean) / torch.sqrt(variance + eps)",
            "y = x.sub_(mean).div_(torch.sqrt(variance + eps))",
            "The caller's x is changed: an operation ending in `_` writes into it.",
        ),
    ],
    equivalent={
        "layer_norm: x - mean -> mean - x": "in the variance the sign is lost when it is squared",
    },
)


def _fresh(own, name, config, x):
    """Build a layer, look at what it starts with, and run it before anything is learned."""
    layer = getattr(own, name)(**config)
    names = {n: p.requires_grad for n, p in layer.named_parameters()}
    start = {n: p.detach() for n, p in layer.named_parameters()}
    bias = layer.bias is not None
    return {"learned": names, "start": start, "has a bias": bias, "result": layer(x)}


def _twice(own, name, config, weights, first, second):
    """Train on one batch, then evaluate on another: nothing of the first may remain."""
    layer = getattr(own, name)(**config)
    layer.load_state_dict(weights)
    layer.train()
    trained = layer(first)
    layer.eval()
    return {"trained": trained, "evaluated": layer(second)}


def _layer(d, *leading, std=1.5, bias=True, **config):
    c = d.sizes(1, 4, 7)[0]
    weights = {"gain": d.normal(c)} | ({"bias": d.normal(c)} if bias else {})
    config = {"n_embd": c, **config} | ({} if bias else {"bias": False})
    return built(config, weights, d.normal(*leading, c, std=std))


def _starting(d, **config):
    c = d.sizes(1, 4, 7)[0]
    return {"n_embd": c, **config}, d.normal(2, 3, c)


def _two_batches(d, bias=True):
    c = d.sizes(1, 4, 7)[0]
    weights = {"gain": d.normal(c)} | ({"bias": d.normal(c)} if bias else {})
    return {"n_embd": c}, weights, d.normal(4, 3, c, std=5.0), d.normal(2, 5, c)


LAYER = Exercise(
    LayerNorm,
    parts={"start": 5, "values": 6, GRADIENT: 2, "no memory": 2},
    cases=[
        Case("start", "a new layer", _starting, _fresh),
        Case("start", "a new layer without bias", lambda d: _starting(d, bias=False), _fresh),
        Case("values", "a batch of sentences", lambda d: _layer(d, 2, 3), module),
        Case("values", "without bias", lambda d: _layer(d, 2, 3, bias=False), module),
        Case("values", "one token", lambda d: _layer(d), module),
        Case("values", "a small variance", lambda d: _layer(d, 3, std=SMALL), module),
        Case("values", "another eps", lambda d: _layer(d, 3, std=0.3, eps=0.1), module),
        Case("no memory", "a second batch", _two_batches, _twice),
    ],
    slips=[
        Slip(
            "gain starts at zero",
            LayerNorm.__init__,
            "torch.ones(n_embd)",
            "torch.zeros(n_embd)",
            "The gain starts at zero, so nothing comes through and nothing is learned below: start "
            "with ones.",
        ),
        Slip(
            "bias starts at one",
            LayerNorm.__init__,
            "torch.zeros(n_embd)",
            "torch.ones(n_embd)",
            "The bias starts at one; a new layer should not shift anything: start with zeros.",
        ),
        Slip(
            "scalar gain and bias",
            LayerNorm.__init__,
            "self.gain = nn.Parameter(torch.ones(n_embd))\n"
            "        self.bias = nn.Parameter(torch.zeros(n_embd))",
            "self.gain = nn.Parameter(torch.ones(1))\n"
            "        self.bias = nn.Parameter(torch.zeros(1))",
            "Gain and bias are single numbers (as on one lecture's slide); every feature has its "
            "own: shape (C,).",
        ),
        Slip(
            "gain not learned",
            LayerNorm.__init__,
            "nn.Parameter(torch.ones(n_embd))",
            "nn.Parameter(torch.ones(n_embd), requires_grad=False)",
            "The gain takes no gradient (requires_grad=False), so it stays what it is: leave that "
            "out.",
        ),
        Slip(
            "always a bias",
            LayerNorm.__init__,
            "nn.Parameter(torch.zeros(n_embd)) if bias else None",
            "nn.Parameter(torch.zeros(n_embd))",
            "With bias=False the layer still has a bias.",
        ),
        Slip(
            "gain missing",
            LayerNorm.forward,
            "layer_norm(x, self.gain, self.bias, self.eps)",
            "layer_norm(x, None, self.bias, self.eps)",
            "The gain is not passed on, so it can never be learned.",
        ),
        Slip(
            "bias missing",
            LayerNorm.forward,
            "layer_norm(x, self.gain, self.bias, self.eps)",
            "layer_norm(x, self.gain, None, self.eps)",
            "The bias is not passed on, so it can never be learned.",
        ),
        Slip(
            "eps not passed on",
            LayerNorm.forward,
            "layer_norm(x, self.gain, self.bias, self.eps)",
            "layer_norm(x, self.gain, self.bias)",
            "The layer's eps is not passed on: the default is used whatever was asked for.",
        ),
        Slip(
            "running statistics",
            LayerNorm.forward,
            "return layer_norm(x, self.gain, self.bias, self.eps)",
            'old = getattr(self, "mean", 0.0); self.mean = 0.9 * old + 0.1 * x.detach().mean(); '
            "return layer_norm(x, self.gain, self.bias, self.eps) - self.mean",
            "The layer remembers a running mean of what it saw. That is batch normalisation's "
            "business: here every token is normalised by itself, in training and after.",
        ),
        Slip(
            "switched off in evaluation",
            LayerNorm.forward,
            "layer_norm(x, self.gain, self.bias, self.eps)",
            "layer_norm(x, self.gain, self.bias, self.eps) if self.training else x",
            "In evaluation the layer does nothing: it should do the same as in training.",
        ),
    ],
)


def _rms(d, *leading, std=1.5, **config):
    c = d.sizes(1, 4, 7)[0]
    return built({"n_embd": c, **config}, {"gain": d.normal(c)}, d.normal(*leading, c, std=std))


def _rms_shifted(d):
    c = d.sizes(1, 4, 7)[0]
    return built({"n_embd": c}, {"gain": d.normal(c)}, d.normal(3, c) + 4)


def _values(own, name, config, weights, x):
    """Build a layer, load its weights, run it; where a gradient need not exist."""
    layer = getattr(own, name)(**config)
    layer.load_state_dict(weights)
    return {"result": layer(x)}


def _rms_two_batches(d):
    config, weights, _, second = _two_batches(d, bias=False)
    return config, weights, d.normal(*second.shape, std=5.0), second


def _rms_zeros(d):
    x = d.normal(2, 3, 4)
    x[1, 2] = 0
    return {"n_embd": 4}, {"gain": d.normal(4)}, x


RMS = Exercise(
    RMSNorm,
    parts={"values": 5, "small numbers": 3, GRADIENT: 1, ARGUMENTS: 1},
    cases=[
        Case("values", "a batch of sentences", lambda d: _rms(d, 2, 3), module),
        Case("values", "a second batch", _rms_two_batches, _twice),
        Case("values", "one token", lambda d: _rms(d), module),
        Case("values", "four axes", lambda d: _rms(d, 2, 3, 2), module),
        Case("values", "tokens with a mean", _rms_shifted, module),
        Case("small numbers", "a small token", lambda d: _rms(d, 3, std=SMALL), module),
        Case("small numbers", "another eps", lambda d: _rms(d, 3, std=0.3, eps=0.1), module),
        Case("small numbers", "a token of zeros", _rms_zeros, _values),
    ],
    slips=[
        Slip(
            "x changed in place",
            RMSNorm.forward,
            "self.gain * x / torch.sqrt(x.square().mean(-1, keepdim=True) + self.eps)",
            "self.gain * x.div_(torch.sqrt(x.square().mean(-1, keepdim=True) + self.eps))",
            "The result is written into the caller's x: make a new tensor.",
        ),
        Slip(
            "mean subtracted",
            RMSNorm.forward,
            "self.gain * x / torch.sqrt(x.square()",
            "self.gain * (x - x.mean(-1, keepdim=True)) / torch.sqrt("
            "(x - x.mean(-1, keepdim=True)).square()",
            "The mean is subtracted: that is LayerNorm. RMSNorm divides only.",
        ),
        Slip(
            "divided by the standard deviation",
            RMSNorm.forward,
            "x.square().mean(-1, keepdim=True)",
            "x.var(-1, correction=0, keepdim=True)",
            "x is divided by its standard deviation, which leaves the mean out; the root mean "
            "square does not.",
        ),
        Slip(
            "epsilon outside the root",
            RMSNorm.forward,
            "torch.sqrt(x.square().mean(-1, keepdim=True) + self.eps)",
            "(torch.sqrt(x.square().mean(-1, keepdim=True)) + self.eps)",
            "eps is added to the root; add it under the root.",
        ),
        Slip(
            "divided by the length",
            RMSNorm.forward,
            "x.square().mean(-1, keepdim=True)",
            "x.square().sum(-1, keepdim=True)",
            "The squares are summed: that gives tokens of length 1. Their mean gives numbers of "
            "size 1.",
        ),
        Slip(
            "no root",
            RMSNorm.forward,
            "torch.sqrt(x.square().mean(-1, keepdim=True) + self.eps)",
            "(x.square().mean(-1, keepdim=True) + self.eps)",
            "x is divided by the mean square; divide by its root.",
        ),
        Slip(
            "gain missing",
            RMSNorm.forward,
            "self.gain * x /",
            "x /",
            "The gain is not used.",
        ),
        Slip(
            "normalised over the tokens",
            RMSNorm.forward,
            "x.square().mean(-1, keepdim=True)",
            "x.square().mean(max(-2, -x.ndim), keepdim=True)",
            "The mean runs over the tokens (axis -2); each token has its own: axis -1.",
        ),
        Slip(
            "normalised over everything",
            RMSNorm.forward,
            "x.square().mean(-1, keepdim=True)",
            "x.square().mean()",
            "One root mean square for the whole tensor; each token has its own: axis -1.",
        ),
        Slip(
            "eps not used",
            RMSNorm.forward,
            "+ self.eps",
            "+ 1e-5",
            "The layer's eps is not used: 1e-5 is written into the formula.",
        ),
    ],
)


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

BLOCK = Exercise(
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


def puzzle() -> Puzzle:
    """How strongly each token acts on each normalised token, where the norm ran over the batch."""
    slip = next(s for s in NORM.slips if s.name == "normalised over the batch")
    x = Draw("puzzle").normal(3, 3, 5)  # 3 sentences of 3 tokens
    slopes = torch.autograd.functional.jacobian(patched(slip)["layer_norm"], x)
    table = slopes.square().sum((2, 5)).sqrt().reshape(9, 9)
    title = "how strongly input token j acts on output token i\n(three sentences of three tokens)"
    return Puzzle(table, title, "output token i", "input token j")


WHICH_LINE = Choice(
    "which_line",
    points=10,
    right="b",
    answers={
        "a": "With `x.mean(-2)` the tokens of one sentence would mix: the filled cells would form "
        "squares of three by three on the diagonal. In the picture no token acts on its "
        "neighbour.",
        "b": "With `x.mean(0)` the first tokens of all sentences share their statistics, and so do "
        "the second and the third ones: token 0 acts on 0, 3 and 6. One reader's sentence changes "
        "another's.",
        "c": "With `x.mean()` every token would act on every other: no cell would be empty.",
        "d": "The unbiased variance changes the numbers a little, but still belongs to one token: "
        "only the diagonal would be filled.",
    },
)


def _up_the_tower(own, n_layer, seed):
    """Send tokens up an untrained tower of the blocks under test, in both orders."""
    from solutions.studies.block_tower import depth_profile

    profiles = {n: depth_profile(own.TransformerBlock, n, n_layer, seed) for n in ("pre", "post")}
    return {
        f"{norm}_{what}": profile[key][at]
        for norm, profile in profiles.items()
        for what, key, at in (
            ("end", "size", -1),
            ("first_change", "change", 0),
            ("last_change", "change", -1),
        )
    }


def _who_grows(measured: dict) -> str:
    grows = tuple(measured[f"{norm}_end"] > 1.8 for norm in ("pre", "post"))
    return {(False, False): "a", (True, False): "b", (False, True): "c", (True, True): "d"}[grows]


WHO_GROWS = Conclusion(
    "who_grows",
    points=10,
    probe=_up_the_tower,
    inputs=(12, 0),
    decide=_who_grows,
    measures=[TransformerBlock],
    answers={
        letter: "With {whose} block the numbers start at size 1 and leave the twelfth block at "
        "{pre_end:.2f} in pre-norm and at {post_end:.2f} in post-norm. The first pre-norm block "
        "moves its tokens by {pre_first_change:.2f} of their size, the last by "
        "{pre_last_change:.2f}."
        for letter in "abcd"
    },
)

QUESTIONS = [NORM, LAYER, RMS, BLOCK, WHICH_LINE, WHO_GROWS]
