"""warm_up: softmax, weighted averages, one-hot rows."""

from autograder.lessons.warm_up import (
    one_hot_rows,
    softmax,
    weighted_average,
    what_moves,
    which_line,
)

QUESTIONS = [
    softmax.QUESTION,
    weighted_average.QUESTION,
    one_hot_rows.QUESTION,
    which_line.QUESTION,
    what_moves.QUESTION,
]
puzzle = which_line.puzzle
