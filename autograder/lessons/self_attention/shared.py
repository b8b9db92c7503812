"""What several questions of self_attention are tried with."""

import torch

from autograder.checks.draw import args


def drawn_words(*leading, std=0.8, dtype=torch.float32):
    """Draw words whose scores leave no softmax saturated: every slip shows."""

    def draw(d):
        t, c = d.sizes(2, 3, 6)
        return args(d.normal(*leading, t, c, std=std, dtype=dtype))

    return draw
