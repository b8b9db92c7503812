"""self_attention: one word at a time, all words at once, and what it costs."""

from autograder.lessons.self_attention import (
    attention_cost,
    self_attention,
    self_attention_loop,
    what_order_does,
    which_line,
)

QUESTIONS = [
    self_attention_loop.QUESTION,
    self_attention.QUESTION,
    attention_cost.QUESTION,
    which_line.QUESTION,
    what_order_does.QUESTION,
]
puzzle = which_line.puzzle
