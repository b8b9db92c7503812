"""multi_head: splitting into heads, merging them, the whole layer."""

from autograder.lessons.multi_head.merge_heads import MERGE
from autograder.lessons.multi_head.multi_head_attention import LAYER
from autograder.lessons.multi_head.split_heads import SPLIT
from autograder.lessons.multi_head.what_heads_buy import WHAT_HEADS_BUY
from autograder.lessons.multi_head.which_line import WHICH_LINE, puzzle

__all__ = ["QUESTIONS", "puzzle"]

QUESTIONS = [SPLIT, MERGE, LAYER, WHICH_LINE, WHAT_HEADS_BUY]
