"""recurrence: steps, the RNN, a language model, gradients through time and their clipping."""

from autograder.lessons.recurrence import (
    clip_gradient,
    gradient_by_lag,
    gru_step,
    rnn,
    rnn_step,
    what_inputs_do,
    which_line,
)

QUESTIONS = [
    rnn_step.QUESTION,
    rnn.QUESTION,
    gru_step.QUESTION,
    gradient_by_lag.QUESTION,
    clip_gradient.QUESTION,
    which_line.QUESTION,
    what_inputs_do.QUESTION,
]
puzzle = which_line.puzzle
