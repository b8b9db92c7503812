"""gpt: the loss of the next token, perplexity, the model, its size, one step of training."""

from autograder.lessons.gpt.below_the_floor import BELOW
from autograder.lessons.gpt.gpt import MODEL
from autograder.lessons.gpt.n_parameters import SIZE
from autograder.lessons.gpt.next_token_loss import LOSS
from autograder.lessons.gpt.perplexity import PERPLEXITY
from autograder.lessons.gpt.train_step import STEP
from autograder.lessons.gpt.which_line import WHICH_LINE, puzzle

__all__ = ["QUESTIONS", "puzzle"]

QUESTIONS = [LOSS, PERPLEXITY, MODEL, SIZE, STEP, WHICH_LINE, BELOW]
