"""recurrence: steps, the RNN, a language model, gradients through time and their clipping."""

from autograder.lessons.recurrence.clip_gradient import CLIP
from autograder.lessons.recurrence.gradient_by_lag import GRADIENTS
from autograder.lessons.recurrence.gru_step import GRU
from autograder.lessons.recurrence.rnn import LAYER
from autograder.lessons.recurrence.rnn_step import STEP
from autograder.lessons.recurrence.what_inputs_do import WHAT_INPUTS_DO
from autograder.lessons.recurrence.which_line import WHICH_LINE, puzzle

__all__ = ["QUESTIONS", "puzzle"]

QUESTIONS = [STEP, LAYER, GRU, GRADIENTS, CLIP, WHICH_LINE, WHAT_INPUTS_DO]
