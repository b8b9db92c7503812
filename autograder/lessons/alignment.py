"""alignment: scores, masked weights, contexts, a decoder that looks back, a translator."""

from functools import cache

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
)
from autograder.puzzle import Puzzle
from autograder.slips import Slip, patched
from solutions.alignment import (
    AttentionDecoder,
    Seq2Seq,
    additive_scores,
    context,
    masked_softmax,
)
from solutions.data.tiny_french import EOS, PAD


def _additive(*leading):
    def draw(d):
        t, s, width = d.sizes(3)
        v = d.normal(width)
        return args(d.normal(*leading, t, width), d.normal(*leading, s, width), v)

    return draw


ADDITIVE = Exercise(
    additive_scores,
    parts={"values": 8, "any leading axes": 5, GRADIENT: 3},
    cases=[
        Case("values", "a few queries and keys", _additive()),
        Case(
            "values",
            "as many of all",
            lambda d: args(d.normal(4, 4), d.normal(4, 4), d.normal(4)),
        ),
        Case("values", "one query", lambda d: args(d.normal(1, 3), d.normal(5, 3), d.normal(3))),
        Case("values", "one column", lambda d: args(d.normal(3, 1), d.normal(4, 1), d.normal(1))),
        Case("any leading axes", "a batch", _additive(3)),
        Case("any leading axes", "two leading axes", _additive(2, 3)),
        Case(
            "any leading axes",
            "a batch as long as its rows",
            lambda d: args(d.normal(3, 3, 3), d.normal(3, 3, 3), d.normal(3)),
        ),
    ],
    slips=[
        Slip(
            "no tanh",
            additive_scores,
            "torch.tanh(pairs) @ v",
            "pairs @ v",
            "The tanh is missing. Without it the query adds the same number to all scores of its "
            "row, and the softmax does not see it: every query would look at the same places.",
        ),
        Slip(
            "tanh of each apart",
            additive_scores,
            "query.unsqueeze(-2) + keys.unsqueeze(-3)  # (..., T, 1, A) + (..., 1, S, A)\n"
            "    return torch.tanh(pairs) @ v",
            "torch.tanh(query.unsqueeze(-2)) + torch.tanh(keys.unsqueeze(-3))\n"
            "    return pairs @ v",
            "Query and key pass through tanh apart: then the query only adds a constant to its "
            "row. Add first, then take tanh of the sum.",
        ),
        Slip(
            "v inside the tanh",
            additive_scores,
            "torch.tanh(pairs) @ v",
            "torch.tanh(pairs @ v)",
            "The columns are weighed before tanh; take tanh of each column first, then weigh.",
        ),
        Slip(
            "v not used",
            additive_scores,
            "torch.tanh(pairs) @ v",
            "torch.tanh(pairs).sum(-1) + 0 * v.sum()",
            "The columns are added up with equal weights: v is not used.",
        ),
        Slip(
            "multiplied instead of added",
            additive_scores,
            "query.unsqueeze(-2) + keys.unsqueeze(-3)",
            "query.unsqueeze(-2) * keys.unsqueeze(-3)",
            "Query and key are multiplied; the additive score adds them.",
        ),
        Slip(
            "difference",
            additive_scores,
            "query.unsqueeze(-2) + keys.unsqueeze(-3)",
            "query.unsqueeze(-2) - keys.unsqueeze(-3)",
            "The key is subtracted from the query; the additive score adds them.",
        ),
        Slip(
            "keys ask, queries answer",
            additive_scores,
            "query.unsqueeze(-2) + keys.unsqueeze(-3)",
            "query.unsqueeze(-3) + keys.unsqueeze(-2)",
            "The table is the wrong way round: one row for every query, one column for every key.",
        ),
        Slip(
            "ReLU",
            additive_scores,
            "torch.tanh(pairs)",
            "torch.relu(pairs)",
            "A ReLU stands where the formula has tanh.",
        ),
        Slip(
            "sigmoid",
            additive_scores,
            "torch.tanh(pairs)",
            "torch.sigmoid(pairs)",
            "A sigmoid stands where the formula has tanh.",
        ),
        Slip(
            "weights, not scores",
            additive_scores,
            "torch.tanh(pairs) @ v",
            "(torch.tanh(pairs) @ v).softmax(-1)",
            "The softmax is taken already. Scores are any numbers; `masked_softmax` comes later.",
        ),
        Slip(
            "v detached",
            additive_scores,
            "torch.tanh(pairs) @ v",
            "torch.tanh(pairs) @ v.detach()",
            "The values are right, but no gradient reaches v: is there a detach() or .data?",
        ),
    ],
)


