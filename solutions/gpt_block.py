"""The block of a GPT: attention under a mask and a feed-forward layer, on PyTorch's kernels."""

import math
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from solutions.multi_head import merge_heads, split_heads
from solutions.position import sinusoidal_positions
from solutions.residual import FeedForward

ACTIVATIONS = {"gelu": F.gelu, "gelu_tanh": partial(F.gelu, approximate="tanh")}
NORMS = {"layer": nn.LayerNorm, "rms": nn.RMSNorm}  # the formulas of lesson layer_norm


@dataclass(frozen=True)
class GPTConfig:
    """Hold the sizes of a GPT and the choices between older and newer parts."""

    vocab_size: int
    block_size: int = 64  # the most tokens it can look back on
    n_layer: int = 4
    n_head: int = 4
    n_embd: int = 128
    dropout: float = 0.0
    std: float = 0.02  # of the starting weights; GPT-2's number, for a width of 768
    positions: str = "learned"  # or "rotary"
    norm: str = "layer"  # or "rms"
    activation: str = "gelu"  # or "gelu_tanh", the approximation GPT-2 was trained with
    tied: bool = True  # one table for reading tokens and for scoring them

    def __post_init__(self):
        if self.n_embd % self.n_head:
            raise ValueError(f"n_embd={self.n_embd} cannot be shared among {self.n_head} heads")


class FastAttention(nn.Module):
    """Compute what MultiHeadAttention computes, in fewer steps and with less memory.

    Queries, keys and values come from one product with a matrix three times as wide, their
    matrices one below the other; the (T, S) weights are never stored.
    """

    def __init__(self, config: GPTConfig):
        super().__init__()
        self.n_head, self.dropout = config.n_head, config.dropout
        self.project = nn.Linear(config.n_embd, 3 * config.n_embd)
        self.out = nn.Linear(config.n_embd, config.n_embd)
        rotary = config.positions == "rotary"
        angles = sinusoidal_positions(config.block_size, config.n_embd // config.n_head)
        self.register_buffer("angles", angles if rotary else None, persistent=False)

    def forward(self, x: Tensor, mask: Tensor, start: int = 0, cache=None) -> Tensor:
        """Attend under a mask: x (B, T, C), mask (T, S) True where looking is allowed -> (B, T, C).

        Token t stands at position start + t. A cache has `extend(k, v)`: it is given the new keys
        and values (B, H, T, D), and returns all there are so far, (B, H, S, D); else S = T.
        """
        q, k, v = (split_heads(y, self.n_head) for y in self.project(x).chunk(3, dim=-1))
        if self.angles is not None:
            q, k = self.turned(q, start), self.turned(k, start)
        if cache is not None:
            k, v = cache.extend(k, v)
        dropout = self.dropout if self.training else 0.0
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout)
        return self.out(merge_heads(heads))

    def turned(self, x: Tensor, start: int) -> Tensor:
        """Do what `apply_rotary` does, x (B, H, T, D) -> (B, H, T, D), with sines made beforehand.

        They stay on the device of the model, for all positions up to block_size.
        """
        end, room = start + x.size(-2), len(self.angles)
        if end > room:
            raise ValueError(
                f"GPT: the text has {end} tokens, the model's block_size is {room}; "
                "use a larger block_size or a shorter text."
            )
        table = self.angles[start:end].to(x)  # (T, D)
        sin, cos = table[:, ::2], table[:, 1::2]  # (T, D / 2)
        a, b = x[..., ::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


class Block(nn.Module):
    """Let the tokens talk, then let each think: the pre-norm block of lesson layer_norm."""

    def __init__(self, config: GPTConfig):
        super().__init__()
        self.attention_norm = make_norm(config)
        self.attention = FastAttention(config)
        self.feed_forward_norm = make_norm(config)
        self.feed_forward = FeedForward(config.n_embd, activation=ACTIVATIONS[config.activation])
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor, mask: Tensor, start: int = 0, cache=None) -> Tensor:
        """Send x (B, T, C) through both branches; mask, start and cache as in FastAttention."""
        x = x + self.dropout(self.attention(self.attention_norm(x), mask, start, cache))
        return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))


def make_norm(config: GPTConfig) -> nn.Module:
    """Make the norm the config names, for tokens of n_embd numbers."""
    return NORMS[config.norm](config.n_embd, eps=1e-5)


def draw_weights(model: nn.Module, config: GPTConfig) -> None:
    """Draw all matrices and tables with config.std, set the biases to 0.

    The last matrix of each of the 2 L branches is smaller by the root of 2 L: the branches add up
    on the residual stream, and so do their variances.
    """
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            last = name.endswith((".attention.out", ".feed_forward.down"))
            shrink = math.sqrt(2 * config.n_layer) if last else 1.0
            nn.init.normal_(module.weight, std=config.std / shrink)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
