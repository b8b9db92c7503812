"""Prepare a training step of a Transformer: what the decoder reads, and how fast it learns."""

import torch
from torch import Tensor

from solutions.data.tiny_french import SOS


def shift_right(target: Tensor, start: int = SOS) -> Tensor:
    """Move every target one place to the right and put the start token in front.

    target (B, T) -> (B, T): the last column falls out, nothing of it is needed any more. What
    stands at place t of the result are the words before target[:, t].

    >>> shift_right(torch.tensor([[7, 8, 9, 2]]), start=1)
    tensor([[1, 7, 8, 9]])
    """
    return torch.cat([torch.full_like(target[:, :1], start), target[:, :-1]], 1)


def warmup_rate(step: int, n_embd: int, warmup: int = 4000) -> float:
    """Give the learning rate of the original Transformer for step 1, 2, 3, ...

    It rises in a straight line for `warmup` steps, then falls like one over the root of the step:
    C^-0.5 * min(step^-0.5, step * warmup^-1.5). Both branches meet at step = warmup.

    >>> warmup_rate(1, n_embd=64, warmup=100), warmup_rate(100, n_embd=64, warmup=100)
    (0.000125, 0.0125)
    """
    if step < 1:
        raise ValueError(f"warmup_rate: steps count from 1, got {step}")
    return n_embd**-0.5 * min(step**-0.5, step * warmup**-1.5)