def _masked(*leading, mask=None, dtype=torch.float32):
    """Draw scores (*leading, T, S) and a mask of the same shape, or with `mask` of another."""

    def draw(d):
        t, s = d.sizes(2, 3, 7)
        shapes = {"row": (s,), "sentence": (*leading, 1, s), None: (*leading, t, s)}
        return args(d.normal(*leading, t, s, dtype=dtype), d.mask(*shapes[mask]))

    return draw


def _all_allowed(d):
    scores = d.normal(2, *d.sizes(2))
    return args(scores, torch.ones_like(scores, dtype=torch.bool))


def _huge_forbidden(d):
    scores, mask = d.normal(3, 6), torch.tensor([True, True, False, True, False, True])
    scores[:, 2], scores[1, 4] = 10_000, 500
    return args(scores, mask)


def _large(d):
    return args(d.normal(4, 5, std=400, dtype=torch.float64), d.mask(4, 5))


def _one_allowed(low, dtype):
    """Scores as low as any "large negative number": the one allowed place gets all the weight."""

    def draw(d):
        mask = torch.nn.functional.one_hot(d.integers(0, 5, 3), 5).bool()
        return args(torch.full((3, 5), low, dtype=dtype), mask)

    return draw


def _forbidden(own, name, scores, mask):
    """Count the weights at forbidden places that are not exactly 0."""
    weights = getattr(own, name)(scores, mask.clone())
    return {"forbidden weights that are not 0": int((weights != 0)[~mask].sum())}


def _nothing(dtype=torch.float32):
    def draw(d):
        mask = d.mask(3, 4, 5)
        mask[1], mask[2, 3] = False, False
        return args(d.normal(3, 4, 5, dtype=dtype), mask)

    return draw


