"""residual: the feed-forward layer, the skip, gradients against depth, the loss surface."""

from autograder.lessons.residual import (
    feed_forward,
    filter_normalise,
    gradient_by_depth,
    loss_surface,
    residual,
    what_skips_do,
    which_line,
)

QUESTIONS = [
    feed_forward.QUESTION,
    residual.QUESTION,
    gradient_by_depth.QUESTION,
    filter_normalise.QUESTION,
    loss_surface.QUESTION,
    which_line.QUESTION,
    what_skips_do.QUESTION,
]
puzzle = which_line.puzzle
