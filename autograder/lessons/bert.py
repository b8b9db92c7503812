"""bert: hiding tokens, the encoder, its pre-training, heads for texts and for words."""

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
from solutions.bert import BERT, IGNORE, MaskedLanguageModel, mask_tokens
from solutions.fine_tune import TextClassifier, TokenClassifier


def _uniform(d, *shape):
    """Numbers from 0 to 1 that keep away from every threshold by more than any rounding."""
    steps = torch.randint(4096, (3, *shape), generator=d.generator)
    return (steps + 0.5) / 4096


def _masked(*shape, share=0.5, special=False):
    def draw(d):
        n_special, n_vocab = d.random.randint(4, 6), d.random.randint(20, 40)
        ids = d.integers(0 if special else n_special, n_vocab, *shape)
        mask_id = d.random.randrange(1, n_special)
        return args(ids, _uniform(d, *shape), n_vocab, n_special, mask_id, share)

    return draw


def _default_share(d):
    return args(d.integers(5, 30, 4, 60), _uniform(d, 4, 60), 30, 5, 4)


def _first_and_last_word(d):
    """Every id from the first special one to the last word, all of them drawn to be chosen."""
    n_special = d.random.randint(4, 6)
    ids = torch.arange(n_special + 6).repeat(3, 1)
    draws = _uniform(d, *ids.shape)
    draws[0] = 0.01
    return args(ids, draws, n_special + 6, n_special, 2)


def _on_the_edges(d):
    """Draws that equal a threshold exactly, in float64: they are not below it."""
    ids = d.integers(5, 30, 2, 12)
    draws = _uniform(d, 2, 12).double()
    draws[0] = torch.tensor([0.25, 0.5]).repeat(6)  # share is 0.5
    draws[1, 0], draws[1, 1] = 0.8, 0.9
    return args(ids, draws, 30, 5, 3, 0.5)


def _outermost_words(d):
    """Random tokens from the lowest and from the highest draw."""
    ids = d.integers(4, 20, 2, 9)
    draws = _uniform(d, 2, 9)
    draws[0], draws[1] = 0.1, 0.85
    draws[2, 0], draws[2, 1] = 0.0, 0.9999
    return args(ids, draws, 20, 4, 3, 0.5)


LABELS = "labels = torch.where(chosen, ids, IGNORE)"
HIDE = "return torch.where(chosen & (draws[1] < 0.8), mask_id, hidden), labels"

