"""Fine to coarse: attention within windows, windows that shift, patches that merge."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from solutions.layer_norm import LayerNorm, TransformerBlock
from solutions.vit import patchify


def window_partition(x: Tensor, size: int) -> Tensor:
    """Cut a grid of tokens into square windows and list the tokens of each.

    x (..., rows, columns, C) -> (..., N, M * M, C), where M is `size` and
    N = (rows // M) * (columns // M). The windows come in reading order: along the top from
    left to right, then the next row of windows. So do the tokens within a window. Where M
    does not divide the rows and the columns, raise a ValueError.

    >>> grid = torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]])  # 2 x 4 tokens
    >>> window_partition(grid[..., None], size=2)[..., 0]  # C = 1
    tensor([[1, 2, 5, 6],
            [3, 4, 7, 8]])
    """
    rows, columns = x.shape[-3:-1]
    if rows % size or columns % size:
        raise ValueError(f"a grid of {rows} x {columns} cannot be cut into windows of {size}")
    x = x.unflatten(-2, (columns // size, size)).unflatten(-4, (rows // size, size))
    x = x.transpose(-4, -3)  # (..., rows // M, columns // M, M, M, C)
    return x.flatten(-3, -2).flatten(-4, -3)


def window_reverse(windows: Tensor, grid: tuple[int, int]) -> Tensor:
    """Put the windows back where they were: the inverse of `window_partition`.

    windows (..., N, M * M, C), grid = (rows, columns) -> (..., rows, columns, C). M is the
    root of the number of tokens in a window; it divides the rows and the columns.

    >>> windows = torch.tensor([[1, 2, 5, 6], [3, 4, 7, 8]])  # two windows of 2 x 2
    >>> window_reverse(windows[..., None], grid=(2, 4))[..., 0]
    tensor([[1, 2, 3, 4],
            [5, 6, 7, 8]])
    """
    rows, columns = grid
    size = math.isqrt(windows.size(-2))
    x = windows.unflatten(-2, (size, size)).unflatten(-4, (rows // size, columns // size))
    x = x.transpose(-4, -3)  # (..., rows // M, M, columns // M, M, C)
    return x.flatten(-3, -2).flatten(-4, -3)


def shifted_window_mask(grid: tuple[int, int], size: int, shift: int) -> Tensor:
    """Say who may look at whom in the windows of a grid that was rolled up and to the left.

    grid = (rows, columns), M = size, 0 <= shift < M -> (N, M * M, M * M) bool, True where
    looking is allowed, with windows and tokens in the order of `window_partition`.

    The roll moved every token `shift` rows up and `shift` columns to the left; the top rows
    went over the edge and stand at the bottom now, the left columns on the right. So the last
    `shift` rows of the rolled grid are strangers to the rows above them, and the last `shift`
    columns to those on their left: two tokens of a window may look at each other where both
    or neither are in the last `shift` rows, and both or neither in the last `shift` columns.
    With shift = 0 everything is allowed.

    >>> shifted_window_mask((2, 4), size=2, shift=1)[0].int()  # the seam lies below row 0
    tensor([[1, 1, 0, 0],
            [1, 1, 0, 0],
            [0, 0, 1, 1],
            [0, 0, 1, 1]], dtype=torch.int32)
    """
    rows, columns = grid
    low = torch.arange(rows) >= rows - shift
    right = torch.arange(columns) >= columns - shift
    region = 2 * low[:, None] + right  # (rows, columns), numbers 0 to 3
    region = window_partition(region[..., None], size)  # (N, M * M, 1)
    return region == region.mT


class PatchMerging(nn.Module):
    """Make one token of four neighbours: half the rows, half the columns, twice the width."""

    def __init__(self, n_embd: int, eps: float = 1e-5):
        """Make `norm`, over 4 C columns, and `reduce`, from 4 C to 2 C columns without a bias."""
        super().__init__()
        self.norm = LayerNorm(4 * n_embd, eps=eps)
        self.reduce = nn.Linear(4 * n_embd, 2 * n_embd, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Set the four tokens of each 2 x 2 square side by side, normalise, reduce.

        x (..., rows, columns, C), rows and columns even -> (..., rows // 2, columns // 2, 2 C).
        The corners in reading order: the first C of the 4 C columns are the top left token,
        then come top right, bottom left, bottom right.
        """
        corners = [x[..., row::2, column::2, :] for row in (0, 1) for column in (0, 1)]
        return self.reduce(self.norm(torch.cat(corners, dim=-1)))


