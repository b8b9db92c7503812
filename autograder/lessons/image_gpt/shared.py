"""What several questions of image_gpt are tried with."""

import torch

from solutions.gpt_block import GPTConfig
from solutions.image_gpt import ImageGPT


def drawn_config(d, n_pixel: int, k: int, **options) -> dict:
    sizes = {"vocab_size": k + 1, "block_size": n_pixel, "n_layer": 1, "n_head": 2, "n_embd": 6}
    return {**sizes, "tied": False, **options}


def drawn_weights(d, config: dict, dtype=torch.float32) -> dict:
    shapes = ImageGPT(GPTConfig(**config)).state_dict()
    weights = {
        k: d.normal(*v.shape, std=0.6 if v.ndim > 1 else 1.0, dtype=dtype) + 0.5 * ("norm" in k)
        for k, v in shapes.items()
    }
    if config["tied"]:
        weights["gpt.head.weight"] = weights["gpt.token.weight"]
    return weights
