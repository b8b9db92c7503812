"""perplexity: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.draw import args
from autograder.checks.question import Case, Exercise
from autograder.checks.slips import Slip
from solutions.gpt import perplexity


def _batches(n, equal=False, empty=False):
    def draw(d):
        losses = d.normal(n, std=0.8).abs() + 0.5
        counts = torch.full((n,), 7) if equal else torch.arange(n).mul(11) + d.integers(2, 9, n)
        if empty:
            counts[0] = 0
        return *args(losses, counts), False  # nobody learns from a perplexity

    return draw


QUESTION = Exercise(
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
