"""GPT: the cases it is tried in, and the slips that are known."""

import inspect

from autograder.checks.question import GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.gpt.shared import drawn_config, drawn_weights
from solutions.gpt import GPT


def _scores(own, name, config, weights, ids):
    """Build a model, load its weights, score a text; what its parameters are and get."""
    import torch

    from autograder.seam.probe import push
    from solutions.gpt_block import GPTConfig

    model = getattr(own, name)(GPTConfig(**config))
    found = {k: tuple(v.shape) for k, v in model.named_parameters(remove_duplicate=False)}
    if found != {k: tuple(v.shape) for k, v in weights.items()}:
        return {"parameters": found}
    model.load_state_dict(weights, strict=False)  # a kept mask is no parameter
    model.eval()
    given = ids.clone()
    result = model(given)
    seen = {"parameters": found, "result": result, "inputs": given}
    named = dict(model.named_parameters())
    if isinstance(result, torch.Tensor) and result.requires_grad:
        learned = {k: p for k, p in named.items() if p.requires_grad}
        grads = torch.autograd.grad(
            (result * push(result)).sum(), learned.values(), allow_unused=True
        )
        tables = ("token.weight", "head.weight") if config["tied"] else ()
        found = dict(zip(learned, grads, strict=True))  # a shared table is looked at in `_tie`
        seen["parameter gradients"] = {k: found.get(k) for k in named if k not in tables}
    return seen


def _after_a_short_one(own, name, config, weights, ids):
    """Score the first token of every text, then the whole texts with the same model."""
    from solutions.gpt_block import GPTConfig

    model = getattr(own, name)(GPTConfig(**config))
    lacking = model.load_state_dict(weights, strict=False).unexpected_keys
    if lacking:
        return f"no parameter {lacking[0]}"
    model.eval()
    return [model(part).detach() for part in (ids[:, :1], ids)]


def _tie(own, name, config):
    """See whether reading and scoring share one table, and how many numbers are learned."""
    from solutions.gpt_block import GPTConfig

    model = getattr(own, name)(GPTConfig(**config))
    learned = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return {"one table": model.head.weight is model.token.weight, "learned": learned}


def _start(own, name, config):
    """Look at a new model: the spread of its weights, as against the asked one, and its biases."""
    import torch

    from solutions.gpt_block import GPTConfig

    torch.manual_seed(0)
    model = getattr(own, name)(GPTConfig(**config))

    def near(weight, std):
        return bool(0.7 < float(weight.std()) / std < 1.4)

    asked = ["token", "position", "dropout", "blocks", "norm", "head"]
    made = [part for part, _ in model.named_children() if part in asked]
    last, root = model.blocks[-1].feed_forward, (2 * config["n_layer"]) ** 0.5
    return {
        "tokens as asked": near(model.token.weight, config["std"]),
        "positions as asked": near(model.position.table.weight, config["std"]),
        "head as asked": near(model.head.weight, config["std"]),
        "matrices as asked": near(last.up.weight, config["std"]),
        "last matrices of the branches as asked": near(last.down.weight, config["std"] / root),
        "biases are zero": bool((last.up.bias == 0).all()),
        "parts made in the order asked": made == sorted(made, key=asked.index),
        "config": model.config.n_embd,
    }


def _positions(own, name, config):
    """See whether a model has positions of its own."""
    from solutions.gpt_block import GPTConfig

    return {"position is None": getattr(own, name)(GPTConfig(**config)).position is None}


def _all_dropped(own, name, config, weights, ids):
    """Train with a dropout of 1, but not in the blocks: what is left is what comes after it."""
    from solutions.gpt_block import GPTConfig

    model = getattr(own, name)(GPTConfig(**config))
    lacking = model.load_state_dict(weights, strict=False).unexpected_keys
    if lacking:
        return f"no parameter {lacking[0]}"
    model.train()
    for block in model.blocks:
        block.dropout.p = block.attention.dropout = 0.0
    return model(ids).detach()


def _text(d, b=None, t=None, **options):
    config = drawn_config(d, **options)
    n, long = b or d.sizes(1, 2, 4)[0], t or max(2, config["block_size"] - 1)
    return config, drawn_weights(d, config), d.integers(0, config["vocab_size"], n, long)


def _full(d):
    config = drawn_config(d, block_size=5)
    return config, drawn_weights(d, config), d.integers(0, config["vocab_size"], 2, 5)


