"""What a model of pixels knows about their meaning: one linear layer on its features."""

import torch
from torch import Tensor
from torch.nn import functional as F

from solutions.queries_keys_values import causal_mask


def linear_probe(features: Tensor, labels: Tensor, n_class: int, penalty: float = 1.0) -> Tensor:
    """Fit one linear layer to labelled features in closed form: ridge regression.

    features (N, F) floats, labels (N) whole numbers -> weights (F + 1, n_class), of the
    features' dtype. X is the features with a column of ones after the last, (N, F + 1); Y
    (N, n_class) has a 1 where the label is and 0 elsewhere. The weights W make
    |X W - Y|^2 + penalty * |W without its last row|^2 smallest, which they do where
    (X^T X + penalty * I) W = X^T Y, with a 0 in the last place of I: the row that belongs to
    the column of ones is not held down. The class of x is the largest entry of [x, 1] W.

    >>> linear_probe(torch.tensor([[-1.0], [1.0]]), torch.tensor([0, 1]), 2, penalty=2.0)
    tensor([[-0.2500,  0.2500],
            [ 0.5000,  0.5000]])
    """
    x = torch.cat([features, features.new_ones(len(features), 1)], dim=1)  # (N, F + 1)
    y = F.one_hot(labels, n_class).to(x.dtype)  # (N, n_class)
    held = x.new_ones(x.size(1))
    held[-1] = 0
    return torch.linalg.solve(x.T @ x + penalty * held.diag(), x.T @ y)


def share_right(weights: Tensor, features: Tensor, labels: Tensor) -> float:
    """Return the share of images that a probe's weights (F + 1, n_class) name rightly."""
    answers = (features @ weights[:-1] + weights[-1]).argmax(-1)
    return (answers == labels).float().mean().item()


@torch.no_grad()
def pixel_features(model, images: Tensor, pieces: int = 1) -> Tensor:
    """Average what an ImageGPT holds at the pixels, after each of its L blocks.

    images (B, rows, columns), colours -> (L + 1, B, pieces * C); the first of the L + 1 is the
    sum of colour and position, before any block. The average is over all pixels, or over each
    of `pieces` runs of equal length (as many as there are rows: over each row).
    """
    ids, gpt = images.flatten(1), model.gpt
    start = ids.new_full((len(ids), 1), gpt.config.vocab_size - 1)
    x = gpt.position(gpt.token(torch.cat([start, ids[:, :-1]], dim=1)))  # (B, N, C)
    with torch.device(ids.device):  # the mask is made where it is used
        mask = causal_mask(ids.size(1))
    streams = [x]
    for block in gpt.blocks:
        streams.append(x := block(x, mask))
    return torch.stack([x.unflatten(1, (pieces, -1)).mean(2).flatten(1) for x in streams])