MASKING = Exercise(
    mask_tokens,
    parts={"values": 9, "special tokens": 4, "edges": 3, ARGUMENTS: 2},
    cases=[
        Case("values", "a batch, half of it chosen", _masked(3, 25)),
        Case("values", "a batch with the usual share", _default_share),
        Case("values", "everything chosen", _masked(2, 30, share=1.0)),
        Case("values", "nothing chosen", _masked(2, 5, share=0.0)),
        Case("values", "one text", _masked(17)),
        Case("values", "three axes", _masked(2, 3, 14)),
        Case("special tokens", "special tokens among the words", _masked(3, 40, special=True)),
        Case("special tokens", "every id once", _first_and_last_word),
        Case("edges", "draws on a threshold", _on_the_edges),
        Case("edges", "the first and the last word as random tokens", _outermost_words),
    ],
    slips=[
        Slip(
            "special tokens chosen",
            mask_tokens,
            "(draws[0] < share) & (ids >= n_special)",
            "(draws[0] < share)",
            "Special tokens are hidden too: an id below n_special ([PAD], [CLS], ...) is never "
            "chosen.",
        ),
        Slip(
            "first word taken for special",
            mask_tokens,
            "ids >= n_special",
            "ids > n_special",
            "The word with the id n_special is never chosen: special ids are those below it.",
        ),
        Slip(
            "always [MASK]",
            mask_tokens,
            "chosen & (draws[1] < 0.8), mask_id",
            "chosen, mask_id",
            "Every chosen token becomes [MASK]; of ten, one becomes a random token and one stays, "
            "so that the model must have an opinion on visible words too.",
        ),
        Slip(
            "never kept",
            mask_tokens,
            "chosen & (draws[1] < 0.9)",
            "chosen",
            "No chosen token is kept as it is: from 0.9 on it stays itself (and is still asked "
            "for).",
        ),
        Slip(
            "never random",
            mask_tokens,
            "other, ids)",
            "ids, ids)",
            "No chosen token becomes a random one: with a draw from 0.8 on, below 0.9, it does.",
        ),
        Slip(
            "random and kept exchanged",
            mask_tokens,
            "hidden = torch.where(chosen & (draws[1] < 0.9), other, ids)",
            "hidden = torch.where(chosen & (draws[1] >= 0.9), other, ids)",
            "From 0.8 to 0.9 the token stays and from 0.9 on it becomes random; it is the other "
            "way round.",
        ),
        Slip(
            "one draw for both questions",
            mask_tokens,
            "hidden = torch.where(chosen & (draws[1] < 0.9), other, ids)\n    " + HIDE,
            "hidden = torch.where(chosen & (draws[0] < 0.9), other, ids)\n    "
            + HIDE.replace("draws[1]", "draws[0]"),
            "draws[0] decides both whether a token is chosen and what becomes of it: with a share "
            "of 0.15 every chosen token would become [MASK]. The second question has draws[1].",
        ),
        Slip(
            "chosen by text",
            mask_tokens,
            "(draws[0] < share)",
            "(draws[0][..., :1] < share)",
            "All tokens of a text share one draw, so a text is hidden whole or not at all: every "
            "token has its own.",
        ),
        Slip(
            "the other share chosen",
            mask_tokens,
            "draws[0] < share",
            "draws[0] > share",
            "The tokens whose draw is above share are chosen: 85% instead of 15%.",
        ),
        Slip(
            "share fixed",
            mask_tokens,
            "draws[0] < share",
            "draws[0] < 0.15",
            "share is an argument, but 0.15 is written into the body.",
        ),
        Slip(
            "labels everywhere",
            mask_tokens,
            LABELS,
            "labels = ids.clone()",
            "Every token has a label, so the loss also counts words that stand there to be read: "
            "copying them would be most of the work. Put -100 where nothing was chosen.",
        ),
        Slip(
            "labels of the others",
            mask_tokens,
            "torch.where(chosen, ids, IGNORE)",
            "torch.where(chosen, IGNORE, ids)",
            "The labels stand where nothing was chosen and -100 where something was: the two are "
            "exchanged.",
        ),
        Slip(
            "[MASK] as label",
            mask_tokens,
            "torch.where(chosen, ids, IGNORE)",
            "torch.where(chosen, mask_id, IGNORE)",
            "The label is [MASK]: it should be the token that stood there before.",
        ),
        Slip(
            "no label for kept tokens",
            mask_tokens,
            "torch.where(chosen, ids, IGNORE)",
            "torch.where(chosen & (draws[1] < 0.9), ids, IGNORE)",
            "A chosen token that is kept has no label: it is asked for like the others.",
        ),
        Slip(
            "labels at [MASK] only",
            mask_tokens,
            "torch.where(chosen, ids, IGNORE)",
            "torch.where(chosen & (draws[1] < 0.8), ids, IGNORE)",
            "Only [MASK] has a label: chosen tokens that became random or were kept are asked for "
            "too.",
        ),
        Slip(
            "0 for no label",
            mask_tokens,
            "torch.where(chosen, ids, IGNORE)",
            "torch.where(chosen, ids, 0)",
            "Places that are not asked for have the label 0, which is [PAD]: the model would learn "
            "to predict padding. Use -100, which the loss leaves out.",
        ),
        Slip(
            "special tokens as random ones",
            mask_tokens,
            "n_special + (draws[2] * (n_vocab - n_special)).to(ids.dtype)",
            "(draws[2] * n_vocab).long()",
            "A random token may be a special one: draw among the words, from n_special on.",
        ),
        Slip(
            "written into ids",
            mask_tokens,
            HIDE,
            "return ids.copy_(torch.where(chosen & (draws[1] < 0.8), mask_id, hidden)), labels",
            "The caller's ids are changed, so the same story is hidden more and more from epoch to "
            "epoch: return a new tensor.",
        ),
    ],
)


@cache
def _shapes(head, options, config):
    """Return the shape of every parameter; building a model takes longer than anything else."""
    bert = BERT(**dict(config))
    model = head(bert, *options) if head else bert
    return {name: tuple(value.shape) for name, value in model.state_dict().items()}


def _weights(d, config, head=None, *options):
    """Draw every parameter, gains and biases too, so that none can be left out unseen."""
    drawn = {}
    for name, shape in _shapes(head, options, tuple(config.items())).items():
        if len(shape) == 1:
            drawn[name] = d.normal(*shape, std=1.0 if name.endswith("gain") else 0.5)
        else:
            table = name.split(".")[-2] in ("token", "table", "segment")
            drawn[name] = d.normal(*shape, std=0.8 if table else 1.2 * shape[1] ** -0.5)
    return drawn


def _config(d, n_layer=1):
    heads, size = d.sizes(2, 2, 3)
    width = heads * size
    sizes = {"n_vocab": 19, "block_size": 9, "n_embd": width, "n_head": heads, "n_layer": n_layer}
    return sizes | {"n_hidden": width + 3, "n_segment": 3}


def _ids(d, b, t, padding="none"):
    ids = d.integers(1, 19, b, t)
    if padding == "end":
        for row in range(b):
            ids[row, t - row :] = 0  # the first text is full, the next ones ever shorter
    if padding == "inside":
        ids[0, 1] = ids[-1, t - 2] = 0
    return ids


def _text(padding="none", segments=False, b=3, t=6, dropout=0.0, n_layer=2):
    def draw(d):
        config = _config(d, n_layer) | {"dropout": dropout}
        ids = _ids(d, b, t, padding)
        kinds = d.integers(0, 3, b, t) if segments else None
        return config, _weights(d, config), ids, kinds

    return draw


