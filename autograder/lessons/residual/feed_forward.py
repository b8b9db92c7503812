"""FeedForward: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.draw import built
from autograder.checks.question import GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from autograder.seam.probe import module
from solutions.residual import FeedForward


def _weights(d, c, hidden, dtype=torch.float32):
    return {
        "up.weight": d.normal(hidden, c, std=c**-0.5, dtype=dtype),
        "up.bias": d.normal(hidden, dtype=dtype),
        "down.weight": d.normal(c, hidden, std=hidden**-0.5, dtype=dtype),
        "down.bias": d.normal(c, dtype=dtype),
    }


def _layer(*leading, tokens=None, hidden=False):
    def draw(d):
        t, c, n_hidden = d.sizes(3)
        t = tokens or t
        config = {"n_embd": c, "n_hidden": n_hidden} if hidden else {"n_embd": c}
        x = d.normal(*leading, t, c)
        return built(config, _weights(d, c, n_hidden if hidden else 4 * c), x)

    return draw


def _tokens_as_columns(d):
    """As many tokens as columns: a network across the tokens does not fail, it misleads."""
    c = d.sizes(1, 3, 6)[0]
    return built({"n_embd": c}, _weights(d, c, 4 * c), d.normal(2, c, c))


def _no_token_axis(d):
    c = d.sizes(1)[0]
    return built({"n_embd": c}, _weights(d, c, 4 * c), d.normal(c))


def _bent_by(activation):
    def draw(d):
        t, c, hidden = d.sizes(3)
        return {"n_embd": c, "n_hidden": hidden}, _weights(d, c, hidden), d.normal(t, c), activation

    return draw


def _with_activation(own, name, config, weights, x, activation):
    """Build the layer with another activation than ReLU, and run it."""
    import torch

    from autograder.seam.probe import push

    layer = getattr(own, name)(**config, activation=getattr(torch, activation))
    layer.load_state_dict(weights)
    x = x.requires_grad_()
    result = layer(x)
    gradients = [None]
    if isinstance(result, torch.Tensor) and result.requires_grad:
        gradients = torch.autograd.grad(result, [x], push(result), allow_unused=True)
    return {"result": result, "gradients": list(gradients)}


FORWARD = "self.down(self.activation(self.up(x)))"


QUESTION = Exercise(
    FeedForward,
    parts={"values": 6, "hidden width": 3, "activation": 3, GRADIENT: 3},
    cases=[
        Case("values", "a batch of tokens", _layer(3), module),
        Case("values", "one token", _layer(2, tokens=1), module),
        Case("values", "as many tokens as columns", _tokens_as_columns, module),
        Case("values", "a single vector", _no_token_axis, module),
        Case("values", "two leading axes", _layer(2, 3), module),
        Case("hidden width", "n_hidden given", _layer(2, hidden=True), module),
        Case("activation", "tanh", _bent_by("tanh"), _with_activation),
        Case("activation", "sine", _bent_by("sin"), _with_activation),
    ],
    slips=[
        Slip(
            "activation at the end",
            FeedForward.forward,
            FORWARD,
            "self.activation(self.down(self.up(x)))",
            "The activation comes after the second linear layer. It belongs between the two: two "
            "linear layers in a row are one linear layer.",
        ),
        Slip(
            "no activation",
            FeedForward.forward,
            FORWARD,
            "self.down(self.up(x))",
            "There is no activation between the two linear layers: together they are one linear "
            "layer, whatever the hidden width.",
        ),
        Slip(
            "activation twice",
            FeedForward.forward,
            FORWARD,
            "self.activation(self.down(self.activation(self.up(x))))",
            "The activation is applied a second time, to the result: a ReLU there lets the layer "
            "only ever add, never subtract.",
        ),
        Slip(
            "activation at the start",
            FeedForward.forward,
            FORWARD,
            "self.down(self.up(self.activation(x)))",
            "The activation is applied to the input. It belongs between `up` and `down`.",
        ),
        Slip(
            "always ReLU",
            FeedForward.__init__,
            "self.activation = activation",
            "self.activation = F.relu",
            "The layer uses ReLU whatever `activation` says.",
        ),
        Slip(
            "hidden width C",
            FeedForward.__init__,
            "4 * n_embd if",
            "n_embd if",
            "The hidden layer is as wide as a token. Where n_hidden is None it is 4 * n_embd wide.",
        ),
        Slip(
            "n_hidden not used",
            FeedForward.__init__,
            "4 * n_embd if n_hidden is None else n_hidden",
            "4 * n_embd",
            "The hidden layer has 4 * n_embd columns even where n_hidden says otherwise.",
        ),
        Slip(
            "no biases",
            FeedForward.__init__,
            "self.up = nn.Linear(n_embd, n_hidden)\n"
            "        self.down = nn.Linear(n_hidden, n_embd)",
            "self.up = nn.Linear(n_embd, n_hidden, bias=False)\n"
            "        self.down = nn.Linear(n_hidden, n_embd, bias=False)",
            "The linear layers have no biases; both are asked to have one.",
        ),
        Slip(
            "input added",
            FeedForward.forward,
            FORWARD,
            "x + self.down(self.activation(self.up(x)))",
            "The input is added to the result. That is the work of `Residual`, the next exercise; "
            "the layer itself returns only its own part.",
        ),
        Slip(
            "across the tokens",
            FeedForward.forward,
            FORWARD,
            "self.down(self.activation(self.up(x.transpose(-2, -1)))).transpose(-2, -1)",
            "The network runs along the tokens instead of along the columns of each token: it "
            "mixes tokens, and works only where T happens to equal C.",
        ),
        Slip(
            "not narrowed again",
            FeedForward.forward,
            FORWARD,
            "self.activation(self.up(x))",
            "`down` is not used: the result still has the hidden width.",
        ),
        Slip(
            "no gradient to `up`",
            FeedForward.forward,
            FORWARD,
            "self.down(self.activation(self.up(x)).detach())",
            "The result is right, but no gradient reaches `up` and the input: is there a detach() "
            "or .data?",
        ),
    ],
)
