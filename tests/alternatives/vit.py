"""Other right solutions of the lesson vit."""

import torch
from torch import nn
from torch.nn import functional as F

from solutions import vit as reference
from solutions.vit import patchify


def patchify__reshape_and_permute(images, patch_size):
    p = patch_size
    *front, c, h, w = images.shape
    if h % p != 0 or w % p != 0:
        raise ValueError("the patches do not fit")
    x = images.reshape(-1, c, h // p, p, w // p, p).permute(0, 2, 4, 1, 3, 5)
    return x.reshape(*front, (h // p) * (w // p), c * p * p)


def patchify__tensor_unfold(images, patch_size):
    if images.size(-1) % patch_size or images.size(-2) % patch_size:
        raise ValueError("the patches do not fit")
    x = images.unfold(-2, patch_size, patch_size).unfold(-2, patch_size, patch_size)
    x = x.movedim(-5, -3)  # (..., rows, columns, channels, P, P)
    return x.reshape(*x.shape[:-5], x.shape[-5] * x.shape[-4], -1)


def patchify__one_patch_at_a_time(images, patch_size):
    h, w = images.shape[-2:]
    if h % patch_size or w % patch_size:
        raise ValueError(f"{h} x {w}")
    patches = []
    for top in range(0, h, patch_size):
        for left in range(0, w, patch_size):
            patch = images[..., top : top + patch_size, left : left + patch_size]
            patches.append(patch.flatten(-3))
    return torch.stack(patches, dim=-2)


class PatchEmbedding__convolution(reference.PatchEmbedding):
    def forward(self, images):
        p = self.patch_size
        kernel = self.project.weight.unflatten(1, (-1, p, p))
        patches = F.conv2d(images, kernel, self.project.bias, stride=p).flatten(2).mT
        token = self.class_token.view(1, 1, -1).repeat(images.size(0), 1, 1)
        return torch.cat((token, patches), 1) + self.position.unsqueeze(0)


class PatchEmbedding__positions_first(reference.PatchEmbedding):
    def forward(self, images):
        patches = self.project(patchify(images, self.patch_size)) + self.position[1:]
        token = (self.class_token + self.position[0])[None, None]
        return torch.cat([token.expand(patches.size(0), -1, -1), patches], dim=1)


class PatchEmbedding__image_by_image(reference.PatchEmbedding):
    def forward(self, images):
        rows = []
        for image in images:
            tokens = [self.class_token, *self.project(patchify(image, self.patch_size))]
            rows.append(torch.stack(tokens) + self.position)
        return torch.stack(rows)


class ViT__blocks_as_one(reference.ViT):
    def encode(self, images):
        return self.last_norm(nn.Sequential(*self.blocks)(self.embedding(images)))

    def forward(self, images):
        return self.head(self.encode(images))[:, 0]


class ViT__norm_of_the_class_token_only(reference.ViT):
    def encode(self, images):
        return self.last_norm(self.tokens(images))

    def tokens(self, images):
        x = self.embedding(images)
        for number in range(len(self.blocks)):
            x = self.blocks[number](x)
        return x

    def forward(self, images):
        token = self.last_norm(self.tokens(images)[:, 0, :])
        return F.linear(token, self.head.weight, self.head.bias)


class ViT__unbound(reference.ViT):
    def encode(self, images):
        x = self.embedding(images)
        for block in self.blocks:
            x = block.forward(x, mask=None)
        return F.layer_norm(
            x, x.shape[-1:], self.last_norm.gain, self.last_norm.bias, self.last_norm.eps
        )

    def forward(self, images):
        return self.head(self.encode(images).unbind(1)[0])


def interpolate_positions__reshape_and_permute(position, old_grid, new_grid):
    first, rest = position[:1], position[1:]
    c = position.shape[1]
    picture = rest.reshape(1, *old_grid, c).permute(0, 3, 1, 2)
    picture = F.interpolate(picture, size=new_grid, mode="bicubic", align_corners=False)
    return torch.cat((first, picture.permute(0, 2, 3, 1).reshape(-1, c)), dim=0)


def interpolate_positions__column_by_column(position, old_grid, new_grid):
    columns = []
    for column in position.unbind(1):
        picture = column[1:].reshape(1, 1, *old_grid)
        picture = F.interpolate(picture, new_grid, mode="bicubic", align_corners=False)
        columns.append(torch.cat([column[:1], picture.flatten()]))
    return torch.stack(columns, dim=1)


def interpolate_positions__upsample(position, old_grid, new_grid):
    rows, columns = old_grid
    grid = position[1:].T.reshape(1, -1, rows, columns)
    grid = nn.Upsample(size=tuple(new_grid), mode="bicubic", align_corners=False)(grid)
    return torch.vstack([position[0], grid.squeeze(0).flatten(1).mT])


def attention_rollout__recursion(weights):
    mixed = 0.5 * weights.mean(-3) + 0.5 * torch.eye(weights.size(-1), dtype=weights.dtype)
    mixed = mixed / mixed.sum(-1, keepdim=True)
    if len(mixed) == 1:
        return mixed[0]
    return mixed[-1] @ attention_rollout__recursion(weights[:-1])


def attention_rollout__from_the_top(weights):
    t = weights.size(-1)
    result = torch.eye(t, dtype=weights.dtype).expand(*weights.shape[1:-3], t, t)
    for layer in reversed(list(weights)):
        heads = layer.sum(-3) / layer.size(-3)
        result = (result @ heads + result) / 2
    return result


def attention_rollout__multi_dot(weights):
    average = torch.einsum("...hts->...ts", weights) / weights.shape[-3]
    layers = (average + torch.eye(weights.shape[-1]).to(average)).div(2).unbind(0)
    result = layers[0]
    for layer in layers[1:]:
        result = torch.matmul(layer, result)
    return result