def _vectors(own, name, config, weights, ids, segments):
    """Read texts: real tokens' vectors, arguments as left, the gradient of every weight."""
    import torch

    bert = own.BERT(**config)
    bert.load_state_dict(weights)
    bert.eval()
    fresh = ids.clone()
    more = {} if segments is None else {"segments": segments.clone()}
    x = bert(fresh, **more)
    if not isinstance(x, torch.Tensor) or x.shape[:2] != ids.shape:
        return {"result": x}
    real = x * (ids != 0).unsqueeze(-1)  # what stands at padding is nobody's business
    push = torch.cos(torch.arange(real.numel(), dtype=real.dtype)).reshape(real.shape)
    named = dict(bert.named_parameters())
    seen = {"result": real, "inputs": [fresh, *more.values()]}
    if x.requires_grad:
        grads = torch.autograd.grad((real * push).sum(), named.values(), allow_unused=True)
        seen["parameter gradients"] = dict(zip(named, grads, strict=True))
    return seen


def _one_after_another(own, name, config, weights, ids, segments):
    """Read two batches with different padding, one after the other, with the same model."""
    bert = own.BERT(**config)
    bert.load_state_dict(weights)
    bert.eval()
    batches = ids, ids.flip(0)
    return [(bert(each) * (each != 0).unsqueeze(-1)).detach() for each in batches]


def _dropped_once(own, name, config, weights, ids, segments):
    """Train with a dropout of 0.5 and no blocks: what is not dropped is doubled, no more."""
    import torch

    bert = own.BERT(**config)
    bert.load_state_dict(weights)
    with torch.no_grad():
        whole = bert.eval()(ids)
        torch.manual_seed(0)
        halved = bert.train()(ids)
    dropped = halved == 0
    return {
        "some numbers are dropped": bool(0.2 < dropped.float().mean() < 0.8),
        "the others are doubled": bool((dropped | (halved - 2 * whole).abs().lt(1e-4)).all()),
    }


def _all_dropped(own, name, config, weights, ids, segments):
    """Train with a dropout of 1: nothing of the words gets past the first sum."""
    bert = own.BERT(**config)
    bert.load_state_dict(weights)
    bert.train()
    return bert(ids, segments).detach()


EMBED = "x = self.position(self.token(ids) + self.segment(segments))"

ENCODER = Exercise(
    BERT,
    parts={"values": 7, "segments": 3, "padding": 4, GRADIENT: 2, "dropout": 2},
    cases=[
        Case("values", "a batch of texts", _text(), _vectors),
        Case("values", "one token", _text(b=2, t=1), _vectors),
        Case("values", "as long as the table", _text(b=2, t=9), _vectors),
        Case("segments", "three segments", _text(segments=True), _vectors),
        Case("padding", "padding at the end", _text("end"), _vectors),
        Case("padding", "padding inside", _text("inside", b=1), _vectors),
        Case("padding", "one batch after another", _text("end"), _one_after_another),
        Case("dropout", "everything dropped", _text(dropout=1.0), _all_dropped),
        Case("dropout", "half of it", _text(b=9, t=9, dropout=0.5, n_layer=0), _dropped_once),
        Case("dropout", "at rest", _text(dropout=1.0), _vectors),
    ],
    slips=[
        Slip(
            "segments forgotten",
            BERT.forward,
            EMBED,
            "x = self.position(self.token(ids))",
            "The rows of `segment` are not added; without segments every token has row 0.",
        ),
        Slip(
            "segments only where given",
            BERT.forward,
            EMBED,
            "x = self.position(self.token(ids) + self.segment(segments) * segments.any())",
            "Where no segments are given no row of `segment` is added: all tokens then belong to "
            "segment 0, and its row is added like any other.",
        ),
        Slip(
            "segments ignored",
            BERT.forward,
            "segments = torch.zeros_like(ids) if segments is None else segments",
            "segments = torch.zeros_like(ids)",
            "The segments that are given are not used: every token is taken for segment 0.",
        ),
        Slip(
            "no positions",
            BERT.forward,
            EMBED,
            "x = self.token(ids) + self.segment(segments)",
            "The positions are not added: the texts become bags of words.",
        ),
        Slip(
            "no norm of the embeddings",
            BERT.forward,
            "self.dropout(self.norm(x))",
            "self.dropout(x)",
            "The sum of the embeddings is not normalised: `norm` comes before the first block.",
        ),
        Slip(
            "dropout missing",
            BERT.forward,
            "self.dropout(self.norm(x))",
            "self.norm(x)",
            "`dropout` is not used on the normalised embeddings.",
        ),
        Slip(
            "mask kept from the first texts",
            BERT.forward,
            "padding_mask(ids)",
            'vars(self).setdefault("kept", padding_mask(ids))',
            "The padding mask of the first texts is kept and used for all later ones: make it in "
            "every call.",
        ),
        Slip(
            "dropped out twice",
            BERT.forward,
            "self.dropout(self.norm(x))",
            "self.dropout(self.norm(self.dropout(x)))",
            "There is a second dropout: only the normalised embeddings are dropped out.",
        ),
        Slip(
            "dropout never rests",
            BERT.forward,
            "self.dropout(self.norm(x))",
            "F.dropout(self.norm(x), self.dropout.p)",
            "The dropout is still at work in evaluation, where the same text should get the same "
            "vectors every time: use `self.dropout`, which rests then.",
        ),
        Slip(
            "dropout before the norm",
            BERT.forward,
            "self.dropout(self.norm(x))",
            "self.norm(self.dropout(x))",
            "Dropout comes before the norm, which then stretches what is left: first `norm`, then "
            "`dropout`.",
        ),
        Slip(
            "embeddings scaled",
            BERT.forward,
            EMBED,
            "x = self.position(self.token(ids) * self.token.embedding_dim**0.5"
            " + self.segment(segments))",
            "The words are multiplied by the root of C, as in the original Transformer: BERT does "
            "not do that.",
        ),
        Slip(
            "padding seen",
            BERT.forward,
            "x = block(x, mask)",
            "x = block(x)",
            "The blocks get no mask: the words look at padding, so a text's vectors depend on the "
            "longest text of its batch.",
        ),
        Slip(
            "only padding seen",
            BERT.forward,
            "mask = padding_mask(ids)",
            "mask = ~padding_mask(ids)",
            "The mask is turned round: True means that looking is allowed.",
        ),
        Slip(
            "padding may not look",
            BERT.forward,
            "mask = padding_mask(ids)",
            "mask = padding_mask(ids).mT",
            "The mask lies along the queries (B, T, 1): padding may not look, but everybody looks "
            "at padding. It belongs along the keys: (B, 1, T).",
        ),
        Slip(
            "causal mask left on",
            BERT.forward,
            "mask = padding_mask(ids)",
            "mask = padding_mask(ids) & torch.ones_like(ids[0] @ ids[0].T, dtype=torch.bool)"
            ".new_ones(ids.size(1), ids.size(1)).tril()",
            "A causal mask is on: a token sees only what stands before it. BERT reads in both "
            "directions.",
        ),
        Slip(
            "mask in the first block only",
            BERT.forward,
            "x = block(x, mask)",
            "x, mask = block(x, mask), None",
            "Only the first block gets the mask: padding has a vector too after it, and the second "
            "block looks at it.",
        ),
        Slip(
            "one block again and again",
            BERT.forward,
            "x = block(x, mask)",
            "x = self.blocks[0](x, mask)",
            "The first block is used for every layer: each has its own weights.",
        ),
        Slip(
            "first block only",
            BERT.forward,
            "for block in self.blocks:",
            "for block in self.blocks[:1]:",
            "Only the first block is used: go through all of them.",
        ),
        Slip(
            "another norm at the end",
            BERT.forward,
            "return x",
            "return self.norm(x)",
            "The result is normalised once more. In post-norm the last block has done that.",
        ),
    ],
)