MASKED = Exercise(
    masked_softmax,
    parts={
        "values": 4,
        "forbidden places": 4,
        "nothing allowed": 3,
        "half precision": 2,
        GRADIENT: 2,
        ARGUMENTS: 1,
    },
    cases=[
        Case("values", "everything allowed", _all_allowed),
        Case("values", "a single row", lambda d: args(d.normal(6), d.mask(6))),
        Case("values", "one place", lambda d: args(d.normal(3, 1), d.mask(3, 1))),
        Case("values", "large scores", _large),
        Case("forbidden places", "a mask for every score", _masked(3)),
        Case("forbidden places", "a mask for every sentence", _masked(3, mask="sentence")),
        Case("forbidden places", "one mask for all rows", _masked(mask="row")),
        Case("forbidden places", "a huge score at a forbidden place", _huge_forbidden),
        Case(
            "forbidden places",
            "scores of minus ten thousand million",
            _one_allowed(-1e10, torch.float64),
        ),
        Case(
            "forbidden places",
            "exactly nothing",
            lambda d: (d.normal(3, 5), d.mask(3, 5)),
            _forbidden,
        ),
        Case("nothing allowed", "some rows without a place to look at", _nothing()),
        Case(
            "nothing allowed",
            "no place at all",
            lambda d: (*args(d.normal(2, 3), torch.zeros(2, 3, dtype=torch.bool)), False),
        ),
        Case("half precision", "float16", _masked(2, dtype=torch.float16)),
        Case("half precision", "float16, nothing allowed", _nothing(torch.float16)),
        Case(
            "half precision",
            "float16, the lowest score there is",
            _one_allowed(-65504.0, torch.float16),
        ),
    ],
    slips=[
        Slip(
            "softmax over the queries",
            masked_softmax,
            ".softmax(-1)",
            ".softmax(-2)",
            "The softmax runs over the queries: each column sums to one. A query shares out its "
            "attention over the places it looks at, the last axis.",
        ),
        Slip(
            "mask not used",
            masked_softmax,
            "scores.masked_fill(~mask, -torch.inf).softmax(-1)\n"
            "    return weights.masked_fill(~mask, 0.0)",
            "(scores + 0 * mask).softmax(-1)\n    return weights",
            "The mask is not used: padding gets weight like any word.",
        ),
        Slip(
            "mask after the softmax",
            masked_softmax,
            "scores.masked_fill(~mask, -torch.inf).softmax(-1)",
            "scores.softmax(-1)",
            "The forbidden weights are set to zero after the softmax, and what is left no longer "
            "sums to one. Take the scores out before the softmax.",
        ),
        Slip(
            "mask inverted",
            masked_softmax,
            "scores.masked_fill(~mask, -torch.inf).softmax(-1)\n"
            "    return weights.masked_fill(~mask, 0.0)",
            "scores.masked_fill(mask, -torch.inf).softmax(-1)\n"
            "    return weights.masked_fill(mask, 0.0)",
            "The mask is the wrong way round: True means that looking is allowed.",
        ),
        Slip(
            "zero score for forbidden places",
            masked_softmax,
            "scores.masked_fill(~mask, -torch.inf).softmax(-1)\n"
            "    return weights.masked_fill(~mask, 0.0)",
            "scores.masked_fill(~mask, 0.0).softmax(-1)\n    return weights",
            "Forbidden scores are set to 0, and exp(0) is 1: a weight like any other. The score "
            "that gives no weight is minus infinity.",
        ),
        Slip(
            "nan where nothing is allowed",
            masked_softmax,
            "weights.masked_fill(~mask, 0.0)",
            "weights",
            "A row in which nothing is allowed becomes 0/0, not a number, and from there it "
            "spreads. Such a row should be zeros.",
        ),
        Slip(
            "even weights where nothing is allowed",
            masked_softmax,
            "scores.masked_fill(~mask, -torch.inf).softmax(-1)\n"
            "    return weights.masked_fill(~mask, 0.0)",
            "scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1)\n"
            "    return weights",
            "A row in which nothing is allowed shares its weight out evenly over forbidden places; "
            "such a row should be zeros.",
        ),
        Slip(
            "minus 1e9 for minus infinity",
            masked_softmax,
            "scores.masked_fill(~mask, -torch.inf)",
            "scores.masked_fill(~mask, -1e9)",
            "Forbidden scores are set to -1e9. Half precision ends at 65,504 and cannot hold it, "
            "and a lower score is possible: use minus infinity.",
        ),
        Slip(
            "no maximum subtracted",
            masked_softmax,
            "scores.masked_fill(~mask, -torch.inf).softmax(-1)\n"
            "    return weights.masked_fill(~mask, 0.0)",
            "scores.exp() * mask\n"
            "    return (weights / weights.sum(-1, keepdim=True)).masked_fill(~mask, 0.0)",
            "The exponentials overflow, or all become zero: subtract the largest allowed score "
            "first, or let `softmax` do it.",
        ),
        Slip(
            "normalised over the whole tensor",
            masked_softmax,
            ".softmax(-1)",
            ".flatten().softmax(0).view(scores.shape)",
            "All weights of the tensor sum to one together; every row should by itself.",
        ),
        Slip(
            "renormalised with an epsilon",
            masked_softmax,
            "scores.masked_fill(~mask, -torch.inf).softmax(-1)\n"
            "    return weights.masked_fill(~mask, 0.0)",
            "scores.softmax(-1) * mask\n"
            "    return weights / (weights.sum(-1, keepdim=True) + 1e-6)",
            "Weights are cut after a softmax over everything and divided by their sum and a small "
            "number. Where a forbidden score is huge nothing is left to divide: mask the scores.",
        ),
        Slip(
            "argument overwritten",
            masked_softmax,
            "scores.masked_fill(~mask, -torch.inf)",
            "scores.masked_fill_(~mask, -torch.inf)",
            "The call changes its own argument: methods ending in `_` write into the caller's "
            "tensor. `masked_fill` makes a new one.",
        ),
        Slip(
            "nan in the gradient",
            masked_softmax,
            "scores.masked_fill(~mask, -torch.inf)",
            "(scores + torch.zeros_like(scores).masked_fill(~mask, -torch.inf))",
            "The weights are right, but where nothing is allowed the gradient is not a number. "
            "Minus infinity is added to the scores; fill it in instead, and no gradient passes.",
        ),
        Slip(
            "no gradient",
            masked_softmax,
            "scores.masked_fill(~mask, -torch.inf)",
            "scores.detach().masked_fill(~mask, -torch.inf)",
            "The weights are right, but no gradient reaches the scores: is there a detach()?",
        ),
    ],
)


def _context(*leading):
    def draw(d):
        t, s, width = d.sizes(3)
        return args(d.rows(*leading, t, s), d.normal(*leading, s, width))

    return draw


