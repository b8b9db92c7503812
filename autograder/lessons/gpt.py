"""gpt: the loss of the next token, perplexity, the model, its size, one step of training."""

import inspect

import torch

from autograder.exercise import GRADIENT, Case, Choice, Conclusion, Draw, Exercise, args
from autograder.puzzle import Puzzle
from autograder.slips import Slip, patched
from solutions.gpt import GPT, n_parameters, next_token_loss, perplexity, train_step
from solutions.gpt_block import GPTConfig


def _loss(own, name, table, place, ids, padding):
    """Ask for the loss of a small model that looks at a token and its place, and its gradients.

    The model has places for T tokens; what it reads beyond them is told, not refused.
    """
    import torch

    leaves = [table.clone().requires_grad_(), place.clone().requires_grad_()]
    longest = [0]

    def model(ids):
        longest.append(ids.size(1))
        return leaves[0][ids] + leaves[1][torch.arange(ids.size(1)).clamp(max=len(place) - 1)]

    given = ids.clone()
    keywords = {} if padding is None else {"padding": padding}
    loss = getattr(own, name)(model, given, **keywords)
    grads = [None, None]
    if isinstance(loss, torch.Tensor) and loss.requires_grad and loss.numel() == 1:
        grads = list(torch.autograd.grad(loss.sum(), leaves, allow_unused=True))
    result = loss.detach() if isinstance(loss, torch.Tensor) else loss
    seen = {"result": result, "tokens the model was given": max(longest)}
    return seen | {"gradients": grads, "inputs": given}


def _texts(b=None, t=None, v=None, padding=None, dtype=torch.float32):
    def draw(d):
        sizes = d.sizes(3, 3, 8)
        n, long, words = b or sizes[0], t or sizes[1], v or sizes[2]
        ids = d.integers(0, words, n, long + 1)
        if padding is not None:
            ids[ids == padding] = (padding + 1) % words
            for row in range(1, n):  # the first row is full, the others are not
                ids[row, 2 + (row - 1) % (long - 1) :] = padding
        table, place = d.normal(words, words, dtype=dtype), d.normal(long, words, dtype=dtype)
        return table, place, ids, padding

    return draw


def _sure(d):
    """Draw scores so far apart that the probabilities of most tokens round to 0."""
    table, place, ids, padding = _texts()(d)
    return 60 * table, place, ids, padding


def _padding_in_front(d):
    table, place, ids, _ = _texts(b=4, t=6, v=5)(d)
    ids[ids == 0] = 1
    ids[0, :2] = ids[1, 3] = ids[2, 4:] = 0
    return table, place, ids, 0


LOSS_LINE = "return F.cross_entropy(scores.flatten(0, 1), targets.flatten(), ignore_index=ignored)"

