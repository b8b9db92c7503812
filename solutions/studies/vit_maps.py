"""Look into a trained ViT: where its heads look, and which patches its answer rests on."""

import math

import torch
from torch import Tensor, nn

from solutions.multi_head import split_heads


@torch.no_grad()
def attention_weights(model: nn.Module, images: Tensor) -> Tensor:
    """Collect the attention weights of all blocks of a ViT: -> (L, B, H, T, T), rows sum to one."""
    x, weights = model.embedding(images), []
    for block in model.blocks:
        layer, seen = block.attention, block.attention_norm(x)
        q, k = (split_heads(ask(seen), layer.n_head) for ask in (layer.query, layer.key))
        weights.append((q @ k.mT / math.sqrt(q.size(-1))).softmax(-1))
        x = block(x)
    return torch.stack(weights)


@torch.no_grad()
def blanking(
    model: nn.Module, images: Tensor, labels: Tensor, grid: int | tuple[int, int], size: int
) -> Tensor:
    """Blank one patch after the other; measure what the right answer's log-probability loses.

    images (B, channels, rows * size, columns * size), labels (B), grid (rows, columns) or one
    number for both -> (B, rows * columns), in nats.
    """
    rows, columns = (grid, grid) if isinstance(grid, int) else grid

    def right(x: Tensor) -> Tensor:
        return model(x).log_softmax(-1).gather(1, labels[:, None])

    whole, losses = right(images), []
    for patch in range(rows * columns):
        top, left = patch // columns * size, patch % columns * size
        blank = images.clone()
        blank[..., top : top + size, left : left + size] = 0
        losses.append(whole - right(blank))
    return torch.cat(losses, dim=1)