CONTEXT = Exercise(
    context,
    parts={"values": 3, "batches": 2, GRADIENT: 1},
    cases=[
        Case("values", "a few queries", _context()),
        Case("values", "as many of all", lambda d: args(d.rows(4, 4), d.normal(4, 4))),
        Case("values", "one place", lambda d: args(d.rows(3, 1), d.normal(1, 4))),
        Case("values", "zeros for weights", lambda d: args(torch.zeros(2, 3), d.normal(3, 4))),
        Case("batches", "a batch", _context(3)),
        Case("batches", "a batch of one query", lambda d: args(d.rows(3, 1, 5), d.normal(3, 5, 2))),
        Case("batches", "two leading axes", _context(2, 3)),
    ],
    slips=[
        Slip(
            "only the best place",
            context,
            "weights @ values",
            "(weights == weights.amax(-1, keepdim=True)).to(values) @ values",
            "Only the value with the largest weight is taken. That is a hard choice, through which "
            "no gradient flows; average all of them.",
        ),
        Slip(
            "weights transposed",
            context,
            "weights @ values",
            "weights.transpose(-2, -1) @ values",
            "The weights are transposed: row t says how query t mixes the values.",
        ),
        Slip(
            "plain mean",
            context,
            "weights @ values",
            "(weights * 0 + 1 / weights.size(-1)) @ values",
            "This is the plain mean of the values: the weights are not used.",
        ),
        Slip(
            "softmax again",
            context,
            "weights @ values",
            "weights.softmax(-1) @ values",
            "The weights are weights already; another softmax makes them nearly equal.",
        ),
        Slip(
            "averaged over the batch",
            context,
            "weights @ values",
            "weights @ (values if values.dim() < 3 else values.mean(0, keepdim=True))",
            "The values of all sentences are mixed: every sentence has its own.",
        ),
        Slip(
            "divided by the number of places",
            context,
            "weights @ values",
            "weights @ values / values.size(-2)",
            "The weights sum to one, so the weighted sum is the average already: do not divide by "
            "the number of places.",
        ),
    ],
)


def _decoder_weights(d, n_vocab, n_embd, n_hidden, n_memory):
    shapes = {
        "v": (n_hidden,),
        "embed.weight": (n_vocab, n_embd),
        "query.weight": (n_hidden, n_hidden),
        "key.weight": (n_hidden, n_memory),
        "cell.weight_ih": (3 * n_hidden, n_embd + n_memory),
        "cell.weight_hh": (3 * n_hidden, n_hidden),
        "cell.bias_ih": (3 * n_hidden,),
        "cell.bias_hh": (3 * n_hidden,),
        "out.weight": (n_vocab, n_hidden + n_memory),
        "out.bias": (n_vocab,),
    }
    return {name: d.normal(*shape, std=0.8) for name, shape in shapes.items()}


def _decode(own, name, config, weights, tokens, state, memory, mask):
    """Run a decoder: what it returns, its inputs as it left them, gradients of all there is."""
    import torch

    decoder = getattr(own, name)(**config)
    decoder.load_state_dict(weights)
    leaves = [state.clone().requires_grad_(), memory.clone().requires_grad_()]
    fresh = [leaf * 1 for leaf in leaves]  # a leaf may not be written into
    given = [tokens, *fresh, mask]
    returned = decoder(*given)
    seen = {"result": returned, "inputs": given}
    named = dict(decoder.named_parameters())
    wanted = [*leaves, *named.values()]
    total = 0
    for part in returned[:2] if isinstance(returned, tuple) else ():  # nobody learns by the weights
        if not isinstance(part, torch.Tensor) or not part.is_floating_point():
            continue
        push = torch.cos(torch.arange(part.numel(), dtype=part.dtype)).reshape(part.shape)
        total = total + (part * push).sum()
    grads = [None for _ in wanted]
    if isinstance(total, torch.Tensor) and total.requires_grad:
        grads = torch.autograd.grad(total, wanted, allow_unused=True)
    seen["gradients"] = list(grads[:2])
    seen["parameter gradients"] = dict(zip(named, grads[2:], strict=True))
    return seen


def _twice(own, name, config, weights, first, second):
    """Run one model on two batches: the second must not know of the first."""
    import torch

    model = getattr(own, name)(**config)
    model.load_state_dict(weights)
    with torch.no_grad():
        model(*first)
        return {"result": model(*second)}


def _two_batches(d):
    config, weights, *first = _decoding(b=3, t=2, s=4)(d)
    tokens, state, memory, mask = first
    return config, weights, first, [tokens.flip(0), d.normal(*state.shape), memory.flip(0), mask]


