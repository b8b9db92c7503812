"""which_line: a picture, and which slip could have drawn it."""

import torch

from autograder.checks.draw import Draw
from autograder.checks.question import Choice, Puzzle
from autograder.checks.slips import patched
from autograder.lessons.encoder_decoder.shared import transformer_of
from autograder.lessons.encoder_decoder.transformer import QUESTION as TRANSFORMER
from solutions.data.tiny_french import EOS


def puzzle() -> Puzzle:
    """How much changing word s of a target changes the score of word t, where nobody shifts it."""
    slip = next(s for s in TRANSFORMER.slips if s.name == "target not shifted")
    draw = Draw("encoder_decoder puzzle")
    config, weights = transformer_of(draw)
    model = patched(slip)["Transformer"](**config)
    model.load_state_dict(weights)
    source, target = torch.tensor([[4, 8, 3, 6]]), torch.tensor([[5, 3, 7, 4, EOS]])

    def influence(s):
        changed = target.clone()
        changed[0, s] = 6
        return (model(source, changed) - model(source, target))[0].norm(dim=-1)

    with torch.no_grad():
        table = torch.stack([influence(s) for s in range(5)], dim=1)
    title = "how much changing target word s\nmoves the scores for target word t"
    return Puzzle(table, title, "scores for word t", "target word s")


QUESTION = Choice(
    "which_line",
    points=6,
    right="c",
    answers={
        "a": "Without the causal mask the upper triangle would be filled too: word 3 would move "
        "the scores for word 0. (All columns but the last: the shift drops the last word.)",
        "b": "Padding of the source has nothing to do with the target's words: the picture would "
        "be right, empty on and above the diagonal.",
        "c": "The triangle looks like a healthy causal mask, and the mask is there. But with the "
        "target shifted, place t reads the words before t, so the diagonal would be empty. Here "
        "the scores for word t depend on word t itself: the decoder reads the answer.",
        "d": "With the mask transposed place t reads word t - 1 and all later ones but the last: "
        "the places just below the diagonal, on it and above it would be filled, the rest of the "
        "lower triangle would be empty.",
    },
)
