"""encoder_decoder: the decoder's block, its stack, the whole Transformer, its loss, writing."""

from autograder.lessons.encoder_decoder.decoder import DECODER
from autograder.lessons.encoder_decoder.decoder_block import BLOCK
from autograder.lessons.encoder_decoder.greedy_decode import GREEDY
from autograder.lessons.encoder_decoder.smoothed_loss import LOSS
from autograder.lessons.encoder_decoder.transformer import TRANSFORMER
from autograder.lessons.encoder_decoder.what_the_mask_buys import PEEKING
from autograder.lessons.encoder_decoder.which_line import WHICH_LINE, puzzle

__all__ = ["QUESTIONS", "puzzle"]

QUESTIONS = [BLOCK, DECODER, TRANSFORMER, LOSS, GREEDY, WHICH_LINE, PEEKING]
