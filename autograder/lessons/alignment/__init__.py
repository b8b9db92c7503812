"""alignment: scores, masked weights, contexts, a decoder that looks back, a translator."""

from autograder.lessons.alignment import (
    additive_scores,
    attention_decoder,
    context,
    masked_softmax,
    seq2seq,
    what_the_memory_buys,
    which_line,
)

QUESTIONS = [
    additive_scores.QUESTION,
    masked_softmax.QUESTION,
    context.QUESTION,
    attention_decoder.QUESTION,
    seq2seq.QUESTION,
    which_line.QUESTION,
    what_the_memory_buys.QUESTION,
]
puzzle = which_line.puzzle
