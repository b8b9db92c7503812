"""layer_norm: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.draw import args
from autograder.checks.question import ARGUMENTS, GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.layer_norm.shared import SMALL
from solutions.layer_norm import layer_norm


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


QUESTION = Exercise(
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
