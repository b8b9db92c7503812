"""gpt: the runs of the lesson; the functions live beside, so that one can change without the other.

Tiny tales with two starting spreads, and with only 300 stories; Tiny Shakespeare by two recipes,
and for 400 steps in pieces and in characters.
"""

from solutions.experiments.gpt_pieces import pieces
from solutions.experiments.gpt_shakespeare import shakespeare
from solutions.experiments.gpt_tales import tales

SEEDS = (0, 1)

RUNS = [
    (shakespeare, {"recipe": "later"}),
    (shakespeare, {"recipe": "earlier"}),
    *((tales, {"std": 0.08, "seed": seed}) for seed in SEEDS),
    (tales, {"std": 0.02, "seed": 0}),
    (pieces, {"n_vocab": 512, "steps": 400}),
    (shakespeare, {"recipe": "later", "steps": 400}),
    (tales, {"std": 0.08, "seed": 0, "stories": 300, "steps": 500}),
]
