"""generate: filters, drawing a token, the cache of keys and values, beam search."""

from autograder.lessons.generate.beam_search import BEAMS
from autograder.lessons.generate.kv_cache import CACHE
from autograder.lessons.generate.sample_next import SAMPLE
from autograder.lessons.generate.top_k_filter import TOP_K
from autograder.lessons.generate.top_p_filter import TOP_P
from autograder.lessons.generate.what_width_does import WHAT_WIDTH_DOES
from autograder.lessons.generate.which_line import WHICH_LINE, puzzle

__all__ = ["QUESTIONS", "puzzle"]

QUESTIONS = [TOP_K, TOP_P, SAMPLE, CACHE, BEAMS, WHICH_LINE, WHAT_WIDTH_DOES]
