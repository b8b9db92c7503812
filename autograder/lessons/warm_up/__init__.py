"""warm_up: softmax, weighted averages, one-hot rows."""

from autograder.lessons.warm_up.one_hot_rows import ONE_HOT
from autograder.lessons.warm_up.softmax import SOFTMAX
from autograder.lessons.warm_up.weighted_average import AVERAGE
from autograder.lessons.warm_up.what_moves import WHAT_MOVES
from autograder.lessons.warm_up.which_line import WHICH_LINE, puzzle

__all__ = ["QUESTIONS", "puzzle"]

QUESTIONS = [SOFTMAX, AVERAGE, ONE_HOT, WHICH_LINE, WHAT_MOVES]
