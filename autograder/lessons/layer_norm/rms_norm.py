"""RMSNorm: the cases it is tried in, and the slips that are known."""

from autograder.checks.draw import built
from autograder.checks.question import ARGUMENTS, GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.layer_norm.shared import SMALL, called_twice, two_batches
from autograder.seam.probe import module
from solutions.layer_norm import RMSNorm


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
    config, weights, _, second = two_batches(d, bias=False)
    return config, weights, d.normal(*second.shape, std=5.0), second


def _rms_zeros(d):
    x = d.normal(2, 3, 4)
    x[1, 2] = 0
    return {"n_embd": 4}, {"gain": d.normal(4)}, x


QUESTION = Exercise(
    RMSNorm,
    parts={"values": 5, "small numbers": 3, GRADIENT: 1, ARGUMENTS: 1},
    cases=[
        Case("values", "a batch of sentences", lambda d: _rms(d, 2, 3), module),
        Case("values", "a second batch", _rms_two_batches, called_twice),
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