def _scores(own, name, config, weights, ids, segments):
    """Score the words at real places: the scores, and the gradient of every weight."""
    import torch

    model = own.MaskedLanguageModel(own.BERT(**config))
    model.load_state_dict(weights)
    model.eval()
    more = {} if segments is None else {"segments": segments}
    scores = model(ids.clone(), **more)
    if not isinstance(scores, torch.Tensor) or scores.shape[:2] != ids.shape:
        return {"result": scores}
    real = scores * (ids != 0).unsqueeze(-1)
    push = torch.cos(torch.arange(real.numel(), dtype=real.dtype)).reshape(real.shape)
    named = dict(model.named_parameters())
    seen = {"result": real}
    if scores.requires_grad:
        grads = torch.autograd.grad((real * push).sum(), named.values(), allow_unused=True)
        seen["parameter gradients"] = dict(zip(named, grads, strict=True))
    return seen


def _loss(own, name, config, weights, ids, labels, segments, gradient):
    """Compute the loss, and the gradient of every weight where one is asked for."""
    import torch

    model = own.MaskedLanguageModel(own.BERT(**config))
    model.load_state_dict(weights)
    model.eval()
    fresh = ids.clone(), labels.clone()
    more = {} if segments is None else {"segments": segments}
    loss = model.loss(*fresh, **more)
    seen = {"result": loss, "inputs": list(fresh)}
    if gradient and isinstance(loss, torch.Tensor) and loss.requires_grad:
        named = dict(model.named_parameters())
        grads = torch.autograd.grad(loss, named.values(), allow_unused=True)
        seen["parameter gradients"] = dict(zip(named, grads, strict=True))
    return seen


def _scored(padding="none", segments=False, b=2, t=5):
    def draw(d):
        config = _config(d)
        kinds = d.integers(0, 3, b, t) if segments else None
        weights = _weights(d, config, MaskedLanguageModel)
        return config, weights, _ids(d, b, t, padding), kinds

    return draw


def _asked(padding="none", segments=False, which="some"):
    """Labels at a few places; the first text has more of them than the second."""

    def draw(d):
        config, weights, ids, kinds = _scored(padding, segments, b=3, t=6)(d)
        labels = torch.full_like(ids, IGNORE)
        if which == "some":
            labels[0, 1:4] = d.integers(4, 19, 3)
            labels[1, 2] = d.integers(4, 19, 1)
            labels[ids == 0] = IGNORE  # what stands at padding is nobody's business
        if which == "one":
            labels[1, 2] = d.integers(4, 19, 1)
        if which == "all":
            labels = d.integers(0, 19, 3, 6)
            labels[1, 1] = 0  # 0 is an id like any other
        return config, weights, ids, labels, kinds, which != "none"

    return draw


