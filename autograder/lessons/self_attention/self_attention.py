"""self_attention: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.draw import args
from autograder.checks.question import ARGUMENTS, GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.self_attention.shared import drawn_words
from solutions.self_attention import self_attention

WEIGHTS = "(x @ x.transpose(-2, -1)).softmax(-1)"


QUESTION = Exercise(
    self_attention,
    parts={"values": 12, "batches": 8, "large scores": 4, GRADIENT: 4, ARGUMENTS: 2},
    cases=[
        Case("values", "a sentence", drawn_words()),
        Case("values", "as many words as columns", lambda d: args(d.normal(4, 4, std=0.8))),
        Case("values", "one word", lambda d: args(d.normal(1, 4))),
        Case("values", "float64", lambda d: args(d.normal(5, 4, std=0.8, dtype=torch.float64))),
        Case("values", "a transposed table", lambda d: args(d.normal(4, 6, std=0.8).T)),
        Case("batches", "a batch", drawn_words(2)),
        Case("batches", "a batch of one", drawn_words(1)),
        Case("batches", "all sizes equal", lambda d: args(d.normal(3, 3, 3, std=0.8))),
        Case("batches", "two leading axes", drawn_words(2, 3)),
        Case("large scores", "long vectors", drawn_words(std=15.0, dtype=torch.float64)),
        Case(
            "large scores",
            "a short word beside a long one",
            lambda d: args(torch.tensor([[10.0, 0, 1], [20, 1, 0], [0, 2, -1]])),
        ),
    ],
    slips=[
        Slip(
            "columns normalised",
            self_attention,
            "softmax(-1)",
            "softmax(-2)",
            "The softmax runs over the wrong axis, or the weights are transposed: each row of the "
            "weights must sum to one, since row t says how word t mixes all words.",
        ),
        Slip(
            "normalised over the whole table",
            self_attention,
            f"weights = {WEIGHTS}",
            "weights = (x @ x.transpose(-2, -1)).flatten(-2).softmax(-1)"
            ".unflatten(-1, (x.size(-2), x.size(-2)))",
            "All weights of a sentence together sum to one: every row must.",
        ),
        Slip(
            "the word itself left out",
            self_attention,
            f"weights = {WEIGHTS}",
            "weights = (x @ x.transpose(-2, -1)).masked_fill("
            "torch.eye(x.size(-2), dtype=torch.bool), -torch.inf).softmax(-1)",
            "A word does not look at itself: it takes part like every other word.",
        ),
        Slip(
            "the first word's weights for all",
            self_attention,
            f"weights = {WEIGHTS}",
            "weights = (x[..., :1, :] @ x.transpose(-2, -1)).softmax(-1).expand("
            "*x.shape[:-1], x.size(-2))",
            "All rows of the weights are equal, those of the first word: every word compares "
            "itself with all others.",
        ),
        Slip(
            "softmax of the words",
            self_attention,
            WEIGHTS,
            "(x.softmax(-1) @ x.transpose(-2, -1))",
            "The softmax is taken of the words, before they are compared: first the scores, then "
            "their softmax.",
        ),
        Slip(
            "no softmax",
            self_attention,
            ".softmax(-1)",
            "",
            "The scores themselves are used as weights: take their softmax.",
        ),
        Slip(
            "softmax twice",
            self_attention,
            ".softmax(-1)",
            ".softmax(-1).softmax(-1)",
            "The softmax is taken twice: the weights come out far too even.",
        ),
        Slip(
            "scores scaled",
            self_attention,
            "(x @ x.transpose(-2, -1))",
            "(x @ x.transpose(-2, -1) / x.size(-1) ** 0.5)",
            "The scores are divided by the root of the width. A good idea, and the next lesson's; "
            "here they are plain dot products.",
        ),
        Slip(
            "cosine instead of dot product",
            self_attention,
            "(x @ x.transpose(-2, -1))",
            "((x / x.norm(dim=-1, keepdim=True)) @ (x / x.norm(dim=-1, keepdim=True)).mT)",
            "The words are brought to length one before they are compared: use plain dot products.",
        ),
        Slip(
            "only words before it",
            self_attention,
            f"weights = {WEIGHTS}",
            "weights = (x @ x.transpose(-2, -1)).masked_fill("
            "torch.ones(x.size(-2), x.size(-2), dtype=torch.bool).triu(1), -torch.inf).softmax(-1)",
            "A word looks at itself and at the words before it only: here every word looks at "
            "every word.",
        ),
        Slip(
            "only the best word",
            self_attention,
            "return weights @ x",
            "return (weights == weights.amax(-1, keepdim=True)).to(x.dtype) @ x",
            "Only the word with the highest score is taken: that is argmax, not an average.",
        ),
        Slip(
            "mean pooling",
            self_attention,
            "return weights @ x",
            "return (weights @ x).mean(-2)",
            "The outputs are averaged into one vector a sentence: return one row per word.",
        ),
        Slip(
            "plain mean for every word",
            self_attention,
            "return weights @ x",
            "return (weights * 0 + 1 / x.size(-2)) @ x",
            "Every word gets the same plain mean: the scores are not used.",
        ),
        Slip(
            "sentences of a batch mixed",
            self_attention,
            f"weights = {WEIGHTS}  # (..., T, T), rows sum to one\n    return weights @ x",
            "weights = (x.flatten(0, -2) @ x.flatten(0, -2).T).softmax(-1)\n"
            "    return (weights @ x.flatten(0, -2)).reshape(x.shape)",
            "The words of all sentences of the batch look at each other: a sentence must only "
            "see itself.",
        ),
        Slip(
            "weights returned",
            self_attention,
            "return weights @ x",
            "return weights",
            "These are the weights (..., T, T): multiply them with the words.",
        ),
        Slip(
            "the word added",
            self_attention,
            "return weights @ x",
            "return x + weights @ x",
            "The words are added to their averages. That is the residual connection of a later "
            "lesson.",
        ),
        Slip(
            "overflow",
            self_attention,
            f"weights = {WEIGHTS}",
            "weights = (lambda e: e / e.sum(-1, keepdim=True))((x @ x.transpose(-2, -1)).exp())",
            "exp of a score of several hundred is infinite, and infinity over infinity is not a "
            "number: subtract each row's maximum first, or use `softmax`.",
        ),
        Slip(
            "weights detached",
            self_attention,
            "return weights @ x",
            "return weights.detach() @ x",
            "The values are right but no gradient passes through the weights: is there a detach(), "
            ".data or .item(), or a torch.tensor([...]) of results? They keep the numbers and "
            "forget where they came from.",
        ),
        Slip(
            "argument overwritten",
            self_attention,
            "return weights @ x",
            "return x.copy_(weights @ x)",
            "The call changes its own argument: make a new tensor.",
        ),
    ],
)
