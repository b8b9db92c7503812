"""Handwritten digits, 8 x 8 pixels, that ship with scikit-learn: one fixed split for all lessons.

1,797 images of the digits 0 to 9, grey levels 0 (paper) to 16 (ink). The hands of 13 people wrote
them, and the split does not know whose is whose: the same hands are on both sides of it.
"""

from functools import cache

import torch
from torch import Tensor

GREY_LEVELS = 17  # 0 to 16
N_CLASS = 10
TEST_PER_CLASS = 36  # 360 test images in all, a fifth


@cache
def all_digits() -> tuple[Tensor, Tensor]:
    """Load every digit: images (1797, 1, 8, 8) with grey levels from 0 to 1, labels (1797).

    An image times 16 holds the whole numbers that scikit-learn has.
    """
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    images = torch.from_numpy(pixels).float().view(-1, 1, 8, 8) / (GREY_LEVELS - 1)
    return images, torch.from_numpy(labels).long()


@cache
def split_digits() -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Split the digits once and for all: (training images, labels), (test images, labels).

    The split is stratified: 36 test images of every class, drawn with a fixed seed; the other
    1,437 are for training. Both parts are in a random order.
    """
    images, labels = all_digits()
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    by_class = [order[labels[order] == digit] for digit in range(N_CLASS)]
    held_out = torch.zeros(len(labels), dtype=torch.bool)
    held_out[torch.cat([members[:TEST_PER_CLASS] for members in by_class])] = True
    train, test = order[~held_out[order]], order[held_out[order]]
    return (images[train], labels[train]), (images[test], labels[test])


def few_training_digits(n: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Draw n training images and their labels, as nearly as many of each class as can be."""
    images, labels = split_digits()[0]
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed))
    by_class = [order[labels[order] == digit] for digit in range(N_CLASS)]
    in_turn = [members[i] for i in range(len(labels)) for members in by_class if i < len(members)]
    chosen = torch.stack(in_turn[:n])
    return images[chosen], labels[chosen]