def _sure(d):
    """Draw scores so far apart that the probabilities of most words round to 0."""
    config, weights, *rest = _asked()(d)
    weights["bias"] = d.normal(*weights["bias"].shape, std=80.0)
    return config, weights, *rest


READ_OUT = "x = self.norm(F.gelu(self.transform(self.bert(ids, segments))))"
MEAN = "return total / (labels != IGNORE).sum().clamp(min=1)"

PRETRAINING = Exercise(
    MaskedLanguageModel,
    parts={"scores": 8, "loss": 6, "no labels": 2, GRADIENT: 2},
    cases=[
        Case("scores", "a batch of texts", _scored(), _scores),
        Case("scores", "padding and segments", _scored("end", True, b=3), _scores),
        Case("scores", "one token", _scored(b=1, t=1), _scores),
        Case("loss", "labels at some places", _asked(), _loss),
        Case("loss", "labels at some places, padding, segments", _asked("inside", True), _loss),
        Case("loss", "a single label", _asked(which="one"), _loss),
        Case("loss", "a model that is very sure", _sure, _loss),
        Case("loss", "labels everywhere", _asked(which="all"), _loss),
        Case("no labels", "nothing is asked for", _asked(which="none"), _loss),
    ],
    slips=[
        Slip(
            "transform missing",
            MaskedLanguageModel.forward,
            READ_OUT,
            "x = self.norm(F.gelu(self.bert(ids, segments)))",
            "`transform` is not used.",
        ),
        Slip(
            "gelu missing",
            MaskedLanguageModel.forward,
            "F.gelu(self.transform(self.bert(ids, segments)))",
            "self.transform(self.bert(ids, segments))",
            "`F.gelu` between `transform` and `norm` is missing.",
        ),
        Slip(
            "relu for gelu",
            MaskedLanguageModel.forward,
            "F.gelu(",
            "F.relu(",
            "The activation is a ReLU; BERT's is a GELU.",
        ),
        Slip(
            "norm missing",
            MaskedLanguageModel.forward,
            READ_OUT,
            "x = F.gelu(self.transform(self.bert(ids, segments)))",
            "`norm` after the activation is missing.",
        ),
        Slip(
            "norm before the activation",
            MaskedLanguageModel.forward,
            READ_OUT,
            "x = F.gelu(self.norm(self.transform(self.bert(ids, segments))))",
            "The norm comes before the activation: first `F.gelu`, then `norm`.",
        ),
        Slip(
            "bias missing",
            MaskedLanguageModel.forward,
            "self.bert.token.weight.T + self.bias",
            "self.bert.token.weight.T",
            "`bias` is not added: it holds how frequent a word is.",
        ),
        Slip(
            "probabilities for scores",
            MaskedLanguageModel.forward,
            "return x @ self.bert.token.weight.T + self.bias",
            "return (x @ self.bert.token.weight.T + self.bias).softmax(-1)",
            "`forward` returns probabilities: the loss takes the softmax itself, so return the "
            "scores.",
        ),
        Slip(
            "table copied",
            MaskedLanguageModel.forward,
            "self.bert.token.weight.T",
            "self.bert.token.weight.detach().T",
            "The values are right, but the read-out uses a copy of the word table (detach, .data "
            "or clone of it): reading and writing share one table, and both must teach it.",
        ),
        Slip(
            "segments not passed on",
            MaskedLanguageModel.forward,
            "self.bert(ids, segments)",
            "self.bert(ids)",
            "The segments are not passed on to `bert`.",
        ),
        Slip(
            "encoder frozen",
            MaskedLanguageModel.forward,
            "self.transform(self.bert(ids, segments))",
            "self.transform(self.bert(ids, segments).detach())",
            "No gradient reaches `bert` (detach or no_grad): only the read-out would learn.",
        ),
        Slip(
            "visible words counted",
            MaskedLanguageModel.loss,
            "labels = labels.flatten()",
            "labels = torch.where(labels == IGNORE, ids, labels).flatten()",
            "The loss also counts the words that stand there to be read. A model that copies looks "
            "brilliant and learns little: count only places whose label is not -100.",
        ),
        Slip(
            "divided by all places",
            MaskedLanguageModel.loss,
            MEAN,
            "return total / labels.numel()",
            "The sum is divided by the number of all places; divide by those that have a label.",
        ),
        Slip(
            "sum for mean",
            MaskedLanguageModel.loss,
            MEAN,
            "return total",
            "The loss is a sum: it would grow with the batch. Take the mean over the labels.",
        ),
        Slip(
            "mean of means",
            MaskedLanguageModel.loss,
            MEAN,
            "rows, each = labels.view_as(ids) != IGNORE, F.cross_entropy(scores, labels, "
            'reduction="none"); return (each.view(ids.shape).sum(1) / rows.sum(1).clamp(min=1))'
            ".sum() / rows.any(1).sum().clamp(min=1)",
            "Each text is averaged by itself and then the texts: a text with one hidden word would "
            "weigh as much as one with ten. Average over all labelled places together.",
        ),
        Slip(
            "nan without labels",
            MaskedLanguageModel.loss,
            ".sum().clamp(min=1)",
            ".sum()",
            "Where nothing is asked for the loss is 0 / 0: return 0 there.",
        ),
        Slip(
            "softmax before the loss",
            MaskedLanguageModel.loss,
            "scores = self(ids, segments).flatten(0, -2)",
            "scores = self(ids, segments).softmax(-1).flatten(0, -2)",
            "The loss gets probabilities: `F.cross_entropy` takes the softmax itself.",
        ),
        Slip(
            "segments lost in the loss",
            MaskedLanguageModel.loss,
            "self(ids, segments)",
            "self(ids)",
            "`loss` does not pass the segments on.",
        ),
    ],
    equivalent={
        "MaskedLanguageModel.loss: F.cross_entropy(scores, labels, ignore_index=IGNORE, "
        "reduction='sum') -> F.cross_entropy(scores, labels, reduction='sum')": "PyTorch ignores "
        "-100 unless told otherwise",
    },
)


