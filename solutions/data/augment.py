"""More pictures than there are: crop and flip each one at random, paste one into another."""

import torch
from torch import Tensor
from torch.nn import functional as F


def crop(images: Tensor, generator: torch.Generator, pad: int = 2) -> Tensor:
    """Move every image by up to `pad` pixels in each direction; outside of it lies 0.

    images (B, channels, height, width) -> the same shape.
    """
    height, width = images.shape[-2:]
    padded = F.pad(images, (pad, pad, pad, pad))
    top, left = torch.randint(2 * pad + 1, (2, len(images), 1), generator=generator)
    rows, columns = top + torch.arange(height), left + torch.arange(width)  # (B, height or width)
    at = torch.arange(len(images))[:, None, None]
    return padded[at, :, rows[:, :, None], columns[:, None, :]].movedim(-1, 1)


def flip(images: Tensor, generator: torch.Generator) -> Tensor:
    """Exchange left and right in every second image or so."""
    turned = torch.rand(len(images), 1, 1, 1, generator=generator) < 0.5
    return torch.where(turned, images.flip(-1), images)


def cut_mix(
    images: Tensor, labels: Tensor, generator: torch.Generator, chance: float = 0.5
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Paste a rectangle of another image of the batch into an image, and keep both labels.

    images (B, channels, height, width), labels (B) -> the new images, the labels of the image and
    of what was pasted, and the share (B) of the pixels that are the image's own. Each image is
    changed with this chance, and then the rectangle's area is drawn evenly from nothing to all.
    """
    n, (height, width) = len(labels), images.shape[-2:]
    order = torch.randperm(n, generator=generator)
    drawn, area, down, right = torch.rand(4, n, 1, generator=generator)
    side = torch.where(drawn < chance, area, 0).sqrt() / 2  # half of it, as a share of the image
    inside_rows = ((torch.arange(height) + 0.5) / height - down).abs() < side  # (B, height)
    inside_columns = ((torch.arange(width) + 0.5) / width - right).abs() < side
    pasted = inside_rows[:, :, None] & inside_columns[:, None, :]  # (B, height, width)
    share = 1 - pasted.float().mean((1, 2))
    return (
        torch.where(pasted[:, None], images[order], images),
        *(labels, labels[order], share),
    )


def mixed_cross_entropy(model, batch: tuple[Tensor, ...]) -> Tensor:
    """Ask for both labels of mixed images, each by its share; the loss for `train`."""
    images, first, second, share = batch
    scores = model(images)
    one, other = (F.cross_entropy(scores, label, reduction="none") for label in (first, second))
    return (share * one + (1 - share) * other).mean()
