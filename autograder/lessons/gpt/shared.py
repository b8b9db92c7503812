"""What several questions of gpt are tried with."""

from solutions.gpt import GPT
from solutions.gpt_block import GPTConfig


def drawn_config(d, **options) -> dict:
    v, block, head = d.sizes(3, 3, 8)
    sizes = {"vocab_size": v, "block_size": block, "n_layer": 2, "n_head": 2, "n_embd": 2 * head}
    config = {**sizes, "std": 0.3, "positions": "learned", "norm": "layer", "tied": False}
    if options.get("positions") == "rotary":
        config["n_embd"] = 8
    return {**config, **options}


def drawn_weights(d, config: dict) -> dict:
    shapes = GPT(GPTConfig(**config)).state_dict()
    weights = {
        k: d.normal(*v.shape, std=0.6 if v.ndim > 1 else 1.0) + 0.5 * ("norm" in k)
        for k, v in shapes.items()
    }
    if config["tied"]:
        weights["head.weight"] = weights["token.weight"]
    return weights
