"""LayerNorm: the cases it is tried in, and the slips that are known."""

from autograder.checks.draw import built
from autograder.checks.question import GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.layer_norm.shared import SMALL, called_twice, two_batches
from autograder.seam.probe import module
from solutions.layer_norm import LayerNorm


def _fresh(own, name, config, x):
    """Build a layer, look at what it starts with, and run it before anything is learned."""
    layer = getattr(own, name)(**config)
    names = {n: p.requires_grad for n, p in layer.named_parameters()}
    start = {n: p.detach() for n, p in layer.named_parameters()}
    bias = layer.bias is not None
    return {"learned": names, "start": start, "has a bias": bias, "result": layer(x)}


def _layer(d, *leading, std=1.5, bias=True, **config):
    c = d.sizes(1, 4, 7)[0]
    weights = {"gain": d.normal(c)} | ({"bias": d.normal(c)} if bias else {})
    config = {"n_embd": c, **config} | ({} if bias else {"bias": False})
    return built(config, weights, d.normal(*leading, c, std=std))


def _starting(d, **config):
    c = d.sizes(1, 4, 7)[0]
    return {"n_embd": c, **config}, d.normal(2, 3, c)


QUESTION = Exercise(
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
        Case("no memory", "a second batch", two_batches, called_twice),
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