LOSS = Exercise(
    next_token_loss,
    parts={"values": 7, "padding": 5, GRADIENT: 3},
    cases=[
        Case("values", "a batch of texts", _texts(), _loss),
        Case("values", "one text", _texts(b=1), _loss),
        Case("values", "two tokens a text", _texts(t=1), _loss),
        Case("values", "as many texts as tokens", _texts(b=4, t=4, v=6), _loss),
        Case("values", "float64", _texts(dtype=torch.float64), _loss),
        Case("values", "a model that is very sure", _sure, _loss),
        Case("padding", "texts of different length", _texts(b=4, t=5, v=7, padding=0), _loss),
        Case("padding", "padding that is not 0", _texts(b=3, t=6, v=5, padding=4), _loss),
        Case("padding", "padding in front and inside", _padding_in_front, _loss),
    ],
    slips=[
        Slip(
            "targets not shifted",
            next_token_loss,
            "ids[:, 1:]",
            "ids[:, :-1]",
            "The targets are the tokens the model has just read. The scores at place t are for the "
            "token at place t + 1: ids[:, 1:].",
        ),
        Slip(
            "shifted the wrong way",
            next_token_loss,
            "model(ids[:, :-1]), ids[:, 1:]",
            "model(ids[:, 1:]), ids[:, :-1]",
            "The model reads the later tokens and is asked for the earlier ones: it reads "
            "ids[:, :-1], and the targets are ids[:, 1:].",
        ),
        Slip(
            "the last token read too",
            next_token_loss,
            "model(ids[:, :-1])",
            "model(ids)[:, :-1]",
            "The model is given all T + 1 ids, and one with places for T cannot read them. It "
            "reads ids[:, :-1]; the last id is only a target.",
        ),
        Slip(
            "padding 0 taken for none",
            next_token_loss,
            "-100 if padding is None else padding",
            "padding or -100",
            "Padding 0 is taken for no padding, for 0 counts as False: ask `padding is None`.",
        ),
        Slip(
            "logarithm after the softmax",
            next_token_loss,
            LOSS_LINE,
            "return F.nll_loss(scores.softmax(-1).log().flatten(0, 1), targets.flatten(), "
            "ignore_index=ignored)",
            "A small probability is rounded to 0 before its logarithm is taken, and the loss is "
            "infinite. Use log_softmax or cross_entropy, which take the logarithm first.",
        ),
        Slip(
            "softmax before the cross-entropy",
            next_token_loss,
            "scores.flatten(0, 1)",
            "scores.softmax(-1).flatten(0, 1)",
            "F.cross_entropy takes scores and does the softmax itself. Given probabilities it does "
            "a second one, and the loss cannot come near zero.",
        ),
        Slip(
            "flattened along the wrong axis",
            next_token_loss,
            "scores.flatten(0, 1)",
            "scores.transpose(0, 1).flatten(0, 1)",
            "Scores and targets are flattened in different orders, so a score meets another "
            "text's target: both must run over (B, T) in this order.",
        ),
        Slip(
            "padding counted",
            next_token_loss,
            "-100 if padding is None else padding",
            "-100",
            "Targets that are padding count like words. They are easy to predict, and flatter the "
            "loss: leave them out.",
        ),
        Slip(
            "padding in the number of targets",
            next_token_loss,
            LOSS_LINE,
            LOSS_LINE.replace("=ignored)", '=ignored, reduction="sum") / targets.numel()'),
            "The padding is left out of the sum, but still counted in the number you divide by.",
        ),
        Slip(
            "padding looked for in the inputs",
            next_token_loss,
            LOSS_LINE,
            "return F.cross_entropy(scores.flatten(0, 1), "
            "targets.masked_fill(ids[:, :-1] == ignored, -100).flatten())",
            "Places are left out where the model reads padding; it is the target that decides. The "
            "first padding of a text is a target too.",
        ),
        Slip(
            "0 is always padding",
            next_token_loss,
            "-100 if padding is None else padding",
            "0",
            "Targets with id 0 never count. Where `padding` is None every target counts; else "
            "those equal to `padding` are left out.",
        ),
        Slip(
            "mean of the texts' means",
            next_token_loss,
            LOSS_LINE,
            "return (F.cross_entropy(scores.mT, targets, ignore_index=ignored, "
            'reduction="none").sum(1) / (targets != ignored).sum(1)).mean()',
            "Every text has the same weight, so a token of a short text counts more. Average over "
            "all tokens at once.",
        ),
        Slip(
            "sum instead of mean",
            next_token_loss,
            LOSS_LINE,
            LOSS_LINE.replace("=ignored)", '=ignored, reduction="sum")'),
            "The surprises are added up: divide by the number of targets.",
        ),
        Slip(
            "summed over a text",
            next_token_loss,
            LOSS_LINE,
            LOSS_LINE.replace("=ignored)", '=ignored, reduction="sum") / ids.size(0)'),
            "This is the mean over texts of their summed surprise: divide by the number of "
            "targets, not of texts.",
        ),
        Slip(
            "only the last token",
            next_token_loss,
            "scores, targets = model(ids[:, :-1]), ids[:, 1:]",
            "scores, targets = model(ids[:, :-1])[:, -1:], ids[:, -1:]",
            "Only the last token of each text is predicted. The model scores a next token at every "
            "place, and all of them count.",
        ),
        Slip(
            "bits instead of nats",
            next_token_loss,
            LOSS_LINE,
            LOSS_LINE + " / 0.6931471805599453",
            "This is in bits: the natural logarithm is asked for, which F.cross_entropy has.",
        ),
        Slip(
            "no gradient",
            next_token_loss,
            "scores.flatten(0, 1)",
            "scores.detach().flatten(0, 1)",
            "The value is right but no gradient reaches the model: is there a detach(), .data or "
            ".item()?",
        ),
    ],
    equivalent={
        f"next_token_loss: -100 if padding is None else padding -> {other} if padding is None "
        "else padding": "any number that is no id will do"
        for other in (-101, -99, 100)
    },
)


