"""layer_norm: the formula, the layer, RMSNorm, the complete block."""

from autograder.lessons.layer_norm import (
    layer_norm,
    layer_norm_class,
    rms_norm,
    transformer_block,
    which_line,
    who_grows,
)

QUESTIONS = [
    layer_norm.QUESTION,
    layer_norm_class.QUESTION,
    rms_norm.QUESTION,
    transformer_block.QUESTION,
    which_line.QUESTION,
    who_grows.QUESTION,
]
puzzle = which_line.puzzle
