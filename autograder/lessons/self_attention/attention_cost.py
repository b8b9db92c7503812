"""attention_cost: the cases it is tried in, and the slips that are known."""

from autograder.checks.draw import args
from autograder.checks.question import Case, Exercise
from autograder.checks.slips import Slip
from solutions.self_attention import attention_cost

QUESTION = Exercise(
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
