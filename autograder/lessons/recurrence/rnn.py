"""RNN: the cases it is tried in, and the slips that are known."""

from autograder.checks.draw import built
from autograder.checks.question import ARGUMENTS, GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from autograder.seam.probe import module
from solutions.recurrence import RNN


def _sequence(d, b, t, c, n_state, start=False):
    """Draw an RNN and its input (B, T, C), with or without a state to start from."""
    weights = {
        "w_x": d.normal(c, n_state, std=c**-0.5),
        "w_h": d.normal(n_state, n_state, std=n_state**-0.5),
        "b": d.normal(n_state, std=0.5),
    }
    inputs = [d.normal(b, t, c, std=1.0)] + ([d.normal(b, n_state, std=0.6)] if start else [])
    return built({"n_in": c, "n_state": n_state}, weights, *inputs)


def _long(start=False):
    def draw(d):
        b, t, c, n_state = d.sizes(4, 2, 7)
        return _sequence(d, b, t, c, n_state, start)

    return draw


def _twice(own, name, config, weights, first, second):
    """Run one model on two batches: the second must not know of the first."""
    import torch

    model = getattr(own, name)(**config)
    model.load_state_dict(weights)
    with torch.no_grad():
        model(first)
        return {"result": model(second)}


def _two_batches(d):
    config, weights, (first,), _ = _sequence(d, 2, 4, 3, 5)
    return config, weights, first, d.normal(*first.shape)


QUESTION = Exercise(
    RNN,
    parts={"values": 7, "a given first state": 5, GRADIENT: 5, ARGUMENTS: 1},
    cases=[
        Case("values", "a batch of sequences", _long(), module),
        Case("values", "one token", lambda d: _sequence(d, 3, 1, 2, 4), module),
        Case("values", "one sequence", lambda d: _sequence(d, 1, 5, 3, 2), module),
        Case("values", "as many sequences as tokens", lambda d: _sequence(d, 4, 4, 3, 5), module),
        Case("values", "input and state of one width", lambda d: _sequence(d, 2, 5, 3, 3), module),
        Case("values", "one batch after another", _two_batches, _twice),
        Case("a given first state", "a state to go on from", _long(start=True), module),
        Case(
            "a given first state",
            "one token and a state to go on from",
            lambda d: _sequence(d, 2, 1, 3, 4, start=True),
            module,
        ),
    ],
    slips=[
        Slip(
            "state not carried",
            RNN.forward,
            "h = rnn_step(x[:, t], h, self.w_x, self.w_h, self.b)\n            states.append(h)",
            "new = rnn_step(x[:, t], h, self.w_x, self.w_h, self.b)\n"
            "            states.append(new)",
            "Every step starts from the first state again: the new state must become the `h` of "
            "the next step.",
        ),
        Slip(
            "state detached between steps",
            RNN.forward,
            "rnn_step(x[:, t], h, ",
            "rnn_step(x[:, t], h.detach(), ",
            "The states are right, but the gradient stops at every step: with h.detach() nothing "
            "is learned across time.",
        ),
        Slip(
            "given state not used",
            RNN.forward,
            "if h is None:",
            "if True:",
            "A given first state `h` is thrown away: zeros are only for h=None.",
        ),
        Slip(
            "time first",
            RNN.forward,
            "torch.stack(states, dim=1)",
            "torch.stack(states, dim=0)",
            "The states are stacked time first, (T, B, D); batch first was asked: dim=1.",
        ),
        Slip(
            "batch and time exchanged",
            RNN.forward,
            "x.new_zeros(x.size(0), self.b.size(0))\n        states = []\n"
            "        for t in range(x.size(1)):\n            h = rnn_step(x[:, t], h,",
            "x.new_zeros(x.size(1), self.b.size(0))\n        states = []\n"
            "        for t in range(x.size(0)):\n            h = rnn_step(x[t], h,",
            "The loop runs over the batch, x[t], not over the tokens, x[:, t]: one sequence's "
            "state flows into the next sequence.",
        ),
        Slip(
            "last state only",
            RNN.forward,
            "torch.stack(states, dim=1)",
            "h",
            "Only the last state is returned: all T of them were asked for, (B, T, D).",
        ),
        Slip(
            "read backwards",
            RNN.forward,
            "x[:, t]",
            "x[:, -1 - t]",
            "The sequence is read from its end: token 0 comes first.",
        ),
        Slip(
            "first token at every step",
            RNN.forward,
            "x[:, t]",
            "x[:, 0]",
            "Every step reads the first token: take x[:, t].",
        ),
        Slip(
            "starts from ones",
            RNN.forward,
            "x.new_zeros(",
            "x.new_ones(",
            "Without a given state the RNN starts from zeros, not from ones.",
        ),
        Slip(
            "first state counted",
            RNN.forward,
            "states = []",
            "states = [h]",
            "The state before the first token is among the results: T tokens give T states.",
        ),
        Slip(
            "states before the step",
            RNN.forward,
            "h = rnn_step(x[:, t], h, self.w_x, self.w_h, self.b)\n            states.append(h)",
            "states.append(h)\n            h = rnn_step(x[:, t], h, self.w_x, self.w_h, self.b)",
            "The state is stored before its token was read: take the step, then store.",
        ),
    ],
    equivalent={
        "RNN.forward: self.b.size(0) -> self.b.size(-1)": "the bias has one axis only",
    },
)
