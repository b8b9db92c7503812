"""Other right answers to the exercises of image_gpt: each must get full marks."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from solutions.gpt import GPT
from solutions.image_gpt import ImageGPT
from solutions.palette import quantise


def quantise__cdist(pixels, palette):
    flat = pixels.reshape(-1, pixels.size(-1))
    near = torch.cdist(flat, palette, compute_mode="donot_use_mm_for_euclid_dist").argmin(-1)
    return near.view(pixels.shape[:-1])


def quantise__colour_by_colour(pixels, palette):
    best = torch.full(pixels.shape[:-1], math.inf, dtype=pixels.dtype)
    found = torch.zeros(pixels.shape[:-1], dtype=torch.long)
    for k, colour in enumerate(palette):
        distance = ((pixels - colour) ** 2).sum(-1)
        nearer = distance < best
        best, found = torch.where(nearer, distance, best), torch.where(nearer, k, found)
    return found


def quantise__norm_and_sort(pixels, palette):
    gaps = torch.linalg.vector_norm(pixels[..., None, :] - palette, dim=-1)
    return torch.sort(gaps, dim=-1, stable=True).indices[..., 0] + 0


def fit_palette__loop(pixels, centres, rounds=20):
    centres = centres.clone()
    for _ in range(rounds):
        nearest = quantise(pixels, centres)
        for k in range(len(centres)):
            if (nearest == k).any():
                centres[k] = pixels[nearest == k].mean(0)
    return centres


def fit_palette__stops_when_settled(pixels, centres, rounds=20):
    for _ in range(rounds):
        member = F.one_hot(quantise(pixels, centres), len(centres)).to(pixels)
        count = member.sum(0)[:, None]
        moved = torch.where(count > 0, member.T @ pixels / count, centres)
        if torch.equal(moved, centres):
            break
        centres = moved
    return centres


def fit_palette__index_add(pixels, centres, rounds=20):
    centres = torch.clone(centres)
    for _ in range(rounds):
        nearest = quantise(pixels, centres)
        sums = torch.zeros_like(centres).index_add(0, nearest, pixels)
        count = torch.bincount(nearest, minlength=len(centres))
        centres[count > 0] = sums[count > 0] / count[count > 0, None]
    return centres


class ImageGPT__padded(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gpt = GPT(config)

    def forward(self, ids):
        k = self.gpt.config.vocab_size - 1
        return self.gpt(F.pad(ids, (1, 0), value=k))[:, :, :k]

    def bits(self, images):
        b, rows, columns = images.shape
        ids = images.reshape(b, rows * columns)
        logs = torch.log_softmax(self(ids)[:, :-1], dim=-1) if self.fits(ids) else self.logs(ids)
        spent = -logs.gather(2, ids[:, :, None])[:, :, 0] / math.log(2)
        return spent.reshape(b, rows, columns)

    def fits(self, ids):
        return ids.size(1) < self.gpt.config.block_size

    def logs(self, ids):
        return self(ids[:, :-1]).log_softmax(-1)


class ImageGPT__base_two(ImageGPT):
    def forward(self, ids):
        n_colour = self.gpt.head.weight.size(0) - 1
        start = torch.full((ids.shape[0], 1), n_colour, dtype=ids.dtype, device=ids.device)
        return self.gpt(torch.hstack([start, ids])).split([n_colour, 1], dim=-1)[0]

    def bits(self, images):
        ids = torch.cat([images[:, r] for r in range(images.size(1))], dim=1)
        chance = self.forward(ids[:, :-1]).softmax(-1).gather(-1, ids.unsqueeze(-1))
        return -chance.squeeze(-1).log2().unflatten(1, images.shape[1:])


class ImageGPT__image_by_image(ImageGPT):
    def bits(self, images):
        found = []
        for image in images:
            scores = self(image.reshape(1, -1)[:, :-1])[0]
            nats = F.cross_entropy(scores, image.reshape(-1), reduction="none")
            found.append((nats * math.log2(math.e)).reshape(image.shape))
        return torch.stack(found)


def complete_image__searchsorted(model, images, rows, draws):
    b, high, wide = images.shape
    done = images[:, :rows].reshape(b, -1)
    for n in range(rows * wide, high * wide):
        sums = torch.softmax(model(done)[:, -1].detach(), dim=-1).cumsum(-1)
        number = draws[:, n // wide, n % wide, None]
        colour = torch.searchsorted(sums, number, right=True).clamp(max=sums.size(1) - 1)
        done = torch.cat([done, colour], dim=1)
    return done.reshape(b, high, wide)


def complete_image__row_and_column(model, images, rows, draws):
    made = images.clone()
    for r in range(rows, images.size(1)):
        for c in range(images.size(2)):
            n = r * images.size(2) + c
            past = made.reshape(len(made), -1)
            odds = model(past[:, :n])[:, n].softmax(-1)
            for i, row in enumerate(odds.tolist()):
                total, colour = torch.zeros(()), len(row) - 1
                for k, p in enumerate(row):
                    total = total + p
                    if total > draws[i, r, c]:
                        colour = k
                        break
                made[i, r, c] = colour
    return made


@torch.no_grad()
def complete_image__all_but_the_last_pixel_read(model, images, rows, draws):
    made, numbers = images.flatten(1).clone(), draws.flatten(1)
    for n in range(rows * images.shape[2], made.shape[1]):
        scores = model(made[:, :-1])[:, n]  # a causal model: later pixels are idle
        sums = scores.softmax(-1).cumsum(-1)
        above = sums > numbers[:, n, None]
        above[:, -1] = True
        made[:, n] = above.int().argmax(-1)
    return made.reshape(images.shape)


def linear_probe__inverse(features, labels, n_class, penalty=1.0):
    width = features.size(1)
    x = F.pad(features, (0, 1), value=1.0)
    y = torch.eye(n_class, dtype=x.dtype)[labels]
    ridge = penalty * torch.eye(width + 1, dtype=x.dtype)
    ridge[width, width] = 0.0
    return torch.linalg.inv(x.T @ x + ridge) @ (x.T @ y)


def linear_probe__centred(features, labels, n_class, penalty=1.0):
    y = (labels[:, None] == torch.arange(n_class)).to(features.dtype)
    middle, mean = features.mean(0), y.mean(0)
    x = features - middle
    w = torch.linalg.solve(x.T @ x + penalty * torch.eye(x.size(1)).to(x), x.T @ (y - mean))
    return torch.cat([w, (mean - middle @ w)[None]])


def linear_probe__longer_table(features, labels, n_class, penalty=1.0):
    n, width = features.shape
    x = torch.cat([features, torch.ones(n, 1, dtype=features.dtype)], 1)
    y = F.one_hot(labels, n_class).to(x)
    more = math.sqrt(penalty) * torch.eye(width, width + 1, dtype=x.dtype)
    x, y = torch.cat([x, more]), torch.cat([y, torch.zeros(width, n_class, dtype=x.dtype)])
    return torch.linalg.lstsq(x, y).solution
