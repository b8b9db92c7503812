"""recurrence: steps, the RNN, a language model, gradients through time and their clipping."""

import math

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
from solutions.recurrence import (
    RNN,
    clip_gradient,
    gradient_by_lag,
    gru_step,
    rnn_step,
)


def _step(*leading, blocks=1, c=None, d=None, dtype=torch.float32):
    """Draw an input, a state and weights small enough that tanh and sigmoid do not saturate."""

    def draw(draw):
        n_in, n_state = draw.sizes(2)
        n_in, n_state = c or n_in, d or n_state
        return args(
            draw.normal(*leading, n_in, std=1.0, dtype=dtype),
            draw.normal(*leading, n_state, std=0.6, dtype=dtype),
            draw.normal(n_in, blocks * n_state, std=n_in**-0.5, dtype=dtype),
            draw.normal(n_state, blocks * n_state, std=n_state**-0.5, dtype=dtype),
            draw.normal(blocks * n_state, std=0.5, dtype=dtype),
        )

    return draw


def _step_cases(blocks: int) -> list[Case]:
    return [
        Case("values", "a batch of states", _step(3, blocks=blocks)),
        Case("values", "input and state of one width", _step(3, blocks=blocks, c=4, d=4)),
        Case("values", "a batch as large as the state", _step(5, blocks=blocks, c=5, d=5)),
        Case("values", "a state of one number", _step(2, blocks=blocks, c=3, d=1)),
        Case("any leading axes", "no batch", _step(blocks=blocks)),
        Case("any leading axes", "two leading axes", _step(2, 3, blocks=blocks)),
    ]


STEP = Exercise(
    rnn_step,
    parts={"values": 5, "any leading axes": 2, GRADIENT: 2, ARGUMENTS: 1},
    cases=_step_cases(1),
    slips=[
        Slip(
            "tanh forgotten",
            rnn_step,
            "torch.tanh(x @ w_x + h @ w_h + b)",
            "x @ w_x + h @ w_h + b",
            "The sum is returned as it is: without the tanh the state can grow without limit.",
        ),
        Slip(
            "state weights transposed",
            rnn_step,
            "h @ w_h",
            "h @ w_h.T",
            "`w_h` is transposed. It is square, so no shape complains: h @ w_h.",
        ),
        Slip(
            "sigmoid for tanh",
            rnn_step,
            "torch.tanh(",
            "torch.sigmoid(",
            "A sigmoid gives numbers between 0 and 1; the state needs tanh, between -1 and 1.",
        ),
        Slip(
            "bias left out",
            rnn_step,
            " @ w_h + b)",
            " @ w_h)",
            "The bias `b` is not added.",
        ),
        Slip(
            "bias added after tanh",
            rnn_step,
            "torch.tanh(x @ w_x + h @ w_h + b)",
            "torch.tanh(x @ w_x + h @ w_h) + b",
            "The bias is added after the tanh: it belongs inside, with the two products.",
        ),
        Slip(
            "bias added twice",
            rnn_step,
            " @ w_h + b)",
            " @ w_h + 2 * b)",
            "The bias counts twice. PyTorch has a bias per product; here there is one for both.",
        ),
        Slip(
            "state not used",
            rnn_step,
            "x @ w_x + h @ w_h + b",
            "x @ w_x + 0 * h @ w_h + b",
            "The old state does not enter: without h @ w_h the network has no memory.",
        ),
        Slip(
            "input not used",
            rnn_step,
            "x @ w_x + h @ w_h + b",
            "0 * x @ w_x + h @ w_h + b",
            "The input does not enter: x @ w_x is missing.",
        ),
        Slip(
            "old state added",
            rnn_step,
            "torch.tanh(x @ w_x + h @ w_h + b)",
            "h + torch.tanh(x @ w_x + h @ w_h + b)",
            "The old state is added to the new one. That would be a residual connection; a plain "
            "RNN replaces the state.",
        ),
        Slip(
            "state detached",
            rnn_step,
            "h @ w_h",
            "h.detach() @ w_h",
            "The value is right, but no gradient goes back to the old state: it is detached, and "
            "the network cannot learn across steps.",
        ),
    ],
)

