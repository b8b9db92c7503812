"""Other right answers to the exercises of multi_scale: each must get full marks."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from solutions.multi_scale import MultiScaleViT, PatchMerging, window_partition, window_reverse
from solutions.vit import patchify


def window_partition__reshape_and_permute(x, size):
    *lead, rows, columns, c = x.shape
    if rows % size != 0 or columns % size != 0:
        raise ValueError("the windows do not fit")
    x = x.reshape(-1, rows // size, size, columns // size, size, c)
    x = x.permute(0, 1, 3, 2, 4, 5)
    return x.reshape(*lead, -1, size * size, c)


def window_partition__loops(x, size):
    rows, columns = x.shape[-3], x.shape[-2]
    if rows % size or columns % size:
        raise ValueError(f"{rows} x {columns} is no multiple of {size}")
    windows = []
    for r in range(0, rows, size):
        for c in range(0, columns, size):
            windows.append(x[..., r : r + size, c : c + size, :].flatten(-3, -2))
    return torch.stack(windows, dim=-3)


def window_partition__gathered(x, size):
    rows, columns, c = x.shape[-3:]
    if rows % size or columns % size:
        raise ValueError("no whole number of windows")
    place = torch.arange(rows * columns).view(rows, columns)
    order = torch.cat([b.flatten() for a in place.split(size) for b in a.split(size, 1)])
    tokens = x.reshape(*x.shape[:-3], rows * columns, c)[..., order, :]
    return tokens.unflatten(-2, (-1, size * size))


def window_partition__unfold(x, size):
    if x.size(-3) % size or x.size(-2) % size:
        raise ValueError("the windows do not fit")
    cut = x.unfold(-3, size, size).unfold(-3, size, size)  # (..., R, K, C, M, M)
    return cut.movedim(-3, -1).flatten(-3, -2).flatten(-4, -3)


def window_reverse__reshape_and_permute(windows, grid):
    *lead, _, area, c = windows.shape
    rows, columns = grid
    m = round(area**0.5)
    x = windows.reshape(-1, rows // m, columns // m, m, m, c).permute(0, 1, 3, 2, 4, 5)
    return x.reshape(*lead, rows, columns, c)


def window_reverse__written_into_place(windows, grid):
    rows, columns = grid
    m = math.isqrt(windows.shape[-2])
    out = torch.zeros(*windows.shape[:-3], rows, columns, windows.shape[-1], dtype=windows.dtype)
    for n in range(windows.shape[-3]):
        r, c = n // (columns // m) * m, n % (columns // m) * m
        out[..., r : r + m, c : c + m, :] = windows[..., n, :, :].unflatten(-2, (m, m))
    return out


def window_reverse__concatenated(windows, grid):
    m = int(math.sqrt(windows.size(-2)))
    squares = windows.unflatten(-2, (m, m)).unbind(-4)
    wide = grid[1] // m
    strips = [torch.cat(squares[i : i + wide], dim=-2) for i in range(0, len(squares), wide)]
    return torch.cat(strips, dim=-3)


def shifted_window_mask__three_slices_an_axis(grid, size, shift):
    """As the authors of Swin label the regions: nine of them."""
    rows, columns = grid
    region = torch.zeros(rows, columns, 1)
    count = 0
    cuts = (slice(0, -size), slice(-size, -shift or None), slice(-shift, None) if shift else None)
    for h in cuts:
        for w in cuts:
            if h is not None and w is not None:
                region[h, w] = count
            count += 1
    labels = window_partition(region, size).squeeze(-1)
    return labels.unsqueeze(1) - labels.unsqueeze(2) == 0


def shifted_window_mask__where_they_came_from(grid, size, shift):
    """Two tokens of a window know each other if they stood as far apart before the roll."""
    rows, columns = grid
    place = torch.cartesian_prod(torch.arange(rows), torch.arange(columns)).view(rows, columns, 2)
    home = (place + shift) % torch.tensor([rows, columns])
    now, then = window_partition(place, size), window_partition(home, size)

    def apart(x):
        return x[:, :, None] - x[:, None]

    return (apart(now) == apart(then)).all(-1)


def shifted_window_mask__rolled_labels(grid, size, shift):
    rows, columns = grid
    label = torch.zeros(rows, columns, dtype=torch.long)
    label[:shift] += 1
    label[:, :shift] += 2
    label = label.roll((-shift, -shift), (0, 1))
    windows = window_partition(label.unsqueeze(-1), size)[..., 0]
    return torch.eq(windows[:, None, :], windows[:, :, None])


def shifted_window_mask__loops(grid, size, shift):
    rows, columns = grid
    masks = []
    for top in range(0, rows, size):
        for left in range(0, columns, size):
            tokens = [(top + i, left + j) for i in range(size) for j in range(size)]
            side = [(r >= rows - shift, c >= columns - shift) for r, c in tokens]
            masks.append([[a == b for b in side] for a in side])
    return torch.tensor(masks)


class PatchMerging__reshape_and_permute(PatchMerging):
    def forward(self, x):
        *lead, rows, columns, c = x.shape
        x = x.reshape(-1, rows // 2, 2, columns // 2, 2, c).permute(0, 1, 3, 2, 4, 5)
        return self.reduce(self.norm(x.reshape(*lead, rows // 2, columns // 2, 4 * c)))


class PatchMerging__four_slices(PatchMerging):
    def forward(self, x):
        a, b = x[..., 0::2, 0::2, :], x[..., 0::2, 1::2, :]
        c, d = x[..., 1::2, 0::2, :], x[..., 1::2, 1::2, :]
        y = torch.cat((a, b, c, d), -1)
        y = F.layer_norm(y, y.shape[-1:], self.norm.gain, self.norm.bias, self.norm.eps)
        return y @ self.reduce.weight.T


class PatchMerging__windows_of_two(PatchMerging):
    def forward(self, x):
        rows, columns = x.shape[-3] // 2, x.shape[-2] // 2
        four = window_partition(x, 2).flatten(-2)  # (..., N, 4 C)
        return self.reduce(self.norm(four)).unflatten(-2, (rows, columns))


class MultiScaleViT__always_a_mask(MultiScaleViT):
    def look(self, block, x, shift):
        b, rows, columns, c = x.shape
        m = self.window_size
        rolled = torch.roll(x, shifts=(-shift, -shift), dims=(1, 2))
        tokens = window_partition(rolled, m).reshape(-1, m * m, c)
        mask = shifted_window_mask__loops((rows, columns), m, shift)
        tokens = block(tokens, mask.expand(b, *mask.shape).reshape(-1, m * m, m * m))
        back = window_reverse(tokens.view(b, -1, m * m, c), (rows, columns))
        return torch.roll(back, shifts=(shift, shift), dims=(1, 2))

    def encode(self, images):
        rows, columns = self.position.shape[:2]
        x = self.project(patchify(images, self.patch_size)) + self.position.flatten(0, 1)
        x = x.reshape(len(images), rows, columns, -1)
        for stage in range(len(self.stages)):
            one = x.shape[1] == x.shape[2] == self.window_size
            for i, block in enumerate(self.stages[stage]):
                x = self.look(block, x, 0 if one or i % 2 == 0 else self.shift)
            if stage < len(self.merges):
                x = self.merges[stage](x)
        return self.last_norm(x)

    def forward(self, images):
        return self.head(self.encode(images).flatten(1, 2).mean(1))


class MultiScaleViT__gathered_windows(MultiScaleViT):
    """Nothing is rolled: the tokens of each window are looked up where they stand."""

    def look(self, block, x, shift):
        b, rows, columns, c = x.shape
        place = torch.arange(rows * columns).view(rows, columns).roll((-shift, -shift), (0, 1))
        order = window_partition(place[..., None], self.window_size).flatten()
        mask = shifted_window_mask__rolled_labels((rows, columns), self.window_size, shift)
        tokens = x.flatten(1, 2)[:, order].unflatten(1, (len(mask), -1))
        seen = block(tokens.flatten(0, 1), torch.cat([mask] * b))
        back = torch.empty_like(order)
        back[order] = torch.arange(len(order))
        return seen.reshape(b, rows * columns, c)[:, back].unflatten(1, (rows, columns))


class MultiScaleViT__convolution_and_scores_averaged(MultiScaleViT):
    """A linear head of a mean is the mean of the heads; patches are a strided convolution."""

    def encode(self, images):
        p = self.patch_size
        kernel = self.project.weight.view(-1, images.size(1), p, p)
        x = F.conv2d(images, kernel, self.project.bias, stride=p).permute(0, 2, 3, 1)
        x = x + self.position
        merges = [nn.Identity(), *self.merges]
        for merge, blocks in zip(merges, self.stages, strict=True):
            x = merge(x)
            shifts = [0, self.shift]
            if x.shape[1:3] == (self.window_size, self.window_size):
                shifts = [0, 0]
            for i, block in enumerate(blocks):
                x = self.look(block, x, shifts[i % 2])
        return self.last_norm(x)

    def forward(self, images):
        return self.head(self.encode(images)).mean(dim=(1, 2))
