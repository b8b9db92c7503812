"""Every number between a sentence's ids and the odds of its next words."""

import math

import torch
from torch import Tensor

from solutions.multi_head import merge_heads, split_heads
from solutions.queries_keys_values import causal_mask
from solutions.studies.one_sentence import OneBlock


@torch.no_grad()
def trace(model: OneBlock, ids: Tensor) -> dict[str, Tensor]:
    """Go through the model one step at a time and keep every table on the way.

    ids (T) -> tables (T, columns), "scores" and "weights" (H, T, T); a forbidden score is -inf.
    """
    block, attention = model.block, model.block.attention
    at = {"token": model.token(ids), "position": model.position.table.weight[: len(ids)]}
    at["start"] = at["token"] + at["position"]
    at["norm"] = block.attention_norm(at["start"])
    for name in ("query", "key", "value"):
        at[name] = getattr(attention, name)(at["norm"])
    q, k, v = (split_heads(at[name], attention.n_head) for name in ("query", "key", "value"))
    mask = causal_mask(len(ids))
    at["scores"] = (q @ k.mT / math.sqrt(q.size(-1))).masked_fill(~mask, -torch.inf)
    at["weights"] = at["scores"].softmax(-1)
    at["heads"] = merge_heads(at["weights"] @ v)
    at["out"] = attention.out(at["heads"])
    at["middle"] = at["start"] + at["out"]
    at["norm_2"] = block.feed_forward_norm(at["middle"])
    at["up"] = block.feed_forward.up(at["norm_2"])
    at["active"] = at["up"].relu()
    at["down"] = block.feed_forward.down(at["active"])
    at["end"] = at["middle"] + at["down"]
    at["norm_3"] = model.norm(at["end"])
    at["word_scores"] = model.head(at["norm_3"])
    at["odds"] = at["word_scores"].softmax(-1)
    return at