GRU = Exercise(
    gru_step,
    parts={"values": 9, "any leading axes": 2, GRADIENT: 3, ARGUMENTS: 2},
    cases=_step_cases(3),
    slips=[
        Slip(
            "update gate the wrong way round",
            gru_step,
            "return update * h + (1 - update) * new",
            "return (1 - update) * h + update * new",
            "`update` and `1 - update` are exchanged. Some papers do it like that; here update "
            "near 1 keeps the old state.",
        ),
        Slip(
            "reset and update exchanged",
            gru_step,
            "p_reset, p_update, p_new = (x @ w_x + b).chunk(3, dim=-1)\n"
            "    q_reset, q_update, q_new = ",
            "p_update, p_reset, p_new = (x @ w_x + b).chunk(3, dim=-1)\n"
            "    q_update, q_reset, q_new = ",
            "The blocks of reset and update are exchanged: the order is reset, update, new.",
        ),
        Slip(
            "new block first",
            gru_step,
            "p_reset, p_update, p_new = (x @ w_x + b).chunk(3, dim=-1)\n"
            "    q_reset, q_update, q_new = ",
            "p_new, p_reset, p_update = (x @ w_x + b).chunk(3, dim=-1)\n"
            "    q_new, q_reset, q_update = ",
            "The new block is read first: the order is reset, update, new.",
        ),
        Slip(
            "reset before the product",
            gru_step,
            "torch.tanh(p_new + reset * q_new)",
            "torch.tanh(p_new + (reset * h) @ w_h.chunk(3, dim=-1)[2])",
            "The reset is applied to h before the product with its matrix. The first paper did "
            "so; here, as in PyTorch, it is applied to the product.",
        ),
        Slip(
            "bias inside the reset",
            gru_step,
            "torch.tanh(p_new + reset * q_new)",
            "torch.tanh(p_new - b.chunk(3)[2] + reset * (q_new + b.chunk(3)[2]))",
            "The bias of the new block is multiplied by the reset: it belongs outside.",
        ),
        Slip(
            "no reset",
            gru_step,
            "torch.tanh(p_new + reset * q_new)",
            "torch.tanh(p_new + q_new)",
            "The reset gate is not used: it multiplies the state's part of the new block.",
        ),
        Slip(
            "reset on the whole sum",
            gru_step,
            "torch.tanh(p_new + reset * q_new)",
            "torch.tanh(reset * (p_new + q_new))",
            "The reset multiplies the input's part too: only the state's part may be reset.",
        ),
        Slip(
            "state forgotten in the result",
            gru_step,
            "return update * h + (1 - update) * new",
            "return (1 - update) * new",
            "The kept part of the old state is missing: add update * h.",
        ),
        Slip(
            "gates not squashed",
            gru_step,
            "reset = torch.sigmoid(p_reset + q_reset)\n"
            "    update = torch.sigmoid(p_update + q_update)",
            "reset = p_reset + q_reset\n    update = p_update + q_update",
            "The gates are not between 0 and 1: both need a sigmoid.",
        ),
        Slip(
            "tanh for the gates",
            gru_step,
            "reset = torch.sigmoid(p_reset + q_reset)\n"
            "    update = torch.sigmoid(p_update + q_update)",
            "reset = torch.tanh(p_reset + q_reset)\n    update = torch.tanh(p_update + q_update)",
            "The gates use tanh: a share must lie between 0 and 1, so take a sigmoid.",
        ),
        Slip(
            "sigmoid for the new state",
            gru_step,
            "torch.tanh(p_new",
            "torch.sigmoid(p_new",
            "The new state is squashed by a sigmoid: it needs tanh, between -1 and 1.",
        ),
        Slip(
            "columns interleaved",
            gru_step,
            "p_reset, p_update, p_new = (x @ w_x + b).chunk(3, dim=-1)\n"
            "    q_reset, q_update, q_new = (h @ w_h).chunk(3, dim=-1)",
            "p_reset, p_update, p_new = (x @ w_x + b).unflatten(-1, (-1, 3)).unbind(-1)\n"
            "    q_reset, q_update, q_new = (h @ w_h).unflatten(-1, (-1, 3)).unbind(-1)",
            "Every third column was taken; each block is D columns side by side.",
        ),
        Slip(
            "gate detached",
            gru_step,
            "return update * h + (1 - update) * new",
            "return update.detach() * h + (1 - update.detach()) * new",
            "The value is right, but no gradient reaches the update gate: is there a detach()?",
        ),
    ],
)


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


