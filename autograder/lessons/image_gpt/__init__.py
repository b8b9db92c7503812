"""image_gpt: a palette, the model of pixels, its completions, and a probe of what it knows."""

from autograder.lessons.image_gpt.complete_image import COMPLETE
from autograder.lessons.image_gpt.fit_palette import PALETTE
from autograder.lessons.image_gpt.image_gpt import MODEL
from autograder.lessons.image_gpt.linear_probe import PROBE
from autograder.lessons.image_gpt.quantise import QUANTISE
from autograder.lessons.image_gpt.where_the_bits_go import STRIPES
from autograder.lessons.image_gpt.which_line import WHICH_LINE, puzzle

__all__ = ["QUESTIONS", "puzzle"]

QUESTIONS = [QUANTISE, PALETTE, MODEL, COMPLETE, PROBE, WHICH_LINE, STRIPES]