def _batches(n, equal=False, empty=False):
    def draw(d):
        losses = d.normal(n, std=0.8).abs() + 0.5
        counts = torch.full((n,), 7) if equal else torch.arange(n).mul(11) + d.integers(2, 9, n)
        if empty:
            counts[0] = 0
        return *args(losses, counts), False  # nobody learns from a perplexity

    return draw


PERPLEXITY = Exercise(
    perplexity,
    parts={"values": 8},
    cases=[
        Case("values", "batches of different size", _batches(4)),
        Case("values", "batches of equal size", _batches(3, equal=True)),
        Case("values", "one batch", _batches(1)),
        Case("values", "a batch without tokens", _batches(3, empty=True)),
    ],
    slips=[
        Slip(
            "perplexity averaged over batches",
            perplexity,
            "torch.exp((losses * counts).sum() / counts.sum())",
            "torch.exp(losses).mean()",
            "Every batch's perplexity is worked out, then they are averaged. Average the losses, "
            "token by token, and take e to that once.",
        ),
        Slip(
            "perplexity averaged over tokens",
            perplexity,
            "torch.exp((losses * counts).sum() / counts.sum())",
            "(torch.exp(losses) * counts).sum() / counts.sum()",
            "The perplexities are averaged; average the losses, and take e to that once.",
        ),
        Slip(
            "batches weigh the same",
            perplexity,
            "(losses * counts).sum() / counts.sum()",
            "losses.mean()",
            "Every batch has the same weight. A batch of ten tokens should count a tenth of one of "
            "a hundred.",
        ),
        Slip(
            "powers of two",
            perplexity,
            "torch.exp(",
            "torch.exp2(",
            "2 to the loss would be right for bits; the losses are in nats: e to the loss.",
        ),
        Slip(
            "the loss itself",
            perplexity,
            "torch.exp((losses * counts).sum() / counts.sum())",
            "(losses * counts).sum() / counts.sum()",
            "This is the mean loss; the perplexity is e to it.",
        ),
        Slip(
            "divided by the number of batches",
            perplexity,
            "/ counts.sum()",
            "/ len(counts)",
            "The summed surprise is divided by the number of batches: divide by that of tokens.",
        ),
        Slip(
            "one over perplexity",
            perplexity,
            "torch.exp(",
            "torch.exp(-",
            "This is the typical probability of a token, one over the perplexity: mind the sign.",
        ),
    ],
)


def _scores(own, name, config, weights, ids):
    """Build a model, load its weights, score a text; what its parameters are and get."""
    import torch

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
        push = torch.cos(torch.arange(result.numel(), dtype=result.dtype)).reshape(result.shape)
        learned = {k: p for k, p in named.items() if p.requires_grad}
        grads = torch.autograd.grad((result * push).sum(), learned.values(), allow_unused=True)
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

    last, root = model.blocks[-1].feed_forward, (2 * config["n_layer"]) ** 0.5
    return {
        "tokens as asked": near(model.token.weight, config["std"]),
        "positions as asked": near(model.position.table.weight, config["std"]),
        "head as asked": near(model.head.weight, config["std"]),
        "matrices as asked": near(last.up.weight, config["std"]),
        "last matrices of the branches as asked": near(last.down.weight, config["std"] / root),
        "biases are zero": bool((last.up.bias == 0).all()),
        "config": model.config.n_embd,
    }


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


def _config(d, **options) -> dict:
    v, block, head = d.sizes(3, 3, 8)
    sizes = {"vocab_size": v, "block_size": block, "n_layer": 2, "n_head": 2, "n_embd": 2 * head}
    config = {**sizes, "std": 0.3, "positions": "learned", "norm": "layer", "tied": False}
    if options.get("positions") == "rotary":
        config["n_embd"] = 8
    return {**config, **options}


