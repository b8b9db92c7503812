"""additive_scores: the cases it is tried in, and the slips that are known."""

from autograder.checks.draw import args
from autograder.checks.question import GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from solutions.alignment import additive_scores


def _additive(*leading):
    def draw(d):
        t, s, width = d.sizes(3)
        v = d.normal(width)
        return args(d.normal(*leading, t, width), d.normal(*leading, s, width), v)

    return draw


QUESTION = Exercise(
    additive_scores,
    parts={"values": 8, "any leading axes": 5, GRADIENT: 3},
    cases=[
        Case("values", "a few queries and keys", _additive()),
        Case(
            "values",
            "as many of all",
            lambda d: args(d.normal(4, 4), d.normal(4, 4), d.normal(4)),
        ),
        Case("values", "one query", lambda d: args(d.normal(1, 3), d.normal(5, 3), d.normal(3))),
        Case("values", "one column", lambda d: args(d.normal(3, 1), d.normal(4, 1), d.normal(1))),
        Case("any leading axes", "a batch", _additive(3)),
        Case("any leading axes", "two leading axes", _additive(2, 3)),
        Case(
            "any leading axes",
            "a batch as long as its rows",
            lambda d: args(d.normal(3, 3, 3), d.normal(3, 3, 3), d.normal(3)),
        ),
    ],
    slips=[
        Slip(
            "no tanh",
            additive_scores,
            "torch.tanh(pairs) @ v",
            "pairs @ v",
            "The tanh is missing. Without it the query adds the same number to all scores of its "
            "row, and the softmax does not see it: every query would look at the same places.",
        ),
        Slip(
            "tanh of each apart",
            additive_scores,
            "query.unsqueeze(-2) + keys.unsqueeze(-3)  # (..., T, 1, A) + (..., 1, S, A)\n"
            "    return torch.tanh(pairs) @ v",
            "torch.tanh(query.unsqueeze(-2)) + torch.tanh(keys.unsqueeze(-3))\n"
            "    return pairs @ v",
            "Query and key pass through tanh apart: then the query only adds a constant to its "
            "row. Add first, then take tanh of the sum.",
        ),
        Slip(
            "v inside the tanh",
            additive_scores,
            "torch.tanh(pairs) @ v",
            "torch.tanh(pairs @ v)",
            "The columns are weighed before tanh; take tanh of each column first, then weigh.",
        ),
        Slip(
            "v not used",
            additive_scores,
            "torch.tanh(pairs) @ v",
            "torch.tanh(pairs).sum(-1) + 0 * v.sum()",
            "The columns are added up with equal weights: v is not used.",
        ),
        Slip(
            "multiplied instead of added",
            additive_scores,
            "query.unsqueeze(-2) + keys.unsqueeze(-3)",
            "query.unsqueeze(-2) * keys.unsqueeze(-3)",
            "Query and key are multiplied; the additive score adds them.",
        ),
        Slip(
            "difference",
            additive_scores,
            "query.unsqueeze(-2) + keys.unsqueeze(-3)",
            "query.unsqueeze(-2) - keys.unsqueeze(-3)",
            "The key is subtracted from the query; the additive score adds them.",
        ),
        Slip(
            "keys ask, queries answer",
            additive_scores,
            "query.unsqueeze(-2) + keys.unsqueeze(-3)",
            "query.unsqueeze(-3) + keys.unsqueeze(-2)",
            "The table is the wrong way round: one row for every query, one column for every key.",
        ),
        Slip(
            "ReLU",
            additive_scores,
            "torch.tanh(pairs)",
            "torch.relu(pairs)",
            "A ReLU stands where the formula has tanh.",
        ),
        Slip(
            "sigmoid",
            additive_scores,
            "torch.tanh(pairs)",
            "torch.sigmoid(pairs)",
            "A sigmoid stands where the formula has tanh.",
        ),
        Slip(
            "weights, not scores",
            additive_scores,
            "torch.tanh(pairs) @ v",
            "(torch.tanh(pairs) @ v).softmax(-1)",
            "The softmax is taken already. Scores are any numbers; `masked_softmax` comes later.",
        ),
        Slip(
            "v detached",
            additive_scores,
            "torch.tanh(pairs) @ v",
            "torch.tanh(pairs) @ v.detach()",
            "The values are right, but no gradient reaches v: is there a detach() or .data?",
        ),
    ],
)
