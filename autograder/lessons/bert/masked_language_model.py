"""MaskedLanguageModel: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.question import GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.bert.shared import drawn_config, drawn_ids, drawn_weights
from solutions.bert import IGNORE, MaskedLanguageModel


def _scores(own, name, config, weights, ids, segments):
    """Score the words at real places: the scores, and the gradient of every weight."""
    import torch

    from autograder.seam.probe import push

    model = own.MaskedLanguageModel(own.BERT(**config))
    model.load_state_dict(weights)
    model.eval()
    more = {} if segments is None else {"segments": segments}
    scores = model(ids.clone(), **more)
    if not isinstance(scores, torch.Tensor) or scores.shape[:2] != ids.shape:
        return {"result": scores}
    real = scores * (ids != 0).unsqueeze(-1)
    named = dict(model.named_parameters())
    seen = {"result": real}
    if scores.requires_grad:
        grads = torch.autograd.grad((real * push(real)).sum(), named.values(), allow_unused=True)
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
        config = drawn_config(d)
        kinds = d.integers(0, 3, b, t) if segments else None
        weights = drawn_weights(d, config, MaskedLanguageModel)
        return config, weights, drawn_ids(d, b, t, padding), kinds

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


QUESTION = Exercise(
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