FORWARD = inspect.getsource(GPT.forward).rpartition('"""')[2].strip()  # without the docstring


HEAD = (
    "        self.head = nn.Linear(config.n_embd, config.vocab_size, bias=False)\n"
    "        if config.tied:\n            self.head.weight = self.token.weight\n"
)


QUESTION = Exercise(
    GPT,
    parts={"values": 12, "tied table": 4, "newer parts": 4, "start and dropout": 3, GRADIENT: 4},
    cases=[
        Case("values", "a batch of texts", _text, _scores),
        Case("values", "one token", lambda d: _text(d, t=1), _scores),
        Case("values", "one text of three blocks", lambda d: _text(d, b=1, n_layer=3), _scores),
        Case("values", "as long as can be", _full, _scores),
        Case(
            "values",
            "a text after a short one",
            lambda d: _text(d, block_size=5, t=4),
            _after_a_short_one,
        ),
        Case("tied table", "a tied model", lambda d: (drawn_config(d, tied=True),), _tie),
        Case("tied table", "an untied model", lambda d: (drawn_config(d),), _tie),
        Case("tied table", "scores of a tied model", lambda d: _text(d, tied=True), _scores),
        Case("newer parts", "rotary", lambda d: _text(d, positions="rotary"), _scores),
        Case(
            "newer parts",
            "rotary, no table",
            lambda d: (drawn_config(d, positions="rotary"),),
            _positions,
        ),
        Case("newer parts", "RMSNorm", lambda d: _text(d, norm="rms"), _scores),
        Case(
            "start and dropout",
            "a new model",
            lambda d: (drawn_config(d, n_embd=32, vocab_size=40),),
            _start,
        ),
        Case(
            "start and dropout",
            "everything dropped",
            lambda d: _text(d, dropout=1.0),
            _all_dropped,
        ),
        Case(
            "start and dropout",
            "everything dropped, rotary",
            lambda d: _text(d, dropout=1.0, positions="rotary"),
            _all_dropped,
        ),
        Case("start and dropout", "at rest", lambda d: _text(d, dropout=1.0), _scores),
    ],
    slips=[
        Slip(
            "tied weights copied",
            GPT.__init__,
            "self.head.weight = self.token.weight",
            "self.head.weight = nn.Parameter(self.token.weight.detach().clone())",
            "The head has a table of its own, perhaps a copy: the two go separate ways from the "
            "first step on. Assign the parameter itself: head.weight = token.weight.",
        ),
        Slip(
            "always tied",
            GPT.__init__,
            "if config.tied:",
            "if True:",
            "The head shares the token table although config.tied is False.",
        ),
        Slip(
            "one block repeated",
            GPT.__init__,
            "nn.ModuleList(Block(config) for _ in range(config.n_layer))",
            "nn.ModuleList([Block(config)] * config.n_layer)",
            "All layers are one and the same block: [Block(config)] * n repeats a reference. Make "
            "a new Block for every layer.",
        ),
        Slip(
            "a plain list of blocks",
            GPT.__init__,
            "nn.ModuleList(Block(config) for _ in range(config.n_layer))",
            "[Block(config) for _ in range(config.n_layer)]",
            "The blocks are in a plain list, so PyTorch does not see their parameters: use "
            "nn.ModuleList.",
        ),
        Slip(
            "head with a bias",
            GPT.__init__,
            "bias=False",
            "bias=True",
            "The head has a bias; it is asked for without.",
        ),
        Slip(
            "weights not drawn",
            GPT.__init__,
            "        draw_weights(self, config)",
            "        pass",
            "The starting weights are PyTorch's own: call draw_weights(self, config) at the end.",
        ),
        Slip(
            "weights drawn too early",
            GPT.__init__,
            HEAD + "        draw_weights(self, config)\n",
            "        draw_weights(self, config)\n" + HEAD,
            "The head still has PyTorch's own starting weights. draw_weights reaches the parts "
            "that are there when it is called: call it at the end.",
        ),
        Slip(
            "a position table although rotary",
            GPT.__init__,
            'learned = config.positions == "learned"',
            "learned = True",
            "With rotary positions the blocks turn queries and keys themselves; there is no table.",
        ),
        Slip(
            "a layer for no positions",
            GPT.__init__,
            "if learned else None",
            "if learned else nn.Identity()",
            "With rotary positions `position` is a layer that does nothing; asked for is None, "
            "which says that there are none.",
        ),
        Slip(
            "parts in another order",
            GPT.__init__,
            "self.config = config\n",
            "self.config = config; self.head = nn.Identity()  # its place is the first now\n",
            "The parts are made in another order than asked for, and the same seed starts from "
            "other weights. The order: token, position, dropout, blocks, norm, head.",
        ),
        Slip(
            "no positions",
            GPT.forward,
            "if self.position is not None:",
            "if False:",
            "The positions are not added to the tokens.",
        ),
        Slip(
            "dropout missing",
            GPT.forward,
            "x = self.dropout(x)",
            "x = x",
            "The dropout is not applied to the embedded text.",
        ),
        Slip(
            "no dropout where rotary",
            GPT.forward,
            "x = self.dropout(x)",
            "x = x if self.position is None else self.dropout(x)",
            "Without a position table the dropout is left out: it comes after the `if`, on the "
            "embedded text of every model.",
        ),
        Slip(
            "no mask",
            GPT.forward,
            "causal_mask(ids.size(-1))",
            "causal_mask(ids.size(-1)).fill_(True)",
            "Every token sees the whole text, also the token it should predict: pass the causal "
            "mask to every block.",
        ),
        Slip(
            "mask off by one, ahead",
            GPT.forward,
            "causal_mask(ids.size(-1))",
            "torch.ones(ids.size(-1), ids.size(-1), dtype=torch.bool).tril(1)",
            "The mask is off by one: every token sees the next, which is the answer. The diagonal "
            "is the last place it may look at.",
        ),
        Slip(
            "mask off by one, behind",
            GPT.forward,
            "causal_mask(ids.size(-1))",
            "torch.ones(ids.size(-1), ids.size(-1), dtype=torch.bool).tril(-1)",
            "The mask is off by one: a token may not look at itself, and the first at nothing.",
        ),
        Slip(
            "mask inverted",
            GPT.forward,
            "causal_mask(ids.size(-1))",
            "~causal_mask(ids.size(-1))",
            "The mask is the wrong way round: True means that looking is allowed.",
        ),
        Slip(
            "mask kept from the first text",
            GPT.forward,
            "mask = causal_mask(ids.size(-1)).to(ids.device)",
            'mask = vars(self).setdefault("kept", causal_mask(ids.size(-1)))',
            "The mask of the first text is kept and used for all later ones, whatever their "
            "length: make it in every call.",
        ),
        Slip(
            "one block only",
            GPT.forward,
            "for block in self.blocks:",
            "for block in self.blocks[:1]:",
            "Only one block is used: what a block returns goes into the next.",
        ),
        Slip(
            "dropout after the blocks",
            GPT.forward,
            FORWARD,
            FORWARD.replace("x = self.dropout(x)", "pass").replace("(x))", "(self.dropout(x)))"),
            "The dropout comes after the blocks: it belongs on the sum of tokens and positions, "
            "before the first block.",
        ),
        Slip(
            "dropout never rests",
            GPT.forward,
            "self.dropout(x)",
            "nn.functional.dropout(x, self.config.dropout)",
            "In evaluation the dropout is still at work, and the same text gets other scores "
            "every time: use the nn.Dropout of __init__, which rests then.",
        ),
        Slip(
            "blocks in reverse",
            GPT.forward,
            "for block in self.blocks:",
            "for block in reversed(self.blocks):",
            "The blocks are gone through from the last to the first.",
        ),
        Slip(
            "last norm missing",
            GPT.forward,
            "self.head(self.norm(x))",
            "self.head(x)",
            "The last norm is missing. In a pre-norm model nobody else normalises the stream "
            "before the head (lesson `layer_norm`).",
        ),
        Slip(
            "softmax at the end",
            GPT.forward,
            "return self.head(self.norm(x))",
            "return self.head(self.norm(x)).softmax(-1)",
            "These are probabilities; scores are asked for. The loss does the softmax.",
        ),
        Slip(
            "scores of the last place only",
            GPT.forward,
            "return self.head(self.norm(x))",
            "return self.head(self.norm(x))[:, -1:]",
            "Only the last place is scored. Training needs the scores at every place.",
        ),
    ],
    equivalent={
        "GPT.forward: causal_mask(ids.size(-1)).to(ids.device) -> causal_mask(ids.size(-1))": "the "
        "checks run on the CPU, where the mask is made anyway",
        "GPT.forward: ids.size(-1) -> ids.size(1)": "ids have two axes: the second is the last",
    },
)
