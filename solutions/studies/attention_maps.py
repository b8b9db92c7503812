"""Read the attention weights of a Transformer: the encoder's, the decoder's, and those between."""

import math

import torch
from torch import Tensor, nn

from solutions.multi_head import split_heads


def head_maps(
    layer: nn.Module, x: Tensor, context: Tensor | None = None, mask: Tensor | None = None
) -> Tensor:
    """Return the weights (B, H, T, S) that a MultiHeadAttention gives, from its inputs."""
    context = x if context is None else context
    q = split_heads(layer.query(x), layer.n_head)
    k = split_heads(layer.key(context), layer.n_head)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask.unsqueeze(-3), -torch.inf)
    return scores.softmax(-1)


@torch.no_grad()
def attention_maps(model: nn.Module, source: Tensor, target: Tensor) -> dict[str, Tensor]:
    """Run a Transformer on source (B, S) and target (B, T) and note where its heads look.

    -> "encoder" (L, B, H, S, S), "decoder" (L, B, H, T, T), "cross" (L, B, H, T, S). Row t of
    the last two belongs to the place from which target[:, t] is predicted.
    """
    found: dict[str, list[Tensor]] = {"encoder": [], "decoder": [], "cross": []}

    def note(kind):
        def hook(layer, inputs, keywords):
            found[kind].append(head_maps(layer, *inputs, **keywords))

        return hook

    places = [("encoder", block.attention) for block in model.encoder.blocks]
    places += [("decoder", block.attention) for block in model.decoder.blocks]
    places += [("cross", block.cross) for block in model.decoder.blocks]
    hooks = [
        layer.register_forward_pre_hook(note(kind), with_kwargs=True) for kind, layer in places
    ]
    try:
        model(source, target)
    finally:
        for hook in hooks:
            hook.remove()
    return {kind: torch.stack(maps) for kind, maps in found.items()}
