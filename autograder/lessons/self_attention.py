"""self_attention: one word at a time, all words at once, and what it costs."""

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
from solutions.self_attention import attention_cost, self_attention, self_attention_loop


def _words(*leading, std=0.8, dtype=torch.float32):
    """Draw words whose scores leave no softmax saturated: every slip shows."""

    def draw(d):
        t, c = d.sizes(2, 3, 6)
        return args(d.normal(*leading, t, c, std=std, dtype=dtype))

    return draw


SCORES = "scores = torch.stack([x[t] @ other for other in x])"
OUTPUT = "outputs.append((weights.unsqueeze(1) * x).sum(0))"

LOOP = Exercise(
    self_attention_loop,
    parts={"values": 17, GRADIENT: 4, ARGUMENTS: 4},
    cases=[
        Case("values", "a sentence", _words()),
        Case("values", "as many words as columns", lambda d: args(d.normal(4, 4, std=0.8))),
        Case("values", "one word", lambda d: args(d.normal(1, 4))),
        Case("values", "one column", lambda d: args(d.normal(5, 1))),
        Case("values", "twice the same word", lambda d: args(d.normal(3, 4)[[0, 1, 0, 2]])),
        Case("values", "a transposed table", lambda d: args(d.normal(4, 6, std=0.8).T)),
    ],
    slips=[
        Slip(
            "the word itself left out",
            self_attention_loop,
            SCORES,
            "scores = torch.stack([x[t] @ x[s] if s != t else x.new_tensor(-torch.inf) "
            "for s in range(len(x))])",
            "A word does not look at itself: it takes part like every other word.",
        ),
        Slip(
            "the first word's weights for all",
            self_attention_loop,
            "x[t] @ other",
            "x[0] @ other",
            "Every word uses the scores of the first one: word t compares itself, x[t].",
        ),
        Slip(
            "only words before it",
            self_attention_loop,
            f"{SCORES}  # (T)\n        weights = scores.softmax(0)\n        {OUTPUT}",
            "scores = torch.stack([x[t] @ other for other in x[: t + 1]])\n"
            "        weights = scores.softmax(0)\n"
            "        outputs.append((weights.unsqueeze(1) * x[: t + 1]).sum(0))",
            "A word looks at itself and at the words before it only: here every word looks at "
            "every word. (Not to look ahead is a matter for masks, one lesson on.)",
        ),
        Slip(
            "no softmax",
            self_attention_loop,
            "scores.softmax(0)",
            "scores",
            "The scores themselves are used as weights: they may be negative and do not sum to "
            "one. Take their softmax.",
        ),
        Slip(
            "divided by the sum",
            self_attention_loop,
            "scores.softmax(0)",
            "scores / scores.sum()",
            "The scores are divided by their sum, without exponentials: weights may be negative "
            "or huge.",
        ),
        Slip(
            "scores scaled",
            self_attention_loop,
            SCORES,
            "scores = torch.stack([x[t] @ other for other in x]) / x.size(-1) ** 0.5",
            "The scores are divided by the root of the width. A good idea, and the next lesson's; "
            "here they are plain dot products.",
        ),
        Slip(
            "cosine instead of dot product",
            self_attention_loop,
            "x[t] @ other",
            "torch.cosine_similarity(x[t], other, dim=0)",
            "The words are brought to length one before they are compared: use plain dot products.",
        ),
        Slip(
            "distance instead of dot product",
            self_attention_loop,
            "x[t] @ other",
            "-(x[t] - other).norm()",
            "The scores are negative distances: use dot products.",
        ),
        Slip(
            "only the best word",
            self_attention_loop,
            "scores.softmax(0)",
            "(scores == scores.max()).to(x.dtype)",
            "Only the word with the highest score is taken: that is argmax, not an average.",
        ),
        Slip(
            "plain mean",
            self_attention_loop,
            "scores.softmax(0)",
            "torch.full_like(scores, 1 / x.size(0))",
            "All words get the same weight: the scores are not used.",
        ),
        Slip(
            "outputs averaged",
            self_attention_loop,
            "torch.stack(outputs)",
            "torch.stack(outputs).mean(0)",
            "The outputs are averaged into one vector: return one row per word.",
        ),
        Slip(
            "the word added",
            self_attention_loop,
            "(weights.unsqueeze(1) * x).sum(0)",
            "x[t] + (weights.unsqueeze(1) * x).sum(0)",
            "The word itself is added to its average. That is the residual connection of a later "
            "lesson.",
        ),
        Slip(
            "words changed on the way",
            self_attention_loop,
            f"{OUTPUT}  # (C)\n    return torch.stack(outputs)",
            "x = torch.cat([x[:t], (weights.unsqueeze(1) * x).sum(0)[None], x[t + 1 :]])\n"
            "    return x",
            "Output t is written over word t, and the next word already looks at the new one: all "
            "outputs are made from the words as they came.",
        ),
        Slip(
            "words overwritten on the way",
            self_attention_loop,
            f"{OUTPUT}  # (C)\n    return torch.stack(outputs)",
            "x[t] = (weights.unsqueeze(1) * x).sum(0)\n    return x",
            "Output t is written over word t, in the caller's own tensor, and the next word "
            "already looks at the new one: collect the outputs in a list and stack them.",
        ),
        Slip(
            "weights detached",
            self_attention_loop,
            "scores.softmax(0)",
            "scores.softmax(0).detach()",
            "The values are right but no gradient passes through the weights: is there a detach(), "
            ".data or .item(), or a torch.tensor([...]) of results? They keep the numbers and "
            "forget where they came from.",
        ),
        Slip(
            "argument overwritten",
            self_attention_loop,
            "torch.stack(outputs)",
            "x.copy_(torch.stack(outputs))",
            "The call writes its result into its own argument: make a new tensor.",
        ),
    ],
    equivalent={
        "self_attention_loop: scores.softmax(0) -> scores.softmax(-1)": "one axis: 0 is the last",
        "self_attention_loop: weights.unsqueeze(1) -> weights.unsqueeze(-1)": "one axis, so behind "
        "it is behind the last",
        "self_attention_loop: x[t] @ other -> other @ x[t]": "a dot product is symmetric",
    },
)

