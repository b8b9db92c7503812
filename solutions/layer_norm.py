"""Keep the numbers tame: normalise every token by itself, and the complete Transformer block."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from solutions.multi_head import MultiHeadAttention
from solutions.residual import FeedForward


def layer_norm(
    x: Tensor, gain: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Bring every token to mean 0 and variance 1, then stretch and shift its numbers.

    x (..., C), gain (C), bias (C) -> (..., C): gain * (x - mean) / sqrt(variance + eps) + bias.
    Mean and variance are those of the C numbers of one token. The variance divides by C, not by
    C - 1; it is computed from x - mean, so that a token far from zero keeps its digits; eps is
    added under the root. A gain of None stands for ones, a bias of None for zeros. A token of C
    equal numbers comes out as the bias.

    >>> layer_norm(torch.tensor([100.0, 200.0, 100.0, 0.0]))
    tensor([ 0.0000,  1.4142,  0.0000, -1.4142])
    """
    mean = x.mean(-1, keepdim=True)  # (..., 1)
    variance = (x - mean).square().mean(-1, keepdim=True)
    y = (x - mean) / torch.sqrt(variance + eps)
    if gain is not None:
        y = y * gain
    if bias is not None:
        y = y + bias
    return y


class LayerNorm(nn.Module):
    """Normalise every token, with a gain and a bias that are learned for each feature."""

    def __init__(self, n_embd: int, eps: float = 1e-5, bias: bool = True):
        """Make the parameters `gain` (C) of ones and `bias` (C) of zeros, and keep `eps`.

        With bias=False the attribute `bias` is None.
        """
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.ones(n_embd))
        self.bias = nn.Parameter(torch.zeros(n_embd)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """Normalise x (..., C) -> (..., C); training and evaluation do the same."""
        return layer_norm(x, self.gain, self.bias, self.eps)


class RMSNorm(nn.Module):
    """Divide every token by its root mean square: no mean is subtracted, no bias is added."""

    def __init__(self, n_embd: int, eps: float = 1e-5):
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.ones(n_embd))

    def forward(self, x: Tensor) -> Tensor:
        """Compute gain * x / sqrt(mean of the C squares + eps): x (..., C) -> (..., C)."""
        return self.gain * x / torch.sqrt(x.square().mean(-1, keepdim=True) + self.eps)


class TransformerBlock(nn.Module):
    """Let the tokens talk, then let each think: attention and feed-forward, with skips and norms.

    norm: "pre" or "post", see `forward`; n_hidden: the width inside the feed-forward layer, 4 C
    when it is None; bias: whether the attention's four projections have one (the feed-forward
    layer always has); norm_layer: makes a norm from (n_embd, eps=eps), LayerNorm when it is None.
    """

    def __init__(
        self,
        n_embd: int,
        n_head: int,
        norm: str = "pre",
        n_hidden: int | None = None,
        activation: Callable[[Tensor], Tensor] = F.relu,
        bias: bool = True,
        dropout: float = 0.0,
        eps: float = 1e-5,
        norm_layer: Callable[..., nn.Module] | None = None,
    ):
        super().__init__()
        if norm not in ("pre", "post"):
            raise ValueError(f"norm is {norm!r}; it must be 'pre' or 'post'")
        norm_layer = norm_layer or LayerNorm
        self.norm = norm
        self.attention = MultiHeadAttention(n_embd, n_head, bias=bias)
        self.attention_norm = norm_layer(n_embd, eps=eps)
        self.feed_forward = FeedForward(n_embd, n_hidden, activation)
        self.feed_forward_norm = norm_layer(n_embd, eps=eps)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Send x through the two branches f: the attention (with the mask), then the feed-forward.

        x (B, T, C), mask (T, T) or (B, T, T) True where looking is allowed -> (B, T, C).
        Each branch has the norm that bears its name:
        "pre":  x + dropout(f(norm(x)))      "post":  norm(x + dropout(f(x)))
        """
        if self.norm == "pre":
            x = x + self.dropout(self.attention(self.attention_norm(x), mask=mask))
            return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
        x = self.attention_norm(x + self.dropout(self.attention(x, mask=mask)))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))