def _built_head(own, name, config, weights, options, ids, segments):
    """Put the head on a BERT and read texts: scores, ids as left, the gradient of every weight."""
    import torch

    model = getattr(own, name)(own.BERT(**config), 4, **options)
    model.load_state_dict(weights)
    model.eval()
    fresh = ids.clone()
    more = {} if segments is None else {"segments": segments}
    scores = model(fresh, **more)
    if not isinstance(scores, torch.Tensor) or scores.shape[:1] != ids.shape[:1]:
        return {"result": scores}
    if scores.ndim == 3 and scores.shape[:2] == ids.shape:
        scores = scores * (ids != 0).unsqueeze(-1)
    push = torch.cos(torch.arange(scores.numel(), dtype=scores.dtype)).reshape(scores.shape)
    named = dict(model.named_parameters())
    seen = {"result": scores, "inputs": [fresh]}
    if scores.requires_grad:
        grads = torch.autograd.grad((scores * push).sum(), named.values(), allow_unused=True)
        seen["parameter gradients"] = dict(zip(named, grads, strict=True))
    return seen


def _head_values(own, name, config, weights, options, ids, segments):
    """Put the head on a BERT and read texts: the scores only."""
    model = getattr(own, name)(own.BERT(**config), 4, **options)
    model.load_state_dict(weights)
    model.eval()
    return model(ids, segments).detach()


def _dropped_head(own, name, config, weights, options, ids, segments):
    """Train with a dropout of 1 in front of the head: only its bias is left."""
    model = getattr(own, name)(own.BERT(**config), 4, **options)
    model.load_state_dict(weights)
    model.train()
    return model(ids, segments).detach()


def _half_dropped(own, name, config, weights, options, ids, segments):
    """Train with a dropout of 0.5 on one text many times; what becomes of its numbers."""
    import torch

    model = getattr(own, name)(own.BERT(**config), 4, **options)
    model.load_state_dict(weights)
    model.head.weight.data = torch.eye(*model.head.weight.shape)
    model.head.bias.data.zero_()
    texts = ids[:1].repeat(400, 1)
    with torch.no_grad():
        whole = model.eval()(texts, None)
        torch.manual_seed(0)
        halved = model.train()(texts, None)
    dropped = halved == 0
    return {
        "half of the numbers are dropped": bool(0.4 < dropped.float().mean() < 0.6),
        "the others are doubled": bool((dropped | (halved - 2 * whole).abs().lt(1e-4)).all()),
    }


def _headed(head, padding="none", segments=False, b=3, t=6, dropout=0.0, **options):
    options = options | {"dropout": dropout}

    def draw(d):
        config = _config(d)
        kinds = d.integers(0, 3, b, t) if segments else None
        weights = _weights(d, config, head, 4)
        return config, weights, options, _ids(d, b, t, padding), kinds

    return draw


def _a_text_of_padding(d):
    """Padding has vectors too; what they are is open, but a text of padding averages nothing."""
    config, weights, options, ids, kinds = _headed(TextClassifier, b=2, t=4, pooling="mean")(d)
    ids[0, 1:], ids[1] = 0, 0
    return config, weights, options, ids, kinds


CLS, AVERAGE = {"pooling": "cls"}, {"pooling": "mean"}
POOLED = """return self.head(self.dropout(x[:, 0]))
        real = (ids != 0).unsqueeze(-1).to(x.dtype)  # (B, T, 1)
        mean = (x * real).sum(1) / real.sum(1).clamp(min=1)
        return self.head(self.dropout(mean))"""

