"""multi_head: splitting into heads, merging them, the whole layer."""

from autograder.lessons.multi_head import (
    merge_heads,
    multi_head_attention,
    split_heads,
    what_heads_buy,
    which_line,
)

QUESTIONS = [
    split_heads.QUESTION,
    merge_heads.QUESTION,
    multi_head_attention.QUESTION,
    which_line.QUESTION,
    what_heads_buy.QUESTION,
]
puzzle = which_line.puzzle
