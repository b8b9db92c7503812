"""queries_keys_values: three projections, scaled attention, two masks, cross-attention."""

from autograder.lessons.queries_keys_values import (
    causal_mask,
    cross_attention,
    padding_mask,
    project_qkv,
    scaled_dot_product_attention,
    what_the_scale_does,
    which_line,
)

QUESTIONS = [
    project_qkv.QUESTION,
    scaled_dot_product_attention.QUESTION,
    causal_mask.QUESTION,
    padding_mask.QUESTION,
    cross_attention.QUESTION,
    which_line.QUESTION,
    what_the_scale_does.QUESTION,
]
puzzle = which_line.puzzle
