"""alibi_bias: the cases it is tried in, and the slips that are known."""

from autograder.checks.draw import args
from autograder.checks.question import Case, Exercise
from autograder.checks.slips import Slip
from solutions.position import alibi_bias

QUESTION = Exercise(
    alibi_bias,
    parts={"looking back": 5, "fewer queries": 2, "both directions": 3},
    cases=[
        Case("looking back", "a few heads", lambda d: args(d.random.choice([3, 5, 6]), 4)),
        Case("looking back", "eight heads", lambda d: args(8, 5)),
        Case("looking back", "as many heads as tokens", lambda d: args(4, 4)),
        Case("looking back", "one head", lambda d: args(1, 6)),
        Case("looking back", "one token", lambda d: args(3, 1)),
        Case("fewer queries", "the last queries of a text", lambda d: args(3, 2, 5)),
        Case("fewer queries", "one query", lambda d: args(2, 1, 7)),
        Case("both directions", "four heads", lambda d: args(4, 5, causal=False)),
        Case("both directions", "three heads", lambda d: args(3, 4, causal=False)),
        Case("both directions", "one head", lambda d: args(1, 3, causal=False)),
        Case("both directions", "more keys", lambda d: args(2, 3, 5, causal=False)),
    ],
    slips=[
        Slip(
            "slopes 2^-h",
            alibi_bias,
            "2.0 ** (-8 * torch.arange(1, n_head + 1) / n_head)",
            "2.0 ** (-torch.arange(1, n_head + 1))",
            "The slopes are 2^-h: that fits eight heads only. With H heads they are 2^(-8h / H), "
            "so that the last is always 2^-8.",
        ),
        Slip(
            "heads from zero",
            alibi_bias,
            "torch.arange(1, n_head + 1) / n_head",
            "torch.arange(n_head) / n_head",
            "The heads are counted from 0: the first slope is 2^(-8 / H), not 1.",
        ),
        Slip(
            "symmetric",
            alibi_bias,
            "(-slope[:, None, None] * back).masked_fill(back < 0, -torch.inf)",
            "-slope[:, None, None] * back.abs()",
            "Only the distance counts: without -inf on one side a head cannot tell before from "
            "after, and a layer that sees both sides stays blind to order.",
        ),
        Slip(
            "distance as a reward",
            alibi_bias,
            "(-slope[:, None, None] * back)",
            "(slope[:, None, None] * back)",
            "The sign is wrong: the further a key, the more it is preferred. It should be a "
            "penalty.",
        ),
        Slip(
            "later keys at zero",
            alibi_bias,
            "back < 0, -torch.inf",
            "back < 0, 0.0",
            "The keys on the other side get 0, the best there is; they should get -inf.",
        ),
        Slip(
            "later keys open",
            alibi_bias,
            ".masked_fill(back < 0, -torch.inf)",
            "",
            "The keys on the other side are not closed: they even get a bonus that grows with the "
            "distance. They should get -inf.",
        ),
        Slip(
            "own place closed",
            alibi_bias,
            "back < 0",
            "back <= 0",
            "The query's own place is closed as well: its distance is 0 and so is its penalty.",
        ),
        Slip(
            "queries from position 0",
            alibi_bias,
            "torch.arange(n_key - n_query, n_key)",
            "torch.arange(n_query)",
            "With fewer queries than keys the queries are the last tokens: query i stands at "
            "position i + S - T, not at i.",
        ),
        Slip(
            "one slope for all heads",
            alibi_bias,
            "-slope[:, None, None]",
            "-slope[0]",
            "All heads have the slope of the first: then they all look equally far.",
        ),
        Slip(
            "all heads look back",
            alibi_bias,
            "if not causal:",
            "if False:",
            "`causal` is not used: with causal=False heads 2, 4, ... look ahead.",
        ),
        Slip(
            "first heads look ahead",
            alibi_bias,
            "% 2 == 1",
            "% 2 == 0",
            "With causal=False heads 1, 3, ... look ahead; they should look back, and heads "
            "2, 4, ... ahead.",
        ),
        Slip(
            "half the heads each",
            alibi_bias,
            "torch.arange(n_head) % 2 == 1",
            "torch.arange(n_head) >= (n_head + 1) // 2",
            "The second half of the heads looks ahead: then all steep slopes look back. It is "
            "every second head: 2, 4, ...",
        ),
        Slip(
            "the other way round for all",
            alibi_bias,
            "if not causal:",
            "if causal:",
            "`causal` is the wrong way round: True means that all heads look back.",
        ),
    ],
)
