"""vit: cutting patches, the embedding, the whole model, positions for another size, rollout."""

from autograder.lessons.vit import (
    attention_rollout,
    interpolate_positions,
    patch_embedding,
    patchify,
    vit,
    which_line,
    who_notices,
)

QUESTIONS = [
    patchify.QUESTION,
    patch_embedding.QUESTION,
    vit.QUESTION,
    interpolate_positions.QUESTION,
    attention_rollout.QUESTION,
    which_line.QUESTION,
    who_notices.QUESTION,
]
puzzle = which_line.puzzle
