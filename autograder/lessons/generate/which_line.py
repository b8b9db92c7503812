"""which_line: a picture, and which slip could have drawn it."""

import torch

from autograder.checks.draw import Draw
from autograder.checks.question import Choice, Puzzle
from autograder.checks.slips import patched
from autograder.lessons.generate.kv_cache import QUESTION as CACHE
from autograder.lessons.generate.shared import drawn_config, drawn_weights
from solutions.gpt import GPT
from solutions.gpt_block import GPTConfig


def puzzle() -> Puzzle:
    """How strongly each token acts on each score, where the mask forgot the tokens before."""
    slip = next(s for s in CACHE.slips if s.name == "mask without the start")
    d = Draw("puzzle of generate")
    config = drawn_config(n_layer=1, block_size=6)
    model = GPT(GPTConfig(**config))
    model.load_state_dict(drawn_weights(d, config))
    model.eval()
    ids = d.integers(0, 9, 1, 6)

    def scores(text):
        cache = patched(slip)["KVCache"](1)
        with torch.no_grad():
            pieces = [cache.read(model, piece) for piece in text.split([3, 1, 1, 1], dim=1)]
        return torch.cat(pieces, dim=1)[0]

    def changed(s):
        other = ids.clone()
        other[0, s] = (other[0, s] + 1) % 9
        return (scores(other) - scores(ids)).norm(dim=-1)

    table = torch.stack([changed(s) for s in range(6)], dim=1)
    title = "change of scores t when token s is another (tokens 0-2 read at once)"
    return Puzzle(table, title, "scores t", "token s")


QUESTION = Choice(
    "which_line",
    points=6,
    right="b",
    answers={
        "a": "With restarted positions the scores would be wrong, but every token would still see "
        "all before it: nothing below the diagonal would be empty.",
        "b": "Right for the first three, which are read at once: there start is 0. After that the "
        "mask has one row, and its diagonal is column 0: a new token sees the very first token "
        "and, through the residual connection, itself.",
        "c": "Without the cache a token that is read alone would depend on itself only; here the "
        "first token acts on all of them.",
        "d": "With a mask that is True everywhere the first three would see each other's future: "
        "the cells above the diagonal would be filled.",
    },
)