def _decoding(b=None, t=None, s=None, same=False, blind=False):
    """Draw a decoder of unequal widths and its inputs; `same`: state as wide as the memory."""

    def draw(d):
        sizes = d.sizes(3, 2, 4)
        n_b, n_t, n_s = (given or size for given, size in zip((b, t, s), sizes, strict=True))
        n_embd, n_hidden, n_memory = d.sizes(3, 3, 6)
        n_memory = n_hidden if same else n_memory
        config = {"n_vocab": 8, "n_embd": n_embd, "n_hidden": n_hidden, "n_memory": n_memory}
        mask = d.mask(n_b, n_s)
        if blind:
            mask[0] = False
        inputs = (
            d.integers(0, 8, n_b, n_t),
            d.normal(n_b, n_hidden, std=0.5),
            d.normal(n_b, n_s, n_memory),
            mask,
        )
        return (config, _decoder_weights(d, **config), *inputs)

    return draw


DECODER = Exercise(
    AttentionDecoder,
    parts={"one step": 6, "several steps": 6, "mask": 4, GRADIENT: 3, ARGUMENTS: 1},
    cases=[
        Case("one step", "one token each", _decoding(t=1), _decode),
        Case("one step", "one sentence of one word", _decoding(b=1, t=1, s=1), _decode),
        Case("one step", "all widths equal", _decoding(t=1, same=True), _decode),
        Case("several steps", "several tokens", _decoding(), _decode),
        Case("several steps", "as many tokens as words", _decoding(b=2, t=3, s=3), _decode),
        Case("several steps", "a state as wide as the memory", _decoding(same=True), _decode),
        Case("several steps", "one batch after another", _two_batches, _twice),
        Case("mask", "padding in every sentence", _decoding(b=4, t=2, s=5), _decode),
        Case("mask", "as many sentences as words", _decoding(b=3, t=2, s=3), _decode),
        Case("mask", "a sentence of padding only", _decoding(b=3, t=2, blind=True), _decode),
    ],
    slips=[
        Slip(
            "looks only once",
            AttentionDecoder.forward,
            "for word in words.unbind(1):\n"
            "            scores = additive_scores(self.query(state).unsqueeze(1), keys, self.v)"
            "  # (B, 1, S)",
            "scores = additive_scores(self.query(state).unsqueeze(1), keys, self.v)\n"
            "        for word in words.unbind(1):",
            "The scores are made once, from the first state: the decoder looks at the same places "
            "for every word. Make them anew from the state before each word.",
        ),
        Slip(
            "query not projected",
            AttentionDecoder.forward,
            "self.query(state).unsqueeze(1)",
            "state.unsqueeze(1)",
            "The state itself is the query; `self.query` is not used.",
        ),
        Slip(
            "keys not projected",
            AttentionDecoder.forward,
            "self.key(memory)",
            "memory",
            "The memory itself serves as keys; `self.key` is not used.",
        ),
        Slip(
            "dot product for a score",
            AttentionDecoder.forward,
            "additive_scores(self.query(state).unsqueeze(1), keys, self.v)",
            "dot_scores(self.query(state).unsqueeze(1), keys)",
            "The scores are dot products; the additive score with `self.v` is asked for.",
        ),
        Slip(
            "context of the keys",
            AttentionDecoder.forward,
            "context(a, memory)",
            "context(a, keys)",
            "The keys are averaged. Keys are for matching; what is handed over is the memory.",
        ),
        Slip(
            "only the best place",
            AttentionDecoder.forward,
            "context(a, memory)",
            "context((a == a.amax(-1, keepdim=True)).to(a) * (a > 0), memory)",
            "Only the state with the largest weight is taken; average all with their weights.",
        ),
        Slip(
            "mask not used",
            AttentionDecoder.forward,
            "mask.unsqueeze(1)",
            "mask.unsqueeze(1) | True",
            "The mask is not used: padding gets weight.",
        ),
        Slip(
            "mask inverted",
            AttentionDecoder.forward,
            "mask.unsqueeze(1)",
            "~mask.unsqueeze(1)",
            "The mask is the wrong way round: True means a word, False means padding.",
        ),
        Slip(
            "context not in the state",
            AttentionDecoder.forward,
            "self.cell(torch.cat([word, c], -1), state)",
            "self.cell(torch.cat([word, 0 * c], -1), state)",
            "The context does not enter the new state: the cell reads the word and the context, "
            "side by side.",
        ),
        Slip(
            "context before the word",
            AttentionDecoder.forward,
            "torch.cat([word, c], -1)",
            "torch.cat([c, word], -1)",
            "Word and context enter the cell in the wrong order: first the word, then the context.",
        ),
        Slip(
            "state and context exchanged",
            AttentionDecoder.forward,
            "torch.cat([torch.stack(states, 1), torch.stack(contexts, 1)], -1)",
            "torch.cat([torch.stack(contexts, 1), torch.stack(states, 1)], -1)",
            "State and context enter the output layer in the wrong order: state, then context.",
        ),
        Slip(
            "state not carried on",
            AttentionDecoder.forward,
            "state = self.cell(torch.cat([word, c], -1), state)\n            states.append(state)",
            "new = self.cell(torch.cat([word, c], -1), state)\n            states.append(new)",
            "Every word starts from s_0 again: the new state must be the old one of the next word.",
        ),
        Slip(
            "logits from the state before",
            AttentionDecoder.forward,
            "state = self.cell(torch.cat([word, c], -1), state)\n            states.append(state)",
            "states.append(state)\n            state = self.cell(torch.cat([word, c], -1), state)",
            "The logits are made from s_{i-1}; the output layer reads the new state s_i.",
        ),
        Slip(
            "scores returned for weights",
            AttentionDecoder.forward,
            "weights.append(a.squeeze(1))",
            "weights.append(scores.squeeze(1))",
            "The scores are returned where the weights a_i are asked for.",
        ),
        Slip(
            "probabilities",
            AttentionDecoder.forward,
            "self.out(known), state",
            "self.out(known).softmax(-1), state",
            "The first result holds probabilities. Return the logits; the loss takes the softmax.",
        ),
        Slip(
            "first state returned",
            AttentionDecoder.forward,
            "self.out(known), state",
            "self.out(known), states[0]",
            "The second result is the state after the first token; return the last one.",
        ),
        Slip(
            "no gradient through the query",
            AttentionDecoder.forward,
            "self.query(state).unsqueeze(1)",
            "self.query(state.detach()).unsqueeze(1)",
            "The results are right, but the scores send no gradient back to the state: is there a "
            "detach()?",
        ),
    ],
    equivalent={
        "AttentionDecoder.forward: torch.cat([word, c], -1) -> torch.cat([word, c], 1)": "both "
        "have two axes: 1 is the last one",
    },
)


