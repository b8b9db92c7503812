"""self_attention: one word at a time, all words at once, and what it costs."""

from autograder.lessons.self_attention.attention_cost import COST
from autograder.lessons.self_attention.self_attention import ALL
from autograder.lessons.self_attention.self_attention_loop import LOOP
from autograder.lessons.self_attention.what_order_does import WHAT_ORDER_DOES
from autograder.lessons.self_attention.which_line import WHICH_LINE, puzzle

__all__ = ["QUESTIONS", "puzzle"]

QUESTIONS = [LOOP, ALL, COST, WHICH_LINE, WHAT_ORDER_DOES]