LAYER = Exercise(
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


def lags(own, name, x, h, push, w_x, w_h, b, kind, twice=False):
    """Call gradient_by_lag with a step made here from plain weights."""
    import torch

    def step(x_t, h):
        total = x_t @ w_x + h @ w_h + b
        return {"linear": lambda y: y, "tanh": torch.tanh, "skip": lambda y: h + torch.tanh(y)}[
            kind
        ](total)

    x, h, push = x.clone(), h.clone(), push.clone()
    for _ in range(2 if twice else 1):  # a call must leave nothing behind for the next
        result = getattr(own, name)(step, x, h, push)
    if isinstance(result, torch.Tensor) and result.is_floating_point():
        result = result.float()
    return {"result": result, "inputs": [x, h, push]}


def _lags(kind, t=None, radius=1.0, dtype=torch.float32, twice=False):
    def draw(d):
        n_t, c, n_state = d.sizes(3, 2, 7)
        n_t = n_t if t is None else t
        w_h = torch.linalg.qr(d.normal(n_state, n_state, dtype=torch.float64))[0] * radius
        w_h[0, -1] += 0.7  # not orthogonal: a transposed matrix must show
        return (
            d.normal(n_t, c, std=0.7, dtype=dtype),
            d.normal(n_state, std=0.5, dtype=dtype),
            d.normal(n_state, dtype=dtype),
            d.normal(c, n_state, std=c**-0.5, dtype=dtype),
            w_h.to(dtype),
            d.normal(n_state, std=0.3, dtype=dtype),
            kind,
            twice,
        )

    return draw


GRADIENTS = Exercise(
    gradient_by_lag,
    parts={"values": 11, "any step": 6, ARGUMENTS: 1},
    cases=[
        Case("values", "a tanh step", _lags("tanh"), lags),
        Case("values", "a linear step that shrinks", _lags("linear", radius=0.7), lags),
        Case("values", "a linear step that grows", _lags("linear", t=9, radius=1.5), lags),
        Case("values", "one token", _lags("tanh", t=1), lags),
        Case("any step", "a step with a residual connection", _lags("skip"), lags),
        Case("any step", "float64", _lags("tanh", t=12, dtype=torch.float64), lags),
        Case("any step", "called twice with the same h", _lags("tanh", twice=True), lags),
    ],
    slips=[
        Slip(
            "oldest first",
            gradient_by_lag,
            "for g in reversed(gradients)",
            "for g in gradients",
            "The order is that of time: entry 0 belongs to the last state, entry T to h_0.",
        ),
        Slip(
            "not divided by the push",
            gradient_by_lag,
            " / push.norm()",
            "",
            "The norms are not divided by |push|: entry 0 should be 1.",
        ),
        Slip(
            "divided by the first norm",
            gradient_by_lag,
            " / push.norm()",
            " / gradients[0].norm()",
            "The norms are divided by the one at h_0: the measure is the gradient at h_T.",
        ),
        Slip(
            "push not used",
            gradient_by_lag,
            "torch.autograd.grad(states[-1], states, push)",
            "torch.autograd.grad(states[-1], states, torch.ones_like(push))",
            "The gradient starts from ones, as that of states[-1].sum() does: it starts from push.",
        ),
        Slip(
            "norm of the states",
            gradient_by_lag,
            "[g.norm() for g in reversed(gradients)]) / push.norm()",
            "[s.norm() for s in reversed(states)]).detach() / states[-1].detach().norm()",
            "These are the sizes of the states, not of the gradients that arrive at them.",
        ),
        Slip(
            "squared norms",
            gradient_by_lag,
            "torch.stack([g.norm() for g in reversed(gradients)]) / push.norm()",
            "(torch.stack([g.norm() for g in reversed(gradients)]) / push.norm()) ** 2",
            "The norms are squared: the root of the sum of squares is missing.",
        ),
        Slip(
            "sum of absolute values",
            gradient_by_lag,
            "torch.stack([g.norm() for g in reversed(gradients)]) / push.norm()",
            "torch.stack([g.norm(1) for g in reversed(gradients)]) / push.norm(1)",
            "The size is a sum of absolute values: the Euclidean norm was asked for.",
        ),
        Slip(
            "largest entry",
            gradient_by_lag,
            "torch.stack([g.norm() for g in reversed(gradients)]) / push.norm()",
            "torch.stack([g.abs().max() for g in reversed(gradients)]) / push.abs().max()",
            "The size is the largest entry: the Euclidean norm was asked for.",
        ),
        Slip(
            "first state left out",
            gradient_by_lag,
            "for g in reversed(gradients)",
            "for g in reversed(gradients[1:])",
            "The state before the first token is left out: T tokens give T + 1 states.",
        ),
        Slip(
            "last state left out",
            gradient_by_lag,
            "for g in reversed(gradients)",
            "for g in reversed(gradients[:-1])",
            "The last state is left out: at lag 0 the gradient is the push itself, entry 0 is 1.",
        ),
        Slip(
            "states summed",
            gradient_by_lag,
            "torch.autograd.grad(states[-1], states, push)",
            "torch.autograd.grad(torch.stack(states).sum(0), states, push)",
            "The gradient comes from the sum of all states: it must come from the last one only.",
        ),
        Slip(
            "powers of one step",
            gradient_by_lag,
            "torch.stack([g.norm() for g in reversed(gradients)]) / push.norm()",
            "(gradients[-2].norm() / push.norm()) ** torch.arange(len(states), dtype=x.dtype)",
            "The ratio of one step is raised to powers. Every step has a slope of its own: follow "
            "the gradient through all of them.",
        ),
    ],
    equivalent={
        "gradient_by_lag: h.detach() -> h": "the caller's h is then marked as asking for "
        "gradients; its numbers and the result are the same",
    },
)


def clipped(own, name, gradients, longest):
    """Clip a list of tensors: the result, whether it is new, and the tensors as they were left."""
    given = [g.clone() for g in gradients]
    result = getattr(own, name)(list(given), longest)
    seen = {"result": result, "inputs": given}
    if isinstance(result, list):
        places = {g.data_ptr() for g in given}
        held = [r.data_ptr() for r in result if hasattr(r, "data_ptr")]
        seen["tensors that are not new"] = sum(place in places for place in held)
    return seen


def _gradients(norm, longest, shapes=((3, 4), (5,), (2, 1, 3)), dtype=torch.float32):
    """Draw tensors whose norm, taken together, is `norm`."""

    def draw(d):
        made = [d.normal(*shape, dtype=torch.float64) for shape in shapes]
        whole = math.sqrt(sum(float(g.square().sum()) for g in made))
        return [(g * (norm / whole)).to(dtype) for g in made], longest

    return draw


def _transposed(d):
    tensors, longest = _gradients(12.0, 3.0)(d)
    return [tensors[0].T, *tensors[1:]], longest


def _all_zero(d):
    return [torch.zeros(2, 3), torch.zeros(4)], 1.5


CLIP = Exercise(
    clip_gradient,
    parts={"long gradients": 5, "short gradients": 3, ARGUMENTS: 2},
    cases=[
        Case("long gradients", "a norm of 12, at most 3 allowed", _gradients(12.0, 3.0), clipped),
        Case("long gradients", "a norm of 900, at most 0.5", _gradients(900.0, 0.5), clipped),
        Case(
            "long gradients",
            "each tensor short, all together long",
            _gradients(2.0, 1.5, ((2, 2), (3,), (4,), (2, 3))),
            clipped,
        ),
        Case("long gradients", "one tensor", _gradients(7.0, 1.0, ((4,),)), clipped),
        Case("long gradients", "a transposed tensor", _transposed, clipped),
        Case("long gradients", "float64", _gradients(5000.0, 2.0, dtype=torch.float64), clipped),
        Case("short gradients", "a norm of 0.7, 2 allowed", _gradients(0.7, 2.0), clipped),
        Case("short gradients", "a norm of 2.9, 3 allowed", _gradients(2.9, 3.0), clipped),
        Case("short gradients", "zeros", _all_zero, clipped),
    ],
    slips=[
        Slip(
            "clipped per element",
            clip_gradient,
            "[g * scale for g in gradients]",
            "[g.clamp(-longest, longest) for g in gradients]",
            "Every number is clipped by itself, which turns the gradient into another direction. "
            "Shorten the whole vector instead.",
        ),
        Slip(
            "every tensor by itself",
            clip_gradient,
            "[g * scale for g in gradients]",
            "[g * (longest / g.norm()).clamp(max=1.0) for g in gradients]",
            "Each tensor is shortened by its own norm: the norm is that of all of them together.",
        ),
        Slip(
            "short gradients lengthened",
            clip_gradient,
            "(longest / norm).clamp(max=1.0)",
            "longest / norm.clamp(min=1e-12)",
            "Gradients shorter than `longest` are scaled up: only long ones are to be changed.",
        ),
        Slip(
            "not a number for zeros",
            clip_gradient,
            "(longest / norm).clamp(max=1.0)",
            "(longest / norm).clamp(max=1.0) * norm / norm",
            "A gradient of zeros becomes not a number: 0 / 0. Nothing is to be changed there.",
        ),
        Slip(
            "sum of the norms",
            clip_gradient,
            "torch.cat([g.flatten() for g in gradients]).norm()",
            "sum(g.norm() for g in gradients)",
            "The norms of the tensors are added. The norm of all together is the root of the sum "
            "of their squares.",
        ),
        Slip(
            "norm not rooted",
            clip_gradient,
            "torch.cat([g.flatten() for g in gradients]).norm()",
            "torch.cat([g.flatten() for g in gradients]).square().sum()",
            "The sum of squares is used as the norm: its root is missing.",
        ),
        Slip(
            "sum of absolute values",
            clip_gradient,
            ".norm()\n",
            ".norm(1)\n",
            "The length is measured as a sum of absolute values: the Euclidean norm was asked for.",
        ),
        Slip(
            "largest entry as the norm",
            clip_gradient,
            ".norm()\n",
            ".abs().max()\n",
            "The length is measured by the largest entry: the Euclidean norm was asked for.",
        ),
        Slip(
            "mean square as the norm",
            clip_gradient,
            ".norm()\n",
            ".square().mean().sqrt()\n",
            "The length is averaged over the entries: sum the squares, do not average them.",
        ),
        Slip(
            "set to zero",
            clip_gradient,
            "(longest / norm).clamp(max=1.0)",
            "(norm <= longest).to(norm.dtype)",
            "A long gradient is thrown away altogether: shorten it to `longest`.",
        ),
        Slip(
            "given tensors returned",
            clip_gradient,
            "[g * scale for g in gradients]",
            "[g * scale if scale < 1 else g for g in gradients]",
            "A short gradient comes back as the very tensors that were given: return copies, or a "
            "later change of the result changes the gradient.",
        ),
        Slip(
            "changed in place",
            clip_gradient,
            "[g * scale for g in gradients]",
            "[g.mul_(scale) for g in gradients]",
            "The given tensors were changed: return new ones.",
        ),
    ],
)


def puzzle() -> Puzzle:
    """How far each state moves when one input is nudged, where the state is not carried."""
    slip = next(s for s in LAYER.slips if s.name == "state not carried")
    draw = Draw("puzzle")
    layer = patched(slip)["RNN"](n_in=3, n_state=4)
    weights = {"w_x": draw.normal(3, 4, std=0.6), "w_h": torch.eye(4).roll(1, 0)}
    layer.load_state_dict({**weights, "b": torch.zeros(4)})
    x = draw.normal(1, 6, 3, std=0.5)

    def moved(s):
        nudged = x.clone()
        nudged[0, s] += 0.1
        return (layer(nudged) - layer(x))[0].norm(dim=-1) / 0.1  # (T): every state's move

    with torch.no_grad():
        table = torch.stack([moved(s) for s in range(6)], dim=1)
    return Puzzle(table, "how far state t moves when input s is nudged", "state t", "input s")


WHICH_LINE = Choice(
    "which_line",
    points=8,
    right="c",
    answers={
        "a": "Without the tanh old inputs would act on later states even more strongly: the lower "
        "triangle would be full. Here it is empty.",
        "b": "A detached state has the right value: only gradients are cut. Nudging an input and "
        "looking at the states would show a full lower triangle.",
        "c": "Every step starts from the first state again, so state t knows input t and nothing "
        "else: only the diagonal is filled.",
        "d": "Read backwards, the first state knows the last input: cells off the diagonal would "
        "be filled.",
    },
)


def _growing_inputs(own, radius, n_steps, width, scales, seed):
    """Measure how much of a gradient crosses n_steps of a tanh RNN, for inputs of each scale."""
    import torch

    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(*shape, generator=generator)

    w_h = radius * torch.linalg.qr(normal(width, width))[0]
    x, push, zero = normal(n_steps, width), normal(width), torch.zeros(width)

    def arrives(scale):
        def step(x_t, h):
            return own.rnn_step(x_t, h, torch.eye(width), w_h, zero)

        return float(own.gradient_by_lag(step, scale * x, zero, push)[-1])

    return dict(zip(["small", "middle", "large"], map(arrives, scales), strict=True))


def _what_inputs_do(measured: dict) -> str:
    small, large = measured["small"], measured["large"]
    if large < small / 10:
        return "b" if large < 1e-2 else "d"
    return "a" if large > small * 10 else "c"


WHAT_INPUTS_DO = Conclusion(
    "what_inputs_do",
    points=10,
    probe=_growing_inputs,
    inputs=(1.2, 50, 32, [0.01, 0.1, 1.0], 0),
    decide=_what_inputs_do,
    measures=[rnn_step, gradient_by_lag],
    answers={
        letter: "With {whose} code the share of the gradient that crossed 50 steps was "
        "{small:.1e}, {middle:.1e} and {large:.1e} for inputs of standard deviation 0.01, 0.1 "
        "and 1."
        for letter in "abcd"
    },
)

QUESTIONS = [STEP, LAYER, GRU, GRADIENTS, CLIP, WHICH_LINE, WHAT_INPUTS_DO]