def _weights(d, config: dict) -> dict:
    shapes = GPT(GPTConfig(**config)).state_dict()
    weights = {
        k: d.normal(*v.shape, std=0.6 if v.ndim > 1 else 1.0) + 0.5 * ("norm" in k)
        for k, v in shapes.items()
    }
    if config["tied"]:
        weights["head.weight"] = weights["token.weight"]
    return weights


def _text(d, b=None, t=None, **options):
    config = _config(d, **options)
    n, long = b or d.sizes(1, 2, 4)[0], t or max(2, config["block_size"] - 1)
    return config, _weights(d, config), d.integers(0, config["vocab_size"], n, long)


def _full(d):
    config = _config(d, block_size=5)
    return config, _weights(d, config), d.integers(0, config["vocab_size"], 2, 5)


FORWARD = inspect.getsource(GPT.forward).rpartition('"""')[2].strip()  # without the docstring
HEAD = (
    "        self.head = nn.Linear(config.n_embd, config.vocab_size, bias=False)\n"
    "        if config.tied:\n            self.head.weight = self.token.weight\n"
)

MODEL = Exercise(
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
        Case("tied table", "a tied model", lambda d: (_config(d, tied=True),), _tie),
        Case("tied table", "an untied model", lambda d: (_config(d),), _tie),
        Case("tied table", "scores of a tied model", lambda d: _text(d, tied=True), _scores),
        Case("newer parts", "rotary", lambda d: _text(d, positions="rotary"), _scores),
        Case("newer parts", "RMSNorm", lambda d: _text(d, norm="rms"), _scores),
        Case(
            "start and dropout",
            "a new model",
            lambda d: (_config(d, n_embd=32, vocab_size=40),),
            _start,
        ),
        Case(
            "start and dropout",
            "everything dropped",
            lambda d: _text(d, dropout=1.0),
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


def _count(own, name, config):
    """Ask for the number, and see whether a model was built for it (on `meta` it costs nothing)."""
    from torch.nn.modules.module import register_module_parameter_registration_hook as watch

    from solutions.gpt_block import GPTConfig

    built = []
    handle = watch(lambda module, name, new: built.append(new.device.type))
    try:
        found = getattr(own, name)(GPTConfig(**config))
    finally:
        handle.remove()
    return {"count": found, "a model was built": any(kind != "meta" for kind in built)}


def _sizes(**options):
    def draw(d):
        v, t, layers, head = d.sizes(4, 3, 11)
        sizes = {"vocab_size": v, "block_size": t, "n_layer": layers, "n_head": 2}
        return ({**sizes, "n_embd": 2 * head, "tied": True, **options},)

    return draw


SIZE = Exercise(
    n_parameters,
    parts={"GPT-2's layout": 8, "newer parts": 4},
    cases=[
        Case("GPT-2's layout", "small numbers", _sizes(), _count),
        Case("GPT-2's layout", "one layer", _sizes(n_layer=1), _count),
        Case(
            "GPT-2's layout",
            "GPT-2 small",
            _sizes(vocab_size=50257, block_size=1024, n_layer=12, n_head=12, n_embd=768),
            _count,
        ),
        Case("newer parts", "two tables", _sizes(tied=False), _count),
        Case("newer parts", "rotary positions", _sizes(positions="rotary"), _count),
        Case("newer parts", "RMSNorm", _sizes(norm="rms"), _count),
        Case(
            "newer parts",
            "all of them together",
            _sizes(tied=False, positions="rotary", norm="rms"),
            _count,
        ),
    ],
    slips=[
        Slip(
            "a model is built",
            n_parameters,
            "return tables + positions",
            "return sum(p.numel() for p in GPT(config).parameters()) or tables + positions",
            "A model is built to count its parameters. GPT-3's would fill 700 GB: count from the "
            "config alone.",
        ),
        Slip(
            "tied table counted twice",
            n_parameters,
            "(1 if config.tied else 2)",
            "2",
            "The head of a tied model is the token table: count it once.",
        ),
        Slip(
            "head of an untied model forgotten",
            n_parameters,
            "(1 if config.tied else 2)",
            "1",
            "Without config.tied the head has V * C numbers of its own.",
        ),
        Slip(
            "positions forgotten",
            n_parameters,
            'config.block_size * c if config.positions == "learned" else 0',
            "0",
            "The learned positions, block_size * C numbers, are not counted.",
        ),
        Slip(
            "positions although rotary",
            n_parameters,
            'config.block_size * c if config.positions == "learned" else 0',
            "config.block_size * c",
            "Rotary positions are not learned: they add nothing.",
        ),
        Slip(
            "last norm forgotten",
            n_parameters,
            "feed_forward) + norm",
            "feed_forward)",
            "The norm after the last block is not counted.",
        ),
        Slip(
            "biases of the matrices forgotten",
            n_parameters,
            "attention = 4 * (c * c + c)\n    feed_forward = (c * 4 * c + 4 * c) + (4 * c * c + c)",
            "attention = 4 * (c * c)\n    feed_forward = (c * 4 * c) + (4 * c * c)",
            "The matrices are counted without their biases: 4 C in the attention, 5 C in the "
            "feed-forward layer.",
        ),
        Slip(
            "biases of the attention forgotten",
            n_parameters,
            "4 * (c * c + c)",
            "4 * (c * c)",
            "The four matrices of the attention have biases too, C numbers each.",
        ),
        Slip(
            "output projection forgotten",
            n_parameters,
            "4 * (c * c + c)",
            "3 * (c * c + c)",
            "The attention has four matrices: queries, keys, values and the output projection.",
        ),
        Slip(
            "one norm a block",
            n_parameters,
            "2 * norm",
            "norm",
            "A block has two norms, one for each branch.",
        ),
        Slip(
            "norms forgotten",
            n_parameters,
            "config.n_layer * (2 * norm + attention + feed_forward) + norm",
            "config.n_layer * (attention + feed_forward)",
            "The norms are not counted: two in every block, and one at the end.",
        ),
        Slip(
            "gains without biases",
            n_parameters,
            '(1 if config.norm == "rms" else 2)',
            "1",
            "A LayerNorm has a gain and a bias, 2 C numbers; only RMSNorm does without the bias.",
        ),
        Slip(
            "RMSNorm with a bias",
            n_parameters,
            '(1 if config.norm == "rms" else 2)',
            "2",
            "RMSNorm has a gain only: C numbers.",
        ),
        Slip(
            "attention counted per head",
            n_parameters,
            "4 * (c * c + c)",
            "config.n_head * 4 * (c * c + c)",
            "The heads share the width out among them: H heads of C / H columns need the same "
            "four C x C matrices as one.",
        ),
        Slip(
            "one block only",
            n_parameters,
            "config.n_layer * (2",
            "(2",
            "Only one block is counted; there are n_layer.",
        ),
    ],
)


def _steps(own, name, table, mixing, batches, rate, keywords, dropout, left_over=0.0):
    """Take a few steps with a model that knows pairs of tokens; see losses and weights.

    The optimiser has two groups of parameters, of which the second goes at half the rate.
    left_over: what stands in all gradients before the first step, from somebody else's backward.
    """
    import torch
    from torch import nn

    mix = nn.Linear(*mixing.shape, bias=False)
    model = nn.Sequential(nn.Embedding(*table.shape), nn.Dropout(dropout), mix)
    for weight, value in zip(model.parameters(), (table, mixing), strict=True):
        weight.data.copy_(value)
        weight.grad = torch.full_like(value, left_over)
    model.eval()
    groups = [{"params": [model[0].weight]}, {"params": [mix.weight], "lr": rate / 2}]
    optimiser = torch.optim.SGD(groups, lr=rate)
    losses = [getattr(own, name)(model, optimiser, ids, **keywords) for ids in batches]
    kinds = [type(loss).__name__ for loss in losses]
    plain = [float(loss) if isinstance(loss, int | float) else 0.0 for loss in losses]
    left = [weight.detach() for weight in model.parameters()]
    return {"kinds": kinds, "losses": plain, "weights": left}


def _learning(n=1, rate=1.0, dropout=0.0, padding=None, left_over=0.0, **keywords):
    def draw(d):
        v, b, t = d.sizes(3, 3, 7)
        batches = [d.integers(0, v, b, t + 1) for _ in range(n)]
        if padding is not None:
            for ids in batches:
                ids[:, t // 2 + 1 :] = padding
        options = {**keywords, **({} if padding is None else {"padding": padding})}
        tables = d.normal(v, v), torch.eye(v) + d.normal(v, v, std=0.2)
        return *tables, batches, rate, options, dropout, left_over

    return draw


def _great_surprise(d):
    """One pair of tokens, the second least expected: a gradient longer than 1."""
    table = d.normal(5, 5, std=4.0)
    ids = torch.tensor([[2, int(table[2].argmin())]])
    return table, torch.eye(5), [ids], 1.0, {}, 0.0


STEP = Exercise(
    train_step,
    parts={"one step": 6, "step after step": 4, "clipping and padding": 3},
    cases=[
        Case("one step", "one batch", _learning(clip=100.0), _steps),
        Case("one step", "in training mode", _learning(dropout=1.0), _steps),
        Case("step after step", "three batches", _learning(3, clip=100.0), _steps),
        Case("step after step", "left over", _learning(2, clip=100.0, left_over=0.3), _steps),
        Case("clipping and padding", "a short leash", _learning(2, clip=0.05), _steps),
        Case("clipping and padding", "the usual leash", _great_surprise, _steps),
        Case("clipping and padding", "padded texts", _learning(2, padding=0, clip=9.0), _steps),
    ],
    slips=[
        Slip(
            "gradients not cleared",
            train_step,
            "    optimiser.zero_grad()",
            "    pass",
            "The gradients of earlier batches are still there, and backward adds to them: call "
            "optimiser.zero_grad() before it.",
        ),
        Slip(
            "cleared only after the step",
            train_step,
            "    optimiser.zero_grad()\n    loss.backward()\n"
            "    nn.utils.clip_grad_norm_(model.parameters(), clip)\n    optimiser.step()",
            "    loss.backward()\n    nn.utils.clip_grad_norm_(model.parameters(), clip)\n"
            "    optimiser.step()\n    optimiser.zero_grad()",
            "The gradients are cleared after the step, and what stood in them before your first "
            "step is learned too: call optimiser.zero_grad() before backward.",
        ),
        Slip(
            "the weights do not move",
            train_step,
            "    optimiser.zero_grad()\n    loss.backward()",
            "    loss.backward()\n    optimiser.zero_grad()",
            "The weights stay as they are: the gradients are cleared after backward, or the "
            "optimiser takes no step.",
        ),
        Slip(
            "clipped before backward",
            train_step,
            "    loss.backward()\n    nn.utils.clip_grad_norm_(model.parameters(), clip)",
            "    nn.utils.clip_grad_norm_(model.parameters(), clip)\n    loss.backward()",
            "The gradients are not clipped when the step is taken: clip them after backward and "
            "before optimiser.step().",
        ),
        Slip(
            "clipped number by number",
            train_step,
            "nn.utils.clip_grad_norm_(model",
            "nn.utils.clip_grad_value_(model",
            "Every number of the gradient is clipped by itself, which changes its direction: scale "
            "all down together (clip_grad_norm_).",
        ),
        Slip(
            "each matrix clipped by itself",
            train_step,
            "nn.utils.clip_grad_norm_(model.parameters(), clip)",
            "_ = [nn.utils.clip_grad_norm_(p, clip) for p in model.parameters()]",
            "Each parameter's gradient is clipped by itself, which changes the direction of the "
            "step: their joint length counts. Give clip_grad_norm_ all parameters at once.",
        ),
        Slip(
            "always clipped to 1",
            train_step,
            "(model.parameters(), clip)",
            "(model.parameters(), 1.0)",
            "The gradients are clipped to 1 whatever `clip` says.",
        ),
        Slip(
            "evaluation mode",
            train_step,
            "model.train()",
            "model.eval()",
            "The model learns in evaluation mode, without its dropout; it may come from an "
            "evaluation: call model.train() first.",
        ),
        Slip(
            "a tensor returned",
            train_step,
            "loss.item()",
            "loss",
            "A tensor comes back, which may hold on to all that was computed: return a number, "
            "loss.item().",
        ),
        Slip(
            "loss after the step",
            train_step,
            "return loss.item()",
            "return next_token_loss(model, ids, padding).item()",
            "The loss is measured again after the step, on the batch just learned from: return "
            "the one before.",
        ),
        Slip(
            "padding not passed on",
            train_step,
            "next_token_loss(model, ids, padding)",
            "next_token_loss(model, ids)",
            "`padding` is not passed on to the loss.",
        ),
        Slip(
            "two steps",
            train_step,
            "    optimiser.step()",
            "    optimiser.step(); optimiser.step()",
            "The optimiser takes two steps for one batch.",
        ),
    ],
)


def puzzle() -> Puzzle:
    """How strongly each token acts on each score, where the mask is off by one."""
    slip = next(s for s in MODEL.slips if s.name == "mask off by one, ahead")
    draw = Draw("puzzle 10")
    config = {**_config(draw, n_embd=12, block_size=6, vocab_size=7)}
    model = patched(slip)["GPT"](GPTConfig(**config))
    model.load_state_dict(_weights(draw, config))
    ids = draw.integers(0, 7, 1, 6)

    def influence(t):
        leaf = model.token.weight.detach()[ids].requires_grad_()
        handle = model.token.register_forward_hook(lambda *_: leaf)
        model(ids)[0, t].norm().backward()
        handle.remove()
        return leaf.grad[0].norm(dim=-1)

    table = torch.stack([influence(t) for t in range(6)])
    title = "how strongly token s acts on the scores at place t (two blocks)"
    return Puzzle(table / table.amax(1, keepdim=True), title, "place t", "token s")


WHICH_LINE = Choice(
    "which_line",
    points=7,
    right="c",
    answers={
        "a": "Without a mask every token would act on every place: no cell would be empty.",
        "b": "With the mask the wrong way round the cells below the diagonal would be empty, "
        "not those far above it.",
        "c": "With `tril(1)` every block looks one token too far ahead. Two blocks, and what is "
        "two tokens ahead arrives: the model reads its answer.",
        "d": "Where the loss is taken does not change what acts on the scores: with a right mask "
        "the picture would be empty above the diagonal.",
    },
)


def _noise(own, n_token, steps):
    """Train on pure noise, with the targets shifted and not; the last ten losses, and the floor."""
    import math

    import torch
    from torch.nn import functional as F

    from solutions.gpt_block import GPTConfig

    def unshifted(model, ids):
        return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, :-1].flatten())

    measured = {"floor": math.log(n_token)}
    for name, loss in {"shifted": own.next_token_loss, "unshifted": unshifted}.items():
        torch.manual_seed(0)
        generator = torch.Generator().manual_seed(0)
        model = own.GPT(GPTConfig(n_token, 8, n_layer=1, n_head=2, n_embd=16, std=0.15))
        optimiser = torch.optim.AdamW(model.parameters(), lr=2e-2)
        losses = []
        for _ in range(steps):
            ids = torch.randint(n_token, (16, 9), generator=generator)
            value = loss(model, ids)
            optimiser.zero_grad()
            value.backward()
            optimiser.step()
            losses.append(float(value))
        measured[name] = sum(losses[-10:]) / 10
    return measured


def _below(measured: dict) -> str:
    below = [measured[name] < 0.8 * measured["floor"] for name in ("shifted", "unshifted")]
    return {(False, False): "a", (False, True): "b", (True, True): "c", (True, False): "d"}[
        tuple(below)
    ]


BELOW = Conclusion(
    "below_the_floor",
    points=8,
    probe=_noise,
    inputs=(8, 60),
    decide=_below,
    measures=[GPT, next_token_loss],
    answers={
        "a": "With {whose} code the losses ended at {shifted:.2f} (shifted) and {unshifted:.2f} "
        "(not); the floor is {floor:.2f}.",
        "b": "Noise has a floor of {floor:.2f} nats a token. With shifted targets the loss ended "
        "at {shifted:.2f}; without the shift at {unshifted:.2f}, for the model only repeats what "
        "it was given. A loss below the floor is a leak, not a success.",
        "c": "With {whose} code the losses ended at {shifted:.2f} (shifted) and {unshifted:.2f} "
        "(not); the floor is {floor:.2f}.",
        "d": "With {whose} code the losses ended at {shifted:.2f} (shifted) and {unshifted:.2f} "
        "(not); the floor is {floor:.2f}.",
    },
)

QUESTIONS = [LOSS, PERPLEXITY, MODEL, SIZE, STEP, WHICH_LINE, BELOW]
