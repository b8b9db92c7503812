"""weighted_average: the cases it is tried in, and the slips that are known."""

from autograder.checks.draw import args
from autograder.checks.question import Case, Exercise
from autograder.checks.slips import Slip
from solutions.warm_up import weighted_average


def _average(*leading_w, leading_v=None):
    def draw(d):
        t, s, c = d.sizes(3)
        values = leading_w if leading_v is None else leading_v
        return args(d.rows(*leading_w, t, s), d.normal(*values, s, c))

    return draw


QUESTION = Exercise(
    weighted_average,
    parts={"values": 10, "batches": 6, "gradient": 4},
    cases=[
        Case("values", "a few rows", _average()),
        Case("values", "as many rows as columns", lambda d: args(d.rows(4, 4), d.normal(4, 4))),
        Case("values", "one token", lambda d: args(d.rows(1, 1), d.normal(1, 3))),
        Case("batches", "a batch", _average(3)),
        Case(
            "batches",
            "a batch as long as its rows",
            lambda d: args(d.rows(3, 3, 3), d.normal(3, 3, 3)),
        ),
        Case("batches", "two leading axes", _average(2, 3)),
        Case("batches", "one table of values for all", _average(5, leading_v=())),
        Case("batches", "one table of weights for all", _average(leading_v=(5,))),
        Case("batches", "leading axes of length one", _average(2, 1, leading_v=(3,))),
        Case(
            "batches", "a transposed table", lambda d: args(d.rows(2, 3, 4), d.normal(2, 5, 4).mT)
        ),
    ],
    slips=[
        Slip(
            "weights transposed",
            weighted_average,
            "weights @ values",
            "weights.transpose(-2, -1) @ values",
            "The weights are transposed: row t of `weights` says how token t mixes the values.",
        ),
        Slip(
            "multiplied element by element",
            weighted_average,
            "weights @ values",
            "weights * values",
            "`*` multiplies place by place; a weighted sum over the rows is a matrix product, `@`.",
        ),
        Slip(
            "softmax again",
            weighted_average,
            "weights @ values",
            "weights.softmax(-1) @ values",
            "The weights sum to one already; another softmax makes them nearly equal.",
        ),
        Slip(
            "plain mean",
            weighted_average,
            "weights @ values",
            "(weights * 0 + 1 / weights.size(-1)) @ values",
            "This is the plain mean of the values: the weights are not used.",
        ),
        Slip(
            "only the best row",
            weighted_average,
            "weights @ values",
            "(weights == weights.amax(-1, keepdim=True)).to(values) @ values",
            "Only the row with the largest weight is taken: that is argmax, not an average.",
        ),
        Slip(
            "divided by the number of rows",
            weighted_average,
            "weights @ values",
            "weights @ values / values.size(-2)",
            "The weights sum to one, so the weighted sum is the average already: do not divide by "
            "the number of rows.",
        ),
        Slip(
            "divided by the sum of the weights",
            weighted_average,
            "weights @ values",
            "weights @ values / weights.sum(-1, keepdim=True)",
            "The result is right, but you divide by the sum of the weights, which is one already: "
            "the gradient with respect to the weights becomes another.",
        ),
        Slip(
            "columns normalised",
            weighted_average,
            "weights @ values",
            "(weights / weights.sum(-2, keepdim=True)) @ values",
            "The weights are divided by the sum of each column; they come normalised by rows.",
        ),
        Slip(
            "one batch for all",
            weighted_average,
            "weights @ values",
            "weights @ (values if values.dim() < 3 else values[:1])",
            "Every batch is averaged with the values of the first one.",
        ),
    ],
)
