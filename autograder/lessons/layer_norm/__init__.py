"""layer_norm: the formula, the layer, RMSNorm, the complete block."""

from autograder.lessons.layer_norm.layer_norm import NORM
from autograder.lessons.layer_norm.layer_norm_class import LAYER
from autograder.lessons.layer_norm.rms_norm import RMS
from autograder.lessons.layer_norm.transformer_block import BLOCK
from autograder.lessons.layer_norm.which_line import WHICH_LINE, puzzle
from autograder.lessons.layer_norm.who_grows import WHO_GROWS

__all__ = ["QUESTIONS", "puzzle"]

QUESTIONS = [NORM, LAYER, RMS, BLOCK, WHICH_LINE, WHO_GROWS]
