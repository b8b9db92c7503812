"""encoder_decoder: the decoder's block, its stack, the whole Transformer, its loss, writing."""

from autograder.lessons.encoder_decoder import (
    decoder,
    decoder_block,
    greedy_decode,
    smoothed_loss,
    transformer,
    what_the_mask_buys,
    which_line,
)

QUESTIONS = [
    decoder_block.QUESTION,
    decoder.QUESTION,
    transformer.QUESTION,
    smoothed_loss.QUESTION,
    greedy_decode.QUESTION,
    which_line.QUESTION,
    what_the_mask_buys.QUESTION,
]
puzzle = which_line.puzzle
