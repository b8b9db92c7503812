"""multi_scale: cutting windows, the mask of the seam, merging patches, the whole model."""

from autograder.lessons.multi_scale import (
    how_far,
    multi_scale_vit,
    patch_merging,
    shifted_window_mask,
    which_line,
    window_partition,
    window_reverse,
)

QUESTIONS = [
    window_partition.QUESTION,
    window_reverse.QUESTION,
    shifted_window_mask.QUESTION,
    patch_merging.QUESTION,
    multi_scale_vit.QUESTION,
    which_line.QUESTION,
    how_far.QUESTION,
]
puzzle = which_line.puzzle
