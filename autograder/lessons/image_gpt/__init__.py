"""image_gpt: a palette, the model of pixels, its completions, and a probe of what it knows."""

from autograder.lessons.image_gpt import (
    complete_image,
    fit_palette,
    image_gpt,
    linear_probe,
    quantise,
    where_the_bits_go,
    which_line,
)

QUESTIONS = [
    quantise.QUESTION,
    fit_palette.QUESTION,
    image_gpt.QUESTION,
    complete_image.QUESTION,
    linear_probe.QUESTION,
    which_line.QUESTION,
    where_the_bits_go.QUESTION,
]
puzzle = which_line.puzzle
