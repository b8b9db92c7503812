"""self_attention_loop: the cases it is tried in, and the slips that are known."""

from autograder.checks.draw import args
from autograder.checks.question import ARGUMENTS, GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.self_attention.shared import drawn_words
from solutions.self_attention import self_attention_loop

SCORES = "scores = torch.stack([x[t] @ other for other in x])"


OUTPUT = "outputs.append((weights.unsqueeze(1) * x).sum(0))"


QUESTION = Exercise(
    self_attention_loop,
    parts={"values": 17, GRADIENT: 4, ARGUMENTS: 4},
    cases=[
        Case("values", "a sentence", drawn_words()),
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