def _translator(d, n_b=None, n_s=None, n_t=None, **config):
    """Draw a small translator with its weights, and sentences with padding at the end."""
    config = {"n_source": 9, "n_target": 7, "n_embd": 3, "n_hidden": 4} | config
    sizes = d.sizes(3, 3, 6)
    b, s, t = (given or size for given, size in zip((n_b, n_s, n_t), sizes, strict=True))
    state = Seq2Seq(**config).state_dict()
    weights = {name: d.normal(*value.shape, std=1.2) for name, value in state.items()}
    return config, weights, _sentences(d, b, s, 9), _sentences(d, b, t, 7, end=True)


def _sentences(d, b, n, n_vocab, end=False):
    """Draw ids (B, n) of different lengths, the first of them full; with `end`, EOS comes last."""
    ids = d.integers(EOS + 1, n_vocab, b, n)
    lengths = d.integers(1, n + 1, b)
    lengths[0] = n
    places = torch.arange(n)
    if end:
        ids = ids.masked_fill(places == lengths[:, None] - 1, EOS)
    return ids.masked_fill(places >= lengths[:, None], PAD)


def _teach(own, name, config, weights, source, target):
    """Score the words of a target; gradients of all parameters."""
    import torch

    model = getattr(own, name)(**config)
    model.load_state_dict(weights)
    given = [source, target]
    logits = model(*given)
    named = dict(model.named_parameters())
    seen = {"result": logits, "inputs": given, "parameter gradients": dict.fromkeys(named)}
    if isinstance(logits, torch.Tensor) and logits.requires_grad:
        push = torch.cos(torch.arange(logits.numel(), dtype=logits.dtype)).reshape(logits.shape)
        grads = torch.autograd.grad(logits, list(named.values()), push, allow_unused=True)
        seen["parameter gradients"] = dict(zip(named, grads, strict=True))
    return seen


