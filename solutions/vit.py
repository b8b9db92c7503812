"""An image is a sentence of patches: cut, embed, and read it with a Transformer encoder."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from solutions.layer_norm import LayerNorm, TransformerBlock


def patchify(images: Tensor, patch_size: int) -> Tensor:
    """Cut images into square patches and lay each patch out as a row of numbers.

    images (..., channels, height, width) -> (..., N, channels * P * P), where P is
    patch_size and N = (height // P) * (width // P). The patches come in reading order:
    along the top from left to right, then the next row of patches. In a patch's row the
    channels come one after the other, each of them in reading order, so that the first P
    numbers are the top edge of the patch in channel 0. Where P does not divide the height
    and the width, raise a ValueError.

    >>> image = torch.tensor([[[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]]])  # 1 channel, 2 x 6
    >>> patchify(image, patch_size=2)
    tensor([[ 1,  2,  7,  8],
            [ 3,  4,  9, 10],
            [ 5,  6, 11, 12]])
    """
    height, width = images.shape[-2:]
    if height % patch_size or width % patch_size:
        raise ValueError(f"a {height} x {width} image cannot be cut into patches of {patch_size}")
    rows, columns = height // patch_size, width // patch_size
    x = images.unflatten(-1, (columns, patch_size)).unflatten(-3, (rows, patch_size))
    x = x.movedim((-4, -2), (-5, -4))  # (..., rows, columns, channels, P, P)
    return x.flatten(-3).flatten(-3, -2)


class PatchEmbedding(nn.Module):
    """Turn an image into tokens: a class token, then one token for each patch, with positions."""

    def __init__(self, image_size: tuple[int, int], patch_size: int, n_channel: int, n_embd: int):
        """Make the linear map `project`, and the parameters `class_token` and `position`.

        image_size is (height, width). `project` leads from a patch's row to C columns, with
        a bias; class_token is (C), position (1 + N, C). These two are drawn from a normal
        distribution of deviation 0.5, so that places are as loud as pixels from the start.
        """
        super().__init__()
        height, width = image_size
        n_patch = (height // patch_size) * (width // patch_size)
        self.patch_size = patch_size
        self.project = nn.Linear(n_channel * patch_size**2, n_embd)
        self.class_token = nn.Parameter(0.5 * torch.randn(n_embd))
        self.position = nn.Parameter(0.5 * torch.randn(1 + n_patch, n_embd))

    def forward(self, images: Tensor) -> Tensor:
        """Project every patch, put the class token in front, add a position to each of them.

        images (B, channels, height, width) -> (B, 1 + N, C). Token 0 is the class token, the
        same for all images; token 1 + n is patch n. Row t of `position` is added to token t.
        """
        patches = self.project(patchify(images, self.patch_size))  # (B, N, C)
        first = self.class_token.expand(len(images), 1, -1)
        return torch.cat([first, patches], dim=1) + self.position


class ViT(nn.Module):
    """Name what an image shows: patches as tokens, an encoder, a linear map on the class token."""

    def __init__(
        self,
        image_size: tuple[int, int] = (8, 8),
        patch_size: int = 2,
        n_channel: int = 1,
        n_class: int = 10,
        n_embd: int = 48,
        n_layer: int = 3,
        n_head: int = 4,
        n_hidden: int | None = None,
        dropout: float = 0.0,
        eps: float = 1e-5,
    ):
        super().__init__()
        self.embedding = PatchEmbedding(image_size, patch_size, n_channel, n_embd)
        self.blocks = nn.ModuleList(
            TransformerBlock(
                n_embd, n_head, "pre", n_hidden, activation=F.gelu, dropout=dropout, eps=eps
            )
            for _ in range(n_layer)
        )
        self.last_norm = LayerNorm(n_embd, eps=eps)
        self.head = nn.Linear(n_embd, n_class)

    def encode(self, images: Tensor) -> Tensor:
        """Embed the images, send the tokens up the blocks, normalise what comes out.

        images (B, channels, height, width) -> (B, 1 + N, C). Nothing is masked: every token
        may look at every other. The norm stands once, after the last block.
        """
        x = self.embedding(images)
        for block in self.blocks:
            x = block(x)
        return self.last_norm(x)

    def forward(self, images: Tensor) -> Tensor:
        """Score the classes: `head` reads the class token of `encode`, and no other token.

        images (B, channels, height, width) -> (B, n_class), before any softmax.
        """
        return self.head(self.encode(images)[:, 0])


def interpolate_positions(
    position: Tensor, old_grid: tuple[int, int], new_grid: tuple[int, int]
) -> Tensor:
    """Stretch a table of positions to another number of patches.

    position (1 + rows * columns, C) with (rows, columns) = old_grid: the class token's row,
    then the patches in reading order -> (1 + new rows * new columns, C) for new_grid. The
    class token's row is kept as it is. Each of the C columns of the others is a picture of
    rows x columns numbers, resized by `F.interpolate` with mode="bicubic" and
    align_corners=False, its other options left alone. Gradients flow.

    >>> position = torch.tensor([[9.0], [0.0], [1.0]])  # class token, then a grid of 1 x 2
    >>> interpolate_positions(position, (1, 2), (1, 3)).T.round(decimals=2)
    tensor([[ 9.0000, -0.0900,  0.5000,  1.0900]])
    """
    grid = position[1:].unflatten(0, old_grid).movedim(-1, 0)  # (C, rows, columns)
    new = F.interpolate(grid[None], new_grid, mode="bicubic", align_corners=False)[0]
    return torch.cat([position[:1], new.flatten(1).T])


def attention_rollout(weights: Tensor) -> Tensor:
    """Follow the attention from the last layer down to the input: who rests on which patch?

    weights (L, ..., H, T, T): the attention weights of all layers, layer 0 reads the input;
    each row sums to one -> (..., T, T). Average the heads of a layer, mix the average with
    the skip, half and half: A = (average + identity) / 2, and multiply the layers, the last
    one on the left: A_{L-1} @ ... @ A_1 @ A_0. Row i of the result says in which shares
    output token i rests on the input tokens; it sums to one.

    >>> half, none = [[1.0, 0.0], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]]  # two layers of one head
    >>> attention_rollout(torch.tensor([[half], [none]]))
    tensor([[1.0000, 0.0000],
            [0.2500, 0.7500]])
    """
    identity = torch.eye(weights.size(-1), dtype=weights.dtype, device=weights.device)
    rollout = identity
    for layer in (weights.mean(-3) + identity) / 2:
        rollout = layer @ rollout
    return rollout
