"""vit: cutting patches, the embedding, the whole model, positions for another size, rollout."""

from autograder.lessons.vit.attention_rollout import ROLLOUT
from autograder.lessons.vit.interpolate_positions import INTERPOLATE
from autograder.lessons.vit.patch_embedding import EMBEDDING
from autograder.lessons.vit.patchify import PATCHIFY
from autograder.lessons.vit.vit import WHOLE
from autograder.lessons.vit.which_line import WHICH_LINE, puzzle
from autograder.lessons.vit.who_notices import SHUFFLE

__all__ = ["QUESTIONS", "puzzle"]

QUESTIONS = [PATCHIFY, EMBEDDING, WHOLE, INTERPOLATE, ROLLOUT, WHICH_LINE, SHUFFLE]
