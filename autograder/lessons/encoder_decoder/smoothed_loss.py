"""smoothed_loss: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.draw import args
from autograder.checks.question import GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from solutions.data.tiny_french import PAD
from solutions.encoder_decoder import smoothed_loss


def _loss(*leading, v=None, smoothing=None, padded=True, padding=None):
    """Draw logits (*leading, V) and targets, some of them padding, but not all."""

    def draw(d):
        n_vocab = v or d.sizes(1, 4, 8)[0]
        filler = PAD if padding is None else padding
        target = d.integers(0, n_vocab, *leading)
        target = target.masked_fill(target == filler, n_vocab - 1 if filler == 0 else 0)
        if padded:
            fill = torch.rand(leading, generator=d.generator) < 0.35
            fill.view(-1)[0], fill.view(-1)[-1] = False, True
            target = target.masked_fill(fill, filler)
        options = {} if smoothing is None else {"smoothing": smoothing}
        options |= {} if padding is None else {"padding": padding}
        return args(d.normal(*leading, n_vocab, std=2.0), target, **options)

    return draw


def _large(d):
    logits = d.normal(3, 5, std=200.0)
    logits[1, 2] = 5000.0
    return args(logits, torch.tensor([1, 2, 4]), smoothing=0.2)


EACH = "-(1 - smoothing) * right - smoothing * log_p.mean(-1)"


AVERAGE = "each.masked_fill(~counts, 0.0).sum() / counts.sum()"


QUESTION = Exercise(
    smoothed_loss,
    parts={"values": 5, "padding": 5, "large logits": 2, GRADIENT: 2},
    cases=[
        Case("values", "a batch of sentences", _loss(3, 4, padded=False)),
        Case("values", "more smoothing", _loss(2, 5, padded=False, smoothing=0.4)),
        Case("values", "no smoothing", _loss(2, 5, padded=False, smoothing=0.0)),
        Case("values", "a single word", _loss(1, padded=False, smoothing=0.3)),
        Case("values", "three axes in front", _loss(2, 3, 2, padded=False)),
        Case("padding", "padded sentences", _loss(3, 5)),
        Case("padding", "padded sentences, no smoothing", _loss(4, 3, smoothing=0.0)),
        Case("padding", "another id for padding", _loss(3, 4, v=6, padding=3)),
        Case("padding", "one axis", _loss(6, smoothing=0.2)),
        Case("large logits", "logits of some thousand", _large),
    ],
    slips=[
        Slip(
            "padding counts",
            smoothed_loss,
            AVERAGE,
            "each.mean()",
            "Padding counts like words: the model would learn to write padding. Leave those "
            "places out.",
        ),
        Slip(
            "divided by all places",
            smoothed_loss,
            AVERAGE,
            "each.masked_fill(~counts, 0.0).mean()",
            "The losses of the words are summed, but divided by the number of all places: batches "
            "with more padding would weigh less.",
        ),
        Slip(
            "not averaged",
            smoothed_loss,
            AVERAGE,
            "each.masked_fill(~counts, 0.0).sum()",
            "The losses are summed, not averaged: a longer batch would take longer steps.",
        ),
        Slip(
            "sentence by sentence",
            smoothed_loss,
            AVERAGE,
            "(each.masked_fill(~counts, 0.0).sum(-1) / counts.sum(-1).clamp_min(1)).mean()",
            "Each row is averaged by itself, then the rows: words of short sentences weigh more. "
            "All words count alike.",
        ),
        Slip(
            "padding fixed",
            smoothed_loss,
            "target != padding",
            "target != PAD",
            "`padding` is an argument, but PAD is written into the code.",
        ),
        Slip(
            "spread over the others",
            smoothed_loss,
            EACH,
            "-(1 - smoothing) * right - smoothing * (log_p.sum(-1) - right) / (log_p.size(-1) - 1)",
            "The smoothing is shared out among the V - 1 wrong words; here all V columns get "
            "smoothing / V, the right one too.",
        ),
        Slip(
            "nothing taken from the right word",
            smoothed_loss,
            EACH,
            "-right - smoothing * log_p.mean(-1)",
            "The label sums to more than one: what is shared out must be taken from the right "
            "word, which keeps 1 - smoothing.",
        ),
        Slip(
            "not shared out",
            smoothed_loss,
            "log_p.mean(-1)",
            "log_p.sum(-1)",
            "Every column gets `smoothing`; it is shared out: smoothing / V each.",
        ),
        Slip(
            "not smoothed",
            smoothed_loss,
            EACH,
            "-right",
            "This is the plain cross-entropy: `smoothing` is not used.",
        ),
        Slip(
            "shares exchanged",
            smoothed_loss,
            EACH,
            "-smoothing * right - (1 - smoothing) * log_p.mean(-1)",
            "The shares are exchanged: the right word keeps 1 - smoothing.",
        ),
        Slip(
            "no mass on padding",
            smoothed_loss,
            "log_p.mean(-1)",
            "(log_p.sum(-1) - log_p[..., padding]) / (log_p.size(-1) - 1)",
            "The column of padding gets no share. Other books do that; here all V columns get the "
            "same, as PyTorch has it.",
        ),
        Slip(
            "sign",
            smoothed_loss,
            EACH,
            "(1 - smoothing) * right + smoothing * log_p.mean(-1)",
            "The sign is wrong: a loss is small where the right word is likely.",
        ),
        Slip(
            "softmax missing",
            smoothed_loss,
            "logits.log_softmax(-1)",
            "logits",
            "The logits are taken for logarithms of probabilities: a log-softmax is missing.",
        ),
        Slip(
            "softmax, then log",
            smoothed_loss,
            "logits.log_softmax(-1)",
            "logits.softmax(-1).log()",
            "log(softmax) underflows: a probability of 0 has the logarithm minus infinity. "
            "`log_softmax` does both at once.",
        ),
        Slip(
            "softmax twice",
            smoothed_loss,
            "logits.log_softmax(-1)",
            "logits.softmax(-1).log_softmax(-1)",
            "The softmax is taken twice: the probabilities are far too even.",
        ),
        Slip(
            "right words detached",
            smoothed_loss,
            EACH,
            "-(1 - smoothing) * right.detach() - smoothing * log_p.mean(-1)",
            "The value is right, but no gradient comes from the right words.",
        ),
    ],
)
