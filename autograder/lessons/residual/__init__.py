"""residual: the feed-forward layer, the skip, gradients against depth, the loss surface."""

from autograder.lessons.residual.feed_forward import FEED_FORWARD
from autograder.lessons.residual.filter_normalise import FILTERS
from autograder.lessons.residual.gradient_by_depth import DEPTH
from autograder.lessons.residual.loss_surface import SURFACE
from autograder.lessons.residual.residual import RESIDUAL
from autograder.lessons.residual.what_skips_do import WHAT_SKIPS_DO
from autograder.lessons.residual.which_line import WHICH_LINE, puzzle

__all__ = ["QUESTIONS", "puzzle"]

QUESTIONS = [FEED_FORWARD, RESIDUAL, DEPTH, FILTERS, SURFACE, WHICH_LINE, WHAT_SKIPS_DO]
