"""What several questions of generate are tried with."""

import torch

from autograder.checks.draw import args
from solutions.gpt import GPT
from solutions.gpt_block import GPTConfig

NO_GRADIENT = False  # nobody trains through a filter


LARGER_FIRST = (
    "order = scores.size(-1) - 1 - scores.flip(-1).argsort(dim=-1, descending=True, stable=True)"
)


def drawn_rows(scores, p_or_k):
    return lambda d: (*args(torch.tensor([scores]), p_or_k), NO_GRADIENT)


def drawn_config(**options) -> dict:
    sizes = {"vocab_size": 9, "block_size": 7, "n_layer": 2, "n_head": 2, "n_embd": 8}
    return sizes | {"positions": "learned", "tied": False} | options


def drawn_weights(d, config: dict) -> dict:
    shapes = GPT(GPTConfig(**config)).state_dict()
    return {
        k: d.normal(*v.shape, std=0.6 if v.ndim > 1 else 1.0) + 0.5 * ("norm" in k)
        for k, v in shapes.items()
    }
