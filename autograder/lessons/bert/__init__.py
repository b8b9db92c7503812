"""bert: hiding tokens, the encoder, its pre-training, heads for texts and for words."""

from autograder.lessons.bert.bert import ENCODER
from autograder.lessons.bert.mask_tokens import MASKING
from autograder.lessons.bert.masked_language_model import PRETRAINING
from autograder.lessons.bert.text_classifier import TEXTS
from autograder.lessons.bert.token_classifier import WORDS
from autograder.lessons.bert.which_line import WHICH_LINE, puzzle
from autograder.lessons.bert.which_place import WHICH_PLACE

__all__ = ["QUESTIONS", "puzzle"]

QUESTIONS = [MASKING, ENCODER, PRETRAINING, TEXTS, WORDS, WHICH_LINE, WHICH_PLACE]
