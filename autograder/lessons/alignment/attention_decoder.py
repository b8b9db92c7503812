"""AttentionDecoder: the cases it is tried in, and the slips that are known."""

from autograder.checks.question import ARGUMENTS, GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from solutions.alignment import AttentionDecoder


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

    from autograder.seam.probe import push

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
        total = total + (part * push(part)).sum()
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


QUESTION = Exercise(
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
