"""which_line: a picture, and which slip could have drawn it."""

import torch

from autograder.checks.question import Choice, Puzzle
from autograder.checks.slips import patched
from autograder.lessons.byte_pairs.merge_pair import QUESTION as MERGE
from solutions.tokenizer import Tokenizer
from solutions.words import byte_ids

PUZZLE_WORDS = ("low", "lower", "slowest", "wow")


def puzzle() -> Puzzle:
    """How many bytes come back from four words, where a merge leaves its right half behind."""
    own = patched(next(s for s in MERGE.slips if s.name == "right half left behind"))
    words = {byte_ids(word): 5 - i for i, word in enumerate(PUZZLE_WORDS)}
    merges, columns = own["train_bpe"](words, 5), []
    for n in range(6):
        some = dict([*merges.items()][:n])
        vocab = Tokenizer(some).vocab
        columns.append([sum(len(vocab[i]) for i in own["encode"](w, some)) for w in words])
    title = "bytes of decode(encode(word))"
    return Puzzle(torch.tensor(columns).float().T, title, "word", "merges used")


QUESTION = Choice(
    "which_line",
    points=7,
    right="c",
    answers={
        "a": "Merges learned from the rarest pairs are poor ones, but each token still spells its "
        "two halves: the way back would be exact.",
        "b": "Merging in another order gives other tokens, and decoding them gives the same "
        "bytes: any row of merges can be undone.",
        "c": "The text has grown, so a byte was written twice. Every token spells its two halves, "
        "so only a merge that leaves one of them standing can do that: column by column, each new "
        "merge adds the bytes of its right half once more.",
        "d": "Counted across borders, pairs such as (w, l), from the end of *low* to the start of "
        "*lower*, would be learned. They are useless inside words, but the way back would be "
        "exact.",
    },
)