TEXTS = Exercise(
    TextClassifier,
    parts={"first token": 4, "average": 6, GRADIENT: 1, "dropout": 1},
    cases=[
        Case("first token", "a batch of texts", _headed(TextClassifier, **CLS), _built_head),
        Case(
            "first token",
            "padding and segments",
            _headed(TextClassifier, "end", True, **CLS),
            _built_head,
        ),
        Case("average", "texts of one length", _headed(TextClassifier, **AVERAGE), _built_head),
        Case(
            "average", "padding at the end", _headed(TextClassifier, "end", **AVERAGE), _built_head
        ),
        Case(
            "average",
            "padding inside, segments",
            _headed(TextClassifier, "inside", True, b=2, t=5, **AVERAGE),
            _built_head,
        ),
        Case("average", "one word, and no word at all", _a_text_of_padding, _head_values),
        Case("dropout", "first token", _headed(TextClassifier, dropout=1.0, **CLS), _dropped_head),
        Case("dropout", "average", _headed(TextClassifier, dropout=1.0, **AVERAGE), _dropped_head),
        Case(
            "dropout",
            "half of the average",
            _headed(TextClassifier, dropout=0.5, **AVERAGE),
            _half_dropped,
        ),
        Case(
            "dropout",
            "first token, at rest",
            _headed(TextClassifier, dropout=1.0, **CLS),
            _head_values,
        ),
        Case(
            "dropout",
            "average, at rest",
            _headed(TextClassifier, dropout=1.0, **AVERAGE),
            _head_values,
        ),
    ],
    slips=[
        Slip(
            "padding averaged",
            TextClassifier.forward,
            "(x * real).sum(1) / real.sum(1).clamp(min=1)",
            "x.mean(1)",
            "The average runs over padding too: a text's answer would depend on the longest text "
            "of its batch. Count only tokens whose id is not 0.",
        ),
        Slip(
            "divided by the longest text",
            TextClassifier.forward,
            "real.sum(1).clamp(min=1)",
            "ids.size(1)",
            "The real tokens are added up, but the sum is divided by T, padding included: divide "
            "by the number of real tokens.",
        ),
        Slip(
            "sum for average",
            TextClassifier.forward,
            "(x * real).sum(1) / real.sum(1).clamp(min=1)",
            "(x * real).sum(1)",
            "The tokens are summed: long texts would speak louder. Divide by their number.",
        ),
        Slip(
            "largest for average",
            TextClassifier.forward,
            "(x * real).sum(1) / real.sum(1).clamp(min=1)",
            "(x * real).amax(1)",
            "The largest number of each column is taken: the average is asked for.",
        ),
        Slip(
            "nan for an empty text",
            TextClassifier.forward,
            "real.sum(1).clamp(min=1)",
            "real.sum(1)",
            "A text without any real token is divided by 0: its average is 0.",
        ),
        Slip(
            "last token for the first",
            TextClassifier.forward,
            "x[:, 0]",
            "x[:, -1]",
            "The last token is read: [CLS] stands first, and the last one may be padding.",
        ),
        Slip(
            "always the first token",
            TextClassifier.forward,
            'self.pooling == "cls"',
            "True",
            'The first token is read whatever was asked for: `self.pooling` may be "mean".',
        ),
        Slip(
            "always the average",
            TextClassifier.forward,
            'self.pooling == "cls"',
            "False",
            'The average is taken whatever was asked for: `self.pooling` may be "cls".',
        ),
        Slip(
            "probabilities for scores",
            TextClassifier.forward,
            "return self.head(self.dropout(x[:, 0]))",
            "return self.head(self.dropout(x[:, 0])).softmax(-1)",
            "`forward` returns probabilities: return the scores.",
        ),
        Slip(
            "dropout missing",
            TextClassifier.forward,
            "return self.head(self.dropout(x[:, 0]))",
            "return self.head(x[:, 0])",
            "`dropout` in front of the head is missing.",
        ),
        Slip(
            "dropout before the average",
            TextClassifier.forward,
            POOLED,
            POOLED.replace("x * real", "self.dropout(x) * real").replace(
                "self.dropout(mean)", "mean"
            ),
            "The tokens' vectors are dropped out, not the text's: make one vector of each text "
            "first, then `dropout`.",
        ),
        Slip(
            "dropout never rests",
            TextClassifier.forward,
            POOLED,
            POOLED.replace("self.dropout(", "nn.Dropout(self.dropout.p)("),
            "The dropout is still at work in evaluation, where the same text should get the same "
            "scores every time: use `self.dropout`, which rests then.",
        ),
        Slip(
            "encoder frozen",
            TextClassifier.forward,
            "x = self.bert(ids, segments)",
            "x = self.bert(ids, segments).detach()",
            "No gradient reaches `bert` (detach or no_grad): that is a probe of frozen features, "
            "fine-tuning trains all of it.",
        ),
        Slip(
            "segments not passed on",
            TextClassifier.forward,
            "self.bert(ids, segments)",
            "self.bert(ids)",
            "The segments are not passed on to `bert`.",
        ),
    ],
    equivalent={
        "TextClassifier.forward: (ids != 0).unsqueeze(-1).to(x.dtype) -> "
        "(ids != 0).unsqueeze(-1)": "a product with True or False is a product with 1 or 0",
    },
)

