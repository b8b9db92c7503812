"""A full window: read its newer half again, or only drop the older half of what was kept?"""

import torch
from torch import Tensor

from solutions.gpt import GPT
from solutions.kv_cache import KVCache
from solutions.position import sinusoidal_positions

WAYS = ("read again", "moved", "turned back")


@torch.no_grad()
def after_the_cut(model: GPT, ids: Tensor, way: str) -> Tensor:
    """Score the tokens behind a full window, of which the newer half stays.

    ids (B, 3 N), where 2 N is the model's block_size: the first 2 N fill the window, half of it
    stays, and the last N are read behind it, at the positions N to 2 N - 1 -> (B, N, V). What
    stays, at the positions 0 to N - 1, is by `way`:
    "read again": the newer N tokens, read into an empty cache;
    "moved": their kept keys and values, though these were made N positions further on;
    "turned back": the same, with the keys of rotary positions turned back by N positions, so that
    all distances are right again.
    """
    half = model.config.block_size // 2
    cache = KVCache(len(model.blocks))
    if way == "read again":
        cache.read(model, ids[:, half : 2 * half])
    else:
        cache.read(model, ids[:, : 2 * half])
        cache.keys = [k[:, :, half:] for k in cache.keys]
        cache.values = [v[:, :, half:] for v in cache.values]
    if way == "turned back":
        cache.keys = [turned_back(k, half) for k in cache.keys]
    return cache.read(model, ids[:, 2 * half :])


def turned_back(k: Tensor, n: int) -> Tensor:
    """Turn rotary keys (..., D) to where they would be n positions earlier."""
    angle = sinusoidal_positions(n + 1, k.size(-1))[n].to(k)  # (D,)
    sin, cos = angle[::2], angle[1::2]
    a, b = k[..., ::2], k[..., 1::2]
    return torch.stack([a * cos + b * sin, b * cos - a * sin], dim=-1).flatten(-2)
