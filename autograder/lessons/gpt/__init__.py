"""gpt: the loss of the next token, perplexity, the model, its size, one step of training."""

from autograder.lessons.gpt import (
    below_the_floor,
    gpt,
    n_parameters,
    next_token_loss,
    perplexity,
    train_step,
    which_line,
)

QUESTIONS = [
    next_token_loss.QUESTION,
    perplexity.QUESTION,
    gpt.QUESTION,
    n_parameters.QUESTION,
    train_step.QUESTION,
    which_line.QUESTION,
    below_the_floor.QUESTION,
]
puzzle = which_line.puzzle