WORDS = Exercise(
    TokenClassifier,
    parts={"values": 4, GRADIENT: 2, "dropout": 2},
    cases=[
        Case("values", "a batch of texts", _headed(TokenClassifier), _built_head),
        Case("values", "padding, segments", _headed(TokenClassifier, "end", True), _built_head),
        Case("values", "one token", _headed(TokenClassifier, b=2, t=1), _built_head),
        Case("dropout", "everything dropped", _headed(TokenClassifier, dropout=1.0), _dropped_head),
        Case("dropout", "half of it", _headed(TokenClassifier, dropout=0.5), _half_dropped),
        Case("dropout", "at rest", _headed(TokenClassifier, dropout=1.0), _built_head),
    ],
    slips=[
        Slip(
            "one answer for all words",
            TokenClassifier.forward,
            "self.bert(ids, segments)",
            "self.bert(ids, segments)[:, :1].expand(-1, ids.size(1), -1)",
            "Every word gets the scores of [CLS]: each is to be sorted by its own vector.",
        ),
        Slip(
            "words without their text",
            TokenClassifier.forward,
            "self.bert(ids, segments)",
            "self.bert.token(ids)",
            "The words' rows in the table are sorted, before any block: then `watch` has one tag "
            "whatever stands around it.",
        ),
        Slip(
            "probabilities for scores",
            TokenClassifier.forward,
            "return self.head(self.dropout(self.bert(ids, segments)))",
            "return self.head(self.dropout(self.bert(ids, segments))).softmax(-1)",
            "`forward` returns probabilities: return the scores.",
        ),
        Slip(
            "dropout missing",
            TokenClassifier.forward,
            "self.dropout(self.bert(ids, segments))",
            "self.bert(ids, segments)",
            "`dropout` in front of the head is missing.",
        ),
        Slip(
            "dropout never rests",
            TokenClassifier.forward,
            "self.dropout(self.bert(ids, segments))",
            "nn.Dropout(self.dropout.p)(self.bert(ids, segments))",
            "The dropout is still at work in evaluation, where the same text should get the same "
            "scores every time: use `self.dropout`, which rests then.",
        ),
        Slip(
            "encoder frozen",
            TokenClassifier.forward,
            "self.bert(ids, segments)",
            "self.bert(ids, segments).detach()",
            "No gradient reaches `bert` (detach or no_grad): fine-tuning trains all of it.",
        ),
        Slip(
            "segments not passed on",
            TokenClassifier.forward,
            "self.bert(ids, segments)",
            "self.bert(ids)",
            "The segments are not passed on to `bert`.",
        ),
    ],
)


def puzzle() -> Puzzle:
    """How strongly each token acts on each vector, where the mask lies along the queries."""
    slip = next(s for s in ENCODER.slips if s.name == "padding may not look")
    config = {"n_vocab": 19, "block_size": 9, "n_embd": 12, "n_head": 2, "n_layer": 1}
    bert = patched(slip)["BERT"](**config)
    bert.load_state_dict(_weights(Draw("puzzle", 1), config))
    ids = torch.tensor([[1, 7, 12, 5, 0, 0]])  # four words, two places of padding
    x = bert(ids)[0]  # (6, 12)

    def influence(t):
        rows = torch.autograd.grad(
            x[t].sum() + x[t].square().sum(), bert.position.table.weight, retain_graph=True
        )[0]
        return rows[:6].norm(dim=-1)

    table = torch.stack([influence(t) for t in range(6)])
    title = "how strongly token j acts on the vector of token i\n(4 and 5 are padding)"
    return Puzzle(table / table.max(), title, "vector of token i", "token j")


WHICH_LINE = Choice(
    "which_line",
    points=8,
    right="c",
    answers={
        "a": "Without a mask padding would look at all tokens, too: rows 4 and 5 would be filled. "
        "In the picture they have nothing but their own place.",
        "b": "With a causal mask everything above the diagonal would be empty. Here token 0 is "
        "moved by tokens 1 to 5.",
        "c": "The mask lies along the queries: rows 4 and 5, padding, may not look at anything, "
        "while every word looks at padding (columns 4 and 5). The mask should close columns.",
        "d": "With the mask turned round the words could look at padding only: in rows 0 to 3 the "
        "columns 0 to 3 would be empty off the diagonal.",
    },
)


def _fill_gaps(own, seed):
    """Train the tiny model under test on hidden words and ask it at every place."""
    from solutions.studies.gap_practice import theme_by_place

    found = theme_by_place(own.BERT, own.MaskedLanguageModel, own.mask_tokens, seed)
    names = ("first", "second", "third", "fourth", "last")
    return dict(zip(names, found["one hidden"], strict=True)) | {"blind": found["all hidden"]}


def _which_place(measured: dict) -> str:
    first, middle, last = measured["first"], measured["third"], measured["last"]
    if min(first, middle, last) > 0.85:
        return "c"
    if max(first, middle, last) < 0.7:
        return "d"
    return "a" if last > first + 0.15 else "b"


WHICH_PLACE = Conclusion(
    "which_place",
    points=8,
    probe=_fill_gaps,
    inputs=(0,),
    decide=_which_place,
    measures=[mask_tokens, BERT, MaskedLanguageModel],
    answers={
        letter: "With {whose} model the right theme has the probability {first:.2f} at the first "
        "place, {third:.2f} in the middle and {last:.2f} at the last; where every word is hidden "
        "it has {blind:.2f}."
        for letter in "abcd"
    },
)

QUESTIONS = [MASKING, ENCODER, PRETRAINING, TEXTS, WORDS, WHICH_LINE, WHICH_PLACE]
