"""Copy a Transformer's weights into PyTorch's own, to see that the two agree."""

import torch
from torch import Tensor, nn

from solutions.studies.copy_block import copy_block


def torch_transformer(ours: nn.Module) -> nn.Transformer:
    """Build an nn.Transformer with the weights of ours, embeddings and output layer aside.

    PyTorch ends both stacks with a norm in either order. In post-norm the original has none there,
    and neither have we: it is taken out.
    """
    blocks, pre = ours.encoder.blocks, ours.encoder.blocks[0].norm == "pre"
    attention, feed_forward = blocks[0].attention, blocks[0].feed_forward
    sizes = (attention.query.in_features, attention.n_head, feed_forward.up.out_features, 0.0)
    layer = nn.TransformerEncoderLayer(*sizes, batch_first=True, norm_first=pre)
    norm = nn.LayerNorm(sizes[0]) if pre else None
    theirs = nn.Transformer(
        *(sizes[0], sizes[1], len(blocks), len(blocks), sizes[2], 0.0),
        batch_first=True,
        norm_first=pre,
        # without nested tensors, which pre-norm cannot use: it would warn
        custom_encoder=nn.TransformerEncoder(layer, len(blocks), norm, enable_nested_tensor=False),
    )
    for block, layer in zip(blocks, theirs.encoder.layers, strict=True):
        copy_block(block, layer)
    for block, layer in zip(ours.decoder.blocks, theirs.decoder.layers, strict=True):
        copy_decoder_block(block, layer)
    for stack, their_stack in ((ours.encoder, theirs.encoder), (ours.decoder, theirs.decoder)):
        if pre:
            copy_norm(stack.last_norm, their_stack.norm)
        else:
            their_stack.norm = None
    return theirs.eval()


def run_theirs(ours: nn.Module, theirs: nn.Transformer, source: Tensor, read: Tensor) -> Tensor:
    """Score as ours(source, target) does, with their two stacks; `read` is the shifted target."""
    padding = source == 0  # their masks are True where looking is forbidden
    ahead = torch.ones(read.size(1), read.size(1), dtype=torch.bool).triu(1)
    hidden = theirs(
        ours.encoder.embedding(source),
        ours.decoder.embedding(read),
        tgt_mask=ahead,
        src_key_padding_mask=padding,
        memory_key_padding_mask=padding,
    )
    return ours.out(hidden)


@torch.no_grad()
def copy_decoder_block(ours: nn.Module, theirs: nn.TransformerDecoderLayer) -> None:
    """Load the weights of a block like DecoderBlock into an nn.TransformerDecoderLayer."""
    pairs = ((ours.attention, theirs.self_attn), (ours.cross, theirs.multihead_attn))
    for attention, layer in pairs:
        three = (attention.query, attention.key, attention.value)
        layer.in_proj_weight.copy_(torch.cat([one.weight for one in three]))
        layer.in_proj_bias.copy_(torch.cat([one.bias for one in three]))
        layer.out_proj.load_state_dict(attention.out.state_dict())
    theirs.linear1.load_state_dict(ours.feed_forward.up.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.down.state_dict())
    copy_norm(ours.attention_norm, theirs.norm1)
    copy_norm(ours.cross_norm, theirs.norm2)
    copy_norm(ours.feed_forward_norm, theirs.norm3)


@torch.no_grad()
def copy_norm(ours: nn.Module, theirs: nn.LayerNorm) -> None:
    """Load a LayerNorm of ours, whose weight is called gain."""
    theirs.weight.copy_(ours.gain)
    theirs.bias.copy_(ours.bias)
