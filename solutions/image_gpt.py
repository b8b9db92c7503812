"""A GPT on pixels: an image is a text of colours, read line by line."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from solutions.gpt import GPT
from solutions.gpt_block import GPTConfig


class ImageGPT(nn.Module):
    """Predict every pixel of an image from the pixels before it."""

    def __init__(self, config: GPTConfig):
        """Keep one part, `gpt`: a GPT for K colours and a start token.

        config.vocab_size is K + 1: ids 0 to K - 1 are colours, id K is the start token.
        config.block_size is the number of pixels of an image, or more.
        """
        super().__init__()
        self.gpt = GPT(config)

    def forward(self, ids: Tensor) -> Tensor:
        """Score the K colours for the first N + 1 pixels, given the first N.

        ids (B, N), colours in raster order, N from 0 -> (B, N + 1, K). Put the start token
        before the first pixel and ask the GPT: its scores at place n, before any softmax, are
        for pixel n. The start token is never an answer: leave its column out.
        """
        start = ids.new_full((ids.size(0), 1), self.gpt.config.vocab_size - 1)
        scores = self.gpt(torch.cat([start, ids], dim=1))  # (B, N + 1, K + 1)
        return scores[..., :-1]

    def bits(self, images: Tensor) -> Tensor:
        """Measure how many bits each pixel of the images costs.

        images (B, rows, columns), colours -> (B, rows, columns): -log2 p(pixel | all pixels
        before it), where "before" is raster order: the top row from left to right, then the
        row below. No softmax over the start token: p is over the K colours.
        """
        ids = images.flatten(1)  # (B, N)
        scores = self(ids[:, :-1])  # (B, N, K)
        nats = F.cross_entropy(scores.transpose(1, 2), ids, reduction="none")  # (B, N)
        return (nats / math.log(2)).view(images.shape)


def complete_image(model, images: Tensor, rows: int, draws: Tensor) -> Tensor:
    """Keep the top rows of images and draw all other pixels from a model, one after another.

    images (B, R, W), colours; draws (B, R, W), numbers from 0 up to but not including 1
    -> (B, R, W), colours, with the first `rows` rows as they were (0: a new image). `model`
    maps colours (B, N) in raster order to scores (B, N + 1, K), as ImageGPT does. A pixel is
    drawn from the softmax of its scores, given the pixels above that were kept and those drawn
    already, never the true ones below. How it is drawn: add the probabilities up in the
    order of the colours; the pixel is the first colour at which the sum is greater than the
    pixel's own number in `draws` (the last colour, should rounding keep the sum below it).
    `images` is left as it is.

    >>> even = lambda ids: torch.zeros(len(ids), ids.size(1) + 1, 4)  # scores 4 colours alike
    >>> complete_image(even, torch.tensor([[[3], [3]]]), 1, torch.tensor([[[0.0], [0.6]]]))
    tensor([[[3],
             [2]]])
    """
    ids, draws = images.flatten(1).clone(), draws.flatten(1)  # (B, N)
    with torch.no_grad():
        for n in range(rows * images.size(2), ids.size(1)):
            scores = model(ids[:, :n])[:, -1]  # (B, K)
            sums = scores.softmax(-1).cumsum(-1)
            passed = (sums <= draws[:, n : n + 1]).sum(-1)  # (B)
            ids[:, n] = passed.clamp(max=scores.size(-1) - 1)
    return ids.view(images.shape)
