"""multi_scale: cutting windows, the mask of the seam, merging patches, the whole model."""

from autograder.lessons.multi_scale.how_far import REACH
from autograder.lessons.multi_scale.multi_scale_vit import WHOLE
from autograder.lessons.multi_scale.patch_merging import MERGING
from autograder.lessons.multi_scale.shifted_window_mask import MASK
from autograder.lessons.multi_scale.which_line import WHICH_LINE, puzzle
from autograder.lessons.multi_scale.window_partition import PARTITION
from autograder.lessons.multi_scale.window_reverse import REVERSE

__all__ = ["QUESTIONS", "puzzle"]

QUESTIONS = [PARTITION, REVERSE, MASK, MERGING, WHOLE, WHICH_LINE, REACH]
