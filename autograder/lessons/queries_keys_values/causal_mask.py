"""causal_mask: the cases it is tried in, and the slips that are known."""

from autograder.checks.draw import args
from autograder.checks.question import Case, Exercise
from autograder.checks.slips import Slip
from solutions.queries_keys_values import causal_mask

ROWS = "torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query)"


QUESTION = Exercise(
    causal_mask,
    parts={"values": 6, "more keys than queries": 4},
    cases=[
        Case("values", "a few tokens", lambda d: args(d.sizes(1, 3, 7)[0])),
        Case("values", "one token", lambda d: args(1)),
        Case("values", "as many keys as queries", lambda d: args(4, 4)),
        Case("more keys than queries", "the last of many", lambda d: args(*sorted(d.sizes(2)))),
        Case("more keys than queries", "one query", lambda d: args(1, d.sizes(1)[0])),
    ],
    slips=[
        Slip(
            "the token itself forbidden",
            causal_mask,
            "tril(n_key - n_query)",
            "tril(n_key - n_query - 1)",
            "A token may not look at itself, and the first may look at nothing: the diagonal is "
            "allowed.",
        ),
        Slip(
            "one token ahead",
            causal_mask,
            "tril(n_key - n_query)",
            "tril(n_key - n_query + 1)",
            "Every token sees the next one, which is what it is to predict.",
        ),
        Slip(
            "inverted",
            causal_mask,
            ROWS,
            f"~{ROWS}",
            "The mask is the wrong way round: True means that looking is allowed. (PyTorch's "
            "`attn_mask` of nn.MultiheadAttention means the opposite.)",
        ),
        Slip(
            "the future instead of the past",
            causal_mask,
            ".tril(n_key - n_query)",
            ".triu(n_key - n_query)",
            "This allows the token itself and what comes after: `tril` keeps the lower triangle.",
        ),
        Slip(
            "counted from the first key",
            causal_mask,
            "tril(n_key - n_query)",
            "tril()",
            "With more keys than queries the first query is taken for token 0. The queries are the "
            "last ones: query i stands at position i + S - T.",
        ),
        Slip(
            "shifted the wrong way",
            causal_mask,
            "n_key - n_query)",
            "n_query - n_key)",
            "The shift has the wrong sign: query i stands at position i + S - T.",
        ),
        Slip(
            "a square of keys",
            causal_mask,
            ROWS,
            "torch.ones(n_key, n_key, dtype=torch.bool).tril()",
            "There is a row for every key: the mask has a row for each query, (T, S).",
        ),
        Slip(
            "a square of queries",
            causal_mask,
            ROWS,
            "torch.ones(n_query, n_query, dtype=torch.bool).tril()",
            "`n_key` is not used: the mask has a column for each key, (T, S).",
        ),
        Slip(
            "rows and columns exchanged",
            causal_mask,
            ROWS,
            f"{ROWS}.T",
            "Rows and columns are exchanged: a row belongs to a query, a column to a key.",
        ),
        Slip(
            "ones and zeros",
            causal_mask,
            ", dtype=torch.bool",
            "",
            "The mask holds numbers, 1.0 and 0.0: return booleans.",
        ),
        Slip(
            "minus infinities",
            causal_mask,
            ROWS,
            "torch.full((n_query, n_key), -torch.inf).triu(n_key - n_query + 1)",
            "The mask holds 0 and minus infinity, to be added to the scores. Here a mask is "
            "boolean, True where looking is allowed.",
        ),
    ],
)
