"""generate: filters, drawing a token, the cache of keys and values, beam search."""

from autograder.lessons.generate import (
    beam_search,
    kv_cache,
    sample_next,
    top_k_filter,
    top_p_filter,
    what_width_does,
    which_line,
)

QUESTIONS = [
    top_k_filter.QUESTION,
    top_p_filter.QUESTION,
    sample_next.QUESTION,
    kv_cache.QUESTION,
    beam_search.QUESTION,
    which_line.QUESTION,
    what_width_does.QUESTION,
]
puzzle = which_line.puzzle