def _second_batch(own, name, config, weights, source, target):
    """Teach and let write with two batches: the second must not know of the first."""
    import torch

    model = getattr(own, name)(**config)
    model.load_state_dict(weights)
    model.eval()
    with torch.no_grad():
        model(source, target), model.translate(source, 3)
        scored = model(source.flip(0), target.flip(0))
        return {"scored": scored, "written": model.translate(source.flip(0), 3)}


def _greedy(own, name, config, weights, source, n_max):
    """Let a translator write."""
    import torch

    model = getattr(own, name)(**config)
    model.load_state_dict(weights)
    model.eval()
    with torch.no_grad():
        return {"result": model.translate(source, n_max), "inputs": [source]}


def _writing(n_max=6, **options):
    """Draw a translator that writes sentences of different lengths, one of them cut."""

    def draw(d):
        return _found(int(d.integers(0, 2**40, 1)), n_max, tuple(options.items()))

    return draw


@cache  # the same case is drawn again for every slip
def _found(seed, n_max, options):
    for attempt in range(200):
        config, weights, source, _ = _translator(Draw(seed, attempt), **dict(options))
        weights["decoder.out.bias"][EOS] += 1.5
        model = Seq2Seq(**config)
        model.load_state_dict(weights)
        with torch.no_grad():
            ended = model.translate(source, n_max) == EOS
        ends = ended.int().argmax(1)[ended.any(1)]
        if ((ends > 0) & (ends < n_max - 2)).any() and (len(source) == 1 or not ended.any(1).all()):
            break
    return config, weights, source, n_max


SEQ2SEQ = Exercise(
    Seq2Seq,
    parts={"teacher forcing": 6, "greedy decoding": 7, GRADIENT: 2, ARGUMENTS: 1},
    cases=[
        Case("teacher forcing", "padded sentences", lambda d: _translator(d), _teach),
        Case("teacher forcing", "one sentence", lambda d: _translator(d, n_b=1), _teach),
        Case("greedy decoding", "one batch after another", _translator, _second_batch),
        Case("teacher forcing", "a target of one word", lambda d: _translator(d, n_t=1), _teach),
        Case(
            "teacher forcing",
            "one direction",
            lambda d: _translator(d, bidirectional=False),
            _teach,
        ),
        Case("teacher forcing", "a single vector", lambda d: _translator(d, attend=False), _teach),
        Case("greedy decoding", "sentences of different lengths", _writing(n_b=5), _greedy),
        Case("greedy decoding", "one sentence", _writing(n_b=1), _greedy),
        Case("greedy decoding", "a single vector", _writing(n_b=4, attend=False), _greedy),
        Case(
            "greedy decoding",
            "one word only",
            lambda d: (*_translator(d)[:3], 1),
            _greedy,
        ),
    ],
    slips=[
        Slip(
            "target not shifted",
            Seq2Seq.forward,
            "torch.cat([start, target[:, :-1]], 1)",
            "target + 0 * start",
            "The decoder reads the very word it should predict: the loss will fall to nothing and "
            "the translations will be garbage. Move the target one place to the right, SOS first.",
        ),
        Slip(
            "shifted to the left",
            Seq2Seq.forward,
            "torch.cat([start, target[:, :-1]], 1)",
            "torch.cat([target[:, 1:], start], 1)",
            "The target is moved to the left: the decoder reads the word after the one it should "
            "predict. SOS comes first, then y_1.",
        ),
        Slip(
            "last word first",
            Seq2Seq.forward,
            "torch.cat([start, target[:, :-1]], 1)",
            "target.roll(1, 1) + 0 * start",
            "`roll` moves the last word of the target to the front; the first one read is SOS.",
        ),
        Slip(
            "PAD for SOS",
            Seq2Seq.forward,
            "torch.full_like(target[:, :1], SOS)",
            "torch.full_like(target[:, :1], PAD)",
            "The decoder starts from PAD; it starts from SOS.",
        ),
        Slip(
            "EOS for SOS",
            Seq2Seq.forward,
            "torch.full_like(target[:, :1], SOS)",
            "torch.full_like(target[:, :1], EOS)",
            "The decoder starts from EOS; it starts from SOS.",
        ),
        Slip(
            "one logit too many",
            Seq2Seq.forward,
            "target[:, :-1]",
            "target",
            "The decoder reads T + 1 tokens: after the last word there is nothing to predict, so "
            "leave the last one out.",
        ),
        Slip(
            "nothing fed back",
            Seq2Seq.translate,
            "word = logits.argmax(-1).masked_fill(done, PAD)  # (B, 1)\n"
            "            done = done | (word == EOS)\n"
            "            written.append(word)",
            "new = logits.argmax(-1).masked_fill(done, PAD)\n"
            "            done = done | (new == EOS)\n"
            "            written.append(new)",
            "The decoder reads SOS at every step: feed back the word it has just written.",
        ),
        Slip(
            "state not carried on",
            Seq2Seq.translate,
            "logits, state, _ = self.decoder(",
            "logits, _, _ = self.decoder(",
            "Every step starts from the first state: keep the state that the decoder returns.",
        ),
        Slip(
            "goes on after EOS",
            Seq2Seq.translate,
            ".masked_fill(done, PAD)",
            "",
            "Sentences go on after their EOS; what follows must be PAD.",
        ),
        Slip(
            "EOS left out",
            Seq2Seq.translate,
            "word = logits.argmax(-1).masked_fill(done, PAD)  # (B, 1)\n"
            "            done = done | (word == EOS)",
            "done = done | (logits.argmax(-1) == EOS)\n"
            "            word = logits.argmax(-1).masked_fill(done, PAD)",
            "PAD stands where EOS should: EOS belongs to the sentence, PAD comes after it.",
        ),
        Slip(
            "all stop with the first",
            Seq2Seq.translate,
            "done = done | (word == EOS)",
            "done = done | (word == EOS).any()",
            "One sentence ends and all others stop: every row has an end of its own.",
        ),
        Slip(
            "starts from PAD",
            Seq2Seq.translate,
            "torch.full_like(source[:, :1], SOS)",
            "torch.full_like(source[:, :1], PAD)",
            "Writing starts from PAD; it starts from SOS, as in training.",
        ),
        Slip(
            "stops when all are done",
            Seq2Seq.translate,
            "for _ in range(n_max):",
            "for _ in (i for i in range(n_max) if not done.all()):",
            "Writing stops as soon as all sentences have ended, so there are fewer than n_max "
            "columns: fill up with PAD.",
        ),
    ],
    equivalent={
        "Seq2Seq.forward: torch.cat([start, target[:, :-1]], 1) -> "
        "torch.cat([start, target[:, :-1]], -1)": "ids have two axes: 1 is the last one",
        "Seq2Seq.translate: torch.cat(written, 1) -> torch.cat(written, -1)": "ids have two axes: "
        "1 is the last one",
    },
)


