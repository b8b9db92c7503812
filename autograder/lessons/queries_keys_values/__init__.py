"""queries_keys_values: three projections, scaled attention, two masks, cross-attention."""

from autograder.lessons.queries_keys_values.causal_mask import CAUSAL
from autograder.lessons.queries_keys_values.cross_attention import CROSS
from autograder.lessons.queries_keys_values.padding_mask import PADDING
from autograder.lessons.queries_keys_values.project_qkv import PROJECT
from autograder.lessons.queries_keys_values.scaled_dot_product_attention import ATTENTION
from autograder.lessons.queries_keys_values.what_the_scale_does import WHAT_THE_SCALE_DOES
from autograder.lessons.queries_keys_values.which_line import WHICH_LINE, puzzle

__all__ = ["QUESTIONS", "puzzle"]

QUESTIONS = [PROJECT, ATTENTION, CAUSAL, PADDING, CROSS, WHICH_LINE, WHAT_THE_SCALE_DOES]
