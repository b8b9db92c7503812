"""next_token_loss: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.question import GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from solutions.gpt import next_token_loss


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


def _none_given(own, name, table, ids):
    """Hand over padding=None, as `train_step` does."""
    return getattr(own, name)(lambda x: table[x], ids, None)


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


QUESTION = Exercise(
    next_token_loss,
    parts={"values": 7, "padding": 5, GRADIENT: 3},
    cases=[
        Case("values", "a batch of texts", _texts(), _loss),
        Case("values", "one text", _texts(b=1), _loss),
        Case("values", "two tokens a text", _texts(t=1), _loss),
        Case("values", "as many texts as tokens", _texts(b=4, t=4, v=6), _loss),
        Case("values", "float64", _texts(dtype=torch.float64), _loss),
        Case("values", "a model that is very sure", _sure, _loss),
        Case(
            "values",
            "None handed over as padding",
            lambda d: (d.normal(6, 6), d.integers(0, 6, 3, 5)),
            _none_given,
        ),
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
