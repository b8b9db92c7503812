"""byte_pairs: counting and merging pairs, learning merges, encoding by rank, the tokeniser."""

from autograder.lessons.byte_pairs import (
    count_pairs,
    encode,
    merge_pair,
    tokenizer,
    train_bpe,
    which_line,
    who_pays,
)

QUESTIONS = [
    count_pairs.QUESTION,
    merge_pair.QUESTION,
    train_bpe.QUESTION,
    encode.QUESTION,
    tokenizer.QUESTION,
    which_line.QUESTION,
    who_pays.QUESTION,
]
puzzle = which_line.puzzle
