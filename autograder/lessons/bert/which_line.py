"""which_line: a picture, and which slip could have drawn it."""

import torch

from autograder.checks.draw import Draw
from autograder.checks.question import Choice, Puzzle
from autograder.checks.slips import patched
from autograder.lessons.bert.bert import QUESTION as ENCODER
from autograder.lessons.bert.shared import drawn_weights


def puzzle() -> Puzzle:
    """How strongly each token acts on each vector, where the mask lies along the queries."""
    slip = next(s for s in ENCODER.slips if s.name == "padding may not look")
    config = {"n_vocab": 19, "block_size": 9, "n_embd": 12, "n_head": 2, "n_layer": 1}
    bert = patched(slip)["BERT"](**config)
    bert.load_state_dict(drawn_weights(Draw("puzzle", 1), config))
    ids = torch.tensor([[1, 7, 12, 5, 0, 0]])  # four words, two places of padding
    x = bert(ids)[0]  # (6, 12)

    def influence(t):
        rows = torch.autograd.grad(
            x[t].sum() + x[t].square().sum(), bert.position.table.weight, retain_graph=True
        )[0]
        return rows[:6].norm(dim=-1)

    table = torch.stack([influence(t) for t in range(6)])
    title = "how strongly token j acts on the vector of token i\n(4 and 5 are padding)"
    return Puzzle(table / table.max(), title, "vector of token i", "token j")


QUESTION = Choice(
    "which_line",
    points=8,
    right="c",
    answers={
        "a": "Without a mask padding would look at all tokens, too: rows 4 and 5 would be filled. "
        "In the picture they have nothing but their own place.",
        "b": "With a causal mask everything above the diagonal would be empty. Here token 0 is "
        "moved by tokens 1 to 5.",
        "c": "The mask lies along the queries: rows 4 and 5, padding, may not look at anything, "
        "while every word looks at padding (columns 4 and 5). The mask should close columns.",
        "d": "With the mask turned round the words could look at padding only: in rows 0 to 3 the "
        "columns 0 to 3 would be empty off the diagonal.",
    },
)
