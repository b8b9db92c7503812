"""Self-attention without parameters: every token becomes an average of all tokens."""

import torch
from torch import Tensor


def self_attention_loop(x: Tensor) -> Tensor:
    """Replace every word by an average of all words, one word after the other.

    x (T, C), one row per word -> (T, C). The score of word s for word t is the dot
    product x[t] @ x[s], not divided by anything; the word itself takes part. A softmax
    over all T scores gives the weights; output t is the sum of all words times these.

    >>> self_attention_loop(torch.tensor([[1.0, 0.0], [0.0, 1.0]])).round(decimals=3)
    tensor([[0.7310, 0.2690],
            [0.2690, 0.7310]])
    """
    outputs = []
    for t in range(x.size(0)):
        scores = torch.stack([x[t] @ other for other in x])  # (T)
        weights = scores.softmax(0)
        outputs.append((weights.unsqueeze(1) * x).sum(0))  # (C)
    return torch.stack(outputs)


def self_attention(x: Tensor) -> Tensor:
    """Do the same for all words at once, in two matrix products and no loop.

    x (..., T, C) -> (..., T, C). Every sequence of a batch attends to itself only.
    Scores of several hundred must not overflow. No scale, no mask, no parameters.
    """
    weights = (x @ x.transpose(-2, -1)).softmax(-1)  # (..., T, T), rows sum to one
    return weights @ x


def attention_cost(n_token: int, n_embd: int) -> int:
    """Count the multiply-adds of `self_attention` on one sequence.

    n_token T, n_embd C -> a whole number. One multiplication and the addition that goes
    with it count as one. Both matrix products count: all scores, and all averages. The
    softmax does not.

    >>> attention_cost(n_token=3, n_embd=2)  # 9 scores of 2 products, and 6 sums of 3
    36
    """
    return 2 * n_token * n_token * n_embd
