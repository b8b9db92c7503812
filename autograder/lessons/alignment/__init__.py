"""alignment: scores, masked weights, contexts, a decoder that looks back, a translator."""

from autograder.lessons.alignment.additive_scores import ADDITIVE
from autograder.lessons.alignment.attention_decoder import DECODER
from autograder.lessons.alignment.context import CONTEXT
from autograder.lessons.alignment.masked_softmax import MASKED
from autograder.lessons.alignment.seq2seq import SEQ2SEQ
from autograder.lessons.alignment.what_the_memory_buys import MEMORY
from autograder.lessons.alignment.which_line import WHICH_LINE, puzzle

__all__ = ["QUESTIONS", "puzzle"]

QUESTIONS = [ADDITIVE, MASKED, CONTEXT, DECODER, SEQ2SEQ, WHICH_LINE, MEMORY]