class MultiScaleViT(nn.Module):
    """Name what an image shows, from many narrow tokens that look near to few wide ones."""

    def __init__(
        self,
        image_size: tuple[int, int] = (8, 8),
        patch_size: int = 1,
        n_channel: int = 1,
        n_class: int = 10,
        n_embd: int = 16,
        n_head: int = 2,
        depths: tuple[int, ...] = (2, 2),
        window_size: int = 4,
        shift: int | None = None,
        dropout: float = 0.0,
        eps: float = 1e-5,
    ):
        """Make a stage of depths[s] blocks for each s, and a merging between two stages.

        Stage s has width n_embd * 2**s and n_head * 2**s heads. `shift` is half a window where it
        is None; with 0 windows never move. `position` (rows, columns, C) has a spread of 0.5.
        """
        super().__init__()
        rows, columns = (side // patch_size for side in image_size)
        smallest = window_size * 2 ** (len(depths) - 1)
        if rows % smallest or columns % smallest:
            raise ValueError(
                f"{len(depths)} stages with windows of {window_size} need a grid of whole "
                f"multiples of {smallest}; this one is {rows} x {columns}"
            )
        widths = [n_embd * 2**stage for stage in range(len(depths))]
        self.patch_size, self.window_size = patch_size, window_size
        self.shift = window_size // 2 if shift is None else shift
        self.project = nn.Linear(n_channel * patch_size**2, n_embd)
        self.position = nn.Parameter(0.5 * torch.randn(rows, columns, n_embd))
        self.stages = nn.ModuleList()
        for stage, (width, depth) in enumerate(zip(widths, depths, strict=True)):
            options = {"activation": F.gelu, "dropout": dropout, "eps": eps}
            heads = n_head * 2**stage
            blocks = [TransformerBlock(width, heads, "pre", **options) for _ in range(depth)]
            self.stages.append(nn.ModuleList(blocks))
        self.merges = nn.ModuleList(PatchMerging(width, eps) for width in widths[:-1])
        self.last_norm = LayerNorm(widths[-1], eps=eps)
        self.head = nn.Linear(widths[-1], n_class)
        self.masks: dict[tuple, Tensor] = {}

    def kept_mask(self, grid: tuple[int, int], shift: int, device: torch.device) -> Tensor:
        """Return `shifted_window_mask` for a grid, made once, on the device where it is used."""
        key = (*grid, self.window_size, shift, device)
        if key not in self.masks:
            with torch.device(device), torch.inference_mode(False):  # fit for training, too
                self.masks[key] = shifted_window_mask(grid, self.window_size, shift)
        return self.masks[key]

    def look(self, block: nn.Module, x: Tensor, shift: int) -> Tensor:
        """Send a grid through one block, each token seeing its own window, moved by `shift`.

        x (B, rows, columns, C) -> the same shape, every token back at its old place.
        Roll the grid by `shift` rows up and `shift` columns to the left; cut it into windows of
        self.window_size; call block(windows, mask) once with the windows of all images, windows
        (B * N, M * M, C) and mask (B * N, M * M, M * M), image after image (a mask that allows
        everything may be None); put the windows back; roll the grid back. The mask of one image
        is `shifted_window_mask`'s; self.kept_mask(grid, shift, x.device) makes it only once.
        """
        grid = x.shape[1:3]
        x = x.roll((-shift, -shift), dims=(1, 2))
        windows = window_partition(x, self.window_size)  # (B, N, M * M, C)
        mask = None
        if shift > 0:
            mask = self.kept_mask(grid, shift, x.device)
            mask = mask.repeat(len(x), 1, 1)  # (B * N, M * M, M * M)
        seen = block(windows.flatten(0, 1), mask).unflatten(0, windows.shape[:2])
        return window_reverse(seen, grid).roll((shift, shift), dims=(1, 2))

    def encode(self, images: Tensor) -> Tensor:
        """Embed the patches, go through the stages, normalise the last grid.

        images (B, channels, height, width) -> (B, rows, columns, C) of the last stage. Every
        patch (`patchify`) goes through `project`, and its place's `position` is added. Before
        each stage but the first, a merging: merges[0] first. Block i of a stage (i = 0, 1, ...)
        is applied by `self.look(block, x, shift)`: with shift 0 where i is even, with
        self.shift where i is odd, but with 0 where one window covers the whole grid.
        """
        rows, columns, _ = self.position.shape
        x = self.project(patchify(images, self.patch_size)).unflatten(1, (rows, columns))
        x = x + self.position
        for stage, blocks in enumerate(self.stages):
            if stage > 0:
                x = self.merges[stage - 1](x)
            covered = x.size(1) * x.size(2) == self.window_size**2
            for i, block in enumerate(blocks):
                moved = i % 2 == 1 and not covered
                x = self.look(block, x, self.shift if moved else 0)
        return self.last_norm(x)

    def forward(self, images: Tensor) -> Tensor:
        """Score the classes: `head` reads the mean of all tokens of `encode`.

        images (B, channels, height, width) -> (B, n_class), before any softmax.
        """
        return self.head(self.encode(images).mean((1, 2)))
