"""position: sinusoids, learned rows, relative bias, rotary turns, ALiBi."""

from autograder.lessons.position.alibi_bias import ALIBI
from autograder.lessons.position.apply_rotary import ROTARY
from autograder.lessons.position.learned_positions import LEARNED
from autograder.lessons.position.relative_bias import RELATIVE
from autograder.lessons.position.sinusoidal_positions import SINUSOIDS
from autograder.lessons.position.what_positions_buy import WHAT_POSITIONS_BUY
from autograder.lessons.position.which_line import WHICH_LINE, puzzle

__all__ = ["QUESTIONS", "puzzle"]

QUESTIONS = [
    SINUSOIDS,
    LEARNED,
    RELATIVE,
    ROTARY,
    ALIBI,
    WHICH_LINE,
    WHAT_POSITIONS_BUY,
]
