"""position: sinusoids, learned rows, relative bias, rotary turns, ALiBi."""

from autograder.lessons.position import (
    alibi_bias,
    apply_rotary,
    learned_positions,
    relative_bias,
    sinusoidal_positions,
    what_positions_buy,
    which_line,
)

QUESTIONS = [
    sinusoidal_positions.QUESTION,
    learned_positions.QUESTION,
    relative_bias.QUESTION,
    apply_rotary.QUESTION,
    alibi_bias.QUESTION,
    which_line.QUESTION,
    what_positions_buy.QUESTION,
]
puzzle = which_line.puzzle
