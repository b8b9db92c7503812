"""Copy a block's weights into PyTorch's own layer, to see that the two agree."""

import torch
from torch import nn


@torch.no_grad()
def copy_block(ours: nn.Module, theirs: nn.TransformerEncoderLayer) -> None:
    """Load the weights of a block like TransformerBlock into an nn.TransformerEncoderLayer.

    PyTorch stacks the matrices of queries, keys and values into one, and calls a gain `weight`.
    """
    attention = ours.attention
    three = (attention.query, attention.key, attention.value)
    theirs.self_attn.in_proj_weight.copy_(torch.cat([layer.weight for layer in three]))
    theirs.self_attn.in_proj_bias.copy_(torch.cat([layer.bias for layer in three]))
    theirs.self_attn.out_proj.load_state_dict(attention.out.state_dict())
    theirs.linear1.load_state_dict(ours.feed_forward.up.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.down.state_dict())
    norms = {theirs.norm1: ours.attention_norm, theirs.norm2: ours.feed_forward_norm}
    for norm, our_norm in norms.items():
        norm.weight.copy_(our_norm.gain)
        norm.bias.copy_(our_norm.bias)