def puzzle() -> Puzzle:
    """Weights over a sentence of four words and two places of padding, masked after the softmax."""
    slip = next(s for s in MASKED.slips if s.name == "mask after the softmax")
    scores = Draw("alignment puzzle").normal(5, 6)
    mask = torch.tensor([True, True, True, True, False, False])
    weights = patched(slip)["masked_softmax"](scores, mask)
    return Puzzle(weights, "weights: 5 queries, 4 words, 2 of padding", "query", "place", sums=True)


WHICH_LINE = Choice(
    "which_line",
    points=8,
    right="c",
    answers={
        "a": "Without the mask the last two columns would not be empty, and every row would sum "
        "to one.",
        "b": "With the softmax over the queries every column of words would sum to one. Here no "
        "column does.",
        "c": "The padding has no weight, but the rows sum to less than one: it "
        "was part of the softmax, and its share was thrown away afterwards.",
        "d": "A score of 0 is not a weight of 0: the last two columns would be filled, and every "
        "row would sum to one.",
    },
)


def _both_memories(own, seed):
    """Train the small list repeaters with the translator under test."""
    from solutions.studies.echo import compare_memories

    right = compare_memories(own.Seq2Seq, seed)
    return {"attention": right["a state for every letter"], "single": right["a single vector"]}


def _what_the_memory_buys(measured: dict) -> str:
    gain = measured["attention"] - measured["single"]
    if abs(gain) > 0.25:
        return "b" if gain > 0 else "c"
    return "a" if measured["single"] > 0.5 else "d"


MEMORY = Conclusion(
    "what_the_memory_buys",
    points=12,
    probe=_both_memories,
    inputs=(0,),
    decide=_what_the_memory_buys,
    measures=[additive_scores, masked_softmax, context, AttentionDecoder, Seq2Seq],
    answers={
        letter: "With {whose} translator, {attention:.0%} of the lists came out right with "
        "attention, {single:.0%} through a single vector."
        for letter in "abcd"
    },
)

QUESTIONS = [ADDITIVE, MASKED, CONTEXT, DECODER, SEQ2SEQ, WHICH_LINE, MEMORY]