WEIGHTS = "(x @ x.transpose(-2, -1)).softmax(-1)"

ALL = Exercise(
    self_attention,
    parts={"values": 12, "batches": 8, "large scores": 4, GRADIENT: 4, ARGUMENTS: 2},
    cases=[
        Case("values", "a sentence", _words()),
        Case("values", "as many words as columns", lambda d: args(d.normal(4, 4, std=0.8))),
        Case("values", "one word", lambda d: args(d.normal(1, 4))),
        Case("values", "float64", lambda d: args(d.normal(5, 4, std=0.8, dtype=torch.float64))),
        Case("values", "a transposed table", lambda d: args(d.normal(4, 6, std=0.8).T)),
        Case("batches", "a batch", _words(2)),
        Case("batches", "a batch of one", _words(1)),
        Case("batches", "all sizes equal", lambda d: args(d.normal(3, 3, 3, std=0.8))),
        Case("batches", "two leading axes", _words(2, 3)),
        Case("large scores", "long vectors", _words(std=15.0, dtype=torch.float64)),
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

COST = Exercise(
    attention_cost,
    parts={"values": 10},
    cases=[
        Case("values", "a short sentence", lambda d: args(*d.sizes(2))),
        Case("values", "more words than columns", lambda d: args(d.sizes(1)[0] + 50, 16)),
        Case("values", "more columns than words", lambda d: args(d.sizes(1)[0], 512)),
        Case("values", "one word", lambda d: args(1, d.sizes(1)[0])),
        Case("values", "a book", lambda d: args(100_000, 1024)),
    ],
    slips=[
        Slip(
            "only one of the two products",
            attention_cost,
            "2 * n_token",
            "n_token",
            "Only one matrix product is counted: scores and averages cost T * T * C each.",
        ),
        Slip(
            "linear in the words",
            attention_cost,
            "2 * n_token * n_token * n_embd",
            "2 * n_token * n_embd",
            "The count grows with T, but there are T * T scores: every word meets every word.",
        ),
        Slip(
            "the size of the input",
            attention_cost,
            "2 * n_token * n_token * n_embd",
            "n_token * n_embd",
            "T * C is how many numbers go in. Every word meets every word, C products each time, "
            "and then the averages cost as much again.",
        ),
        Slip(
            "the number of scores",
            attention_cost,
            "2 * n_token * n_token * n_embd",
            "n_token * n_token",
            "T * T is how many scores there are: each is a sum of C products, and the averages "
            "come on top.",
        ),
        Slip(
            "the cost of a recurrence",
            attention_cost,
            "2 * n_token * n_token * n_embd",
            "2 * n_token * n_embd * n_embd",
            "T * C * C is what a recurrent layer costs; here there are no matrices of C by C, but "
            "T by T scores.",
        ),
        Slip(
            "the width forgotten",
            attention_cost,
            "2 * n_token * n_token * n_embd",
            "2 * n_token * n_token",
            "Each score is a sum of C products, and each average has C columns: times C.",
        ),
        Slip(
            "multiplications and additions apart",
            attention_cost,
            "2 * n_token",
            "4 * n_token",
            "Multiplication and addition are counted apart: here the two together count as one.",
        ),
        Slip(
            "softmax counted",
            attention_cost,
            "2 * n_token * n_token * n_embd",
            "2 * n_token * n_token * n_embd + n_token * n_token",
            "The softmax is counted too: only the two matrix products are asked for.",
        ),
        Slip(
            "projections counted",
            attention_cost,
            "2 * n_token * n_token * n_embd",
            "2 * n_token * n_token * n_embd + 3 * n_token * n_embd * n_embd",
            "Three projections are counted: this attention has no matrices of its own yet.",
        ),
        Slip(
            "a score for each pair once",
            attention_cost,
            "2 * n_token * n_token * n_embd",
            "n_token * (n_token + 1) // 2 * n_embd + n_token * n_token * n_embd",
            "Each pair of words is counted once, as the scores are symmetric. True, but the matrix "
            "product computes all T * T of them.",
        ),
    ],
)


def puzzle() -> Puzzle:
    """The weights of a self-attention in which all words use those of the first."""
    slip = next(s for s in ALL.slips if s.name == "the first word's weights for all")
    words = Draw("puzzle").normal(5, 3, std=0.8)
    # the words beside an identity of length 0: what comes out are the weights
    marked = torch.cat([words, 1e-4 * torch.eye(5)], dim=-1)
    weights = patched(slip)["self_attention"](marked)[:, 3:] * 1e4
    return Puzzle(weights, "weights of five words", "word that looks", "word looked at", sums=True)


WHICH_LINE = Choice(
    "which_line",
    points=10,
    right="d",
    answers={
        "a": "Normalised along the columns, every column would sum to one. Here the rows do.",
        "b": "Without the word itself, the diagonal would be empty.",
        "c": "A plain mean would have the same number in every cell, 0.20.",
        "d": "The rows sum to one, but they are all the same: whoever asks, the question is that "
        "of word 0.",
    },
)


def _swap(own, seed):
    """Exchange words of a sentence and see which outputs move, and how far."""
    import torch

    draw = torch.Generator().manual_seed(seed)
    x = torch.randn(6, 4, generator=draw)
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    before, after = own.self_attention(x), own.self_attention(x[order])
    return {
        "in_place": float((after - before).abs().max()),
        "moved_along": float((after - before[order]).abs().max()),
        "mean": float((after.mean(0) - before.mean(0)).abs().max()),
    }


def _what_order_does(measured: dict) -> str:
    if measured["in_place"] < 1e-3:
        return "a"
    if measured["moved_along"] < 1e-3:
        return "b"
    return "c" if measured["mean"] < 1e-3 else "d"


WHAT_ORDER_DOES = Conclusion(
    "what_order_does",
    points=15,
    probe=_swap,
    inputs=(0,),
    decide=_what_order_does,
    measures=[self_attention],
    answers={
        letter: "With {whose} function, outputs at the same place differed by up to "
        "{in_place:.2g}, outputs of the same word by up to {moved_along:.2g}, the means of all "
        "outputs by {mean:.2g}."
        for letter in "abcd"
    },
)

QUESTIONS = [LOOP, ALL, COST, WHICH_LINE, WHAT_ORDER_DOES]
