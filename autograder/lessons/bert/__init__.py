"""bert: hiding tokens, the encoder, its pre-training, heads for texts and for words."""

from autograder.lessons.bert import (
    bert,
    mask_tokens,
    masked_language_model,
    text_classifier,
    token_classifier,
    which_line,
    which_place,
)

QUESTIONS = [
    mask_tokens.QUESTION,
    bert.QUESTION,
    masked_language_model.QUESTION,
    text_classifier.QUESTION,
    token_classifier.QUESTION,
    which_line.QUESTION,
    which_place.QUESTION,
]
puzzle = which_line.puzzle
