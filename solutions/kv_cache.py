"""Read every token once: keep the keys and values that later tokens will look at."""

from functools import partial
from types import SimpleNamespace

import torch
from torch import Tensor, nn


class KVCache:
    """Keep the keys and values of all tokens a GPT has read, layer by layer."""

    def __init__(self, n_layer: int):
        """Start empty: an entry for every layer, None until something was read."""
        self.keys: list[Tensor | None] = [None] * n_layer  # later (B, H, S, D) each
        self.values: list[Tensor | None] = [None] * n_layer

    def __len__(self) -> int:
        """Count the tokens read so far."""
        return 0 if self.keys[0] is None else self.keys[0].size(-2)

    def at(self, layer: int) -> SimpleNamespace:
        """Hand out what a block takes as its cache: something with extend(k, v)."""
        return SimpleNamespace(extend=partial(self.extend, layer))

    def extend(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Keep the keys and values of new tokens; return those of all tokens so far.

        k, v (B, H, T, D), of T new tokens -> keys, values (B, H, S, D), where S
        counts the tokens of this layer before them too: the old ones first, then
        the new ones. They are what `self.keys[layer]` and `self.values[layer]` hold
        from now on; the k and v given are left as they are.
        """
        if self.keys[layer] is not None:
            k = torch.cat([self.keys[layer], k], dim=-2)
            v = torch.cat([self.values[layer], v], dim=-2)
        self.keys[layer], self.values[layer] = k, v
        return k, v

    def read(self, model: nn.Module, ids: Tensor) -> Tensor:
        """Score the next token at every place of new tokens, as if all were read again.

        ids (B, T), the tokens after those read so far -> (B, T, V). Do what
        GPT.forward does, without dropout, for the new tokens only: new token t
        stands at the position start + t, where start counts the tokens read before.
        Positions are added by model.position(x, start), where model.position is not
        None; a block is called as block(x, mask, start, self.at(layer)) and extends
        the cache itself, once. The mask is (T, S) with S = start + T, True where
        looking is allowed: at all tokens read before, and at the new ones up to
        one's own place.
        """
        start, t = len(self), ids.size(-1)
        x = model.token(ids)  # (B, T, C)
        if model.position is not None:
            x = model.position(x, start)
        mask = torch.ones(t, start + t, dtype=torch.bool, device=ids.device).tril(start)
        for layer, block in enumerate(model.blocks):
            x = block(x, mask, start, self.at(layer))
        return model.head(model.norm(x))
