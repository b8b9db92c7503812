"""A tower of Transformer blocks, to see what its norms are good for."""

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor, nn

N_TOKEN, N_VOCAB = 4, 8


class BlockTower(nn.Module):
    """Read a short sentence through many blocks and name a token at every place.

    block: a class like TransformerBlock, the reference's or your own; norm: "pre" or "post";
    norm_layer: a class like LayerNorm. With norm="pre" a last norm stands before the read-out:
    the blocks normalise what they read, and nobody normalises what leaves the last one.
    xavier: draw each matrix by Xavier's rule, else leave them as `nn.Linear` made them.
    """

    def __init__(
        self,
        block: Callable[..., nn.Module],
        norm: str,
        norm_layer: Callable[..., nn.Module],
        n_layer: int,
        n_embd: int = 16,
        n_head: int = 2,
        xavier: bool = True,
    ):
        super().__init__()
        self.embedding = nn.Embedding(N_VOCAB, n_embd)
        self.positions = nn.Parameter(torch.randn(N_TOKEN, n_embd))  # lesson `position`: learned
        self.blocks = nn.ModuleList(
            block(n_embd, n_head, norm, n_hidden=2 * n_embd, norm_layer=norm_layer)
            for _ in range(n_layer)
        )
        self.last_norm = norm_layer(n_embd) if norm == "pre" else nn.Identity()
        self.read_out = nn.Linear(n_embd, N_VOCAB)
        if xavier:
            xavier_(self.blocks)

    def forward(self, ids: Tensor) -> Tensor:
        """Score every token at every place: ids (B, T) -> (B, T, V)."""
        x = self.embedding(ids) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.read_out(self.last_norm(x))


def draw_reversals(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw n short sentences (n, T) and, as targets, the same sentences backwards."""
    ids = torch.randint(N_VOCAB, (n, N_TOKEN), generator=generator)
    return ids, ids.flip(1)


def xavier_(module: nn.Module) -> None:
    """Draw each matrix by Xavier's rule, larger than `nn.Linear` does."""
    for layer in module.modules():
        if isinstance(layer, nn.Linear):
            nn.init.xavier_uniform_(layer.weight)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


def depth_profile(
    block: Callable[..., nn.Module], norm: str, n_layer: int, seed: int = 0, **options
) -> dict[str, list[float]]:
    """Send random tokens up an untrained tower and the gradient of a random score down again.

    Return, for the input and after every block, "size", the root mean square of the numbers, and
    "gradient", that of the gradients; and "change", how far every block moves its tokens compared
    with their size.
    """
    torch.manual_seed(seed)
    n_embd = options.pop("n_embd", 32)
    blocks = nn.ModuleList(block(n_embd, 4, norm, **options) for _ in range(n_layer)).double()
    xavier_(blocks)
    stream = [torch.randn(4, 6, n_embd, dtype=torch.float64, requires_grad=True)]
    for one in blocks:
        stream.append(one(stream[-1]))
    gradients = torch.autograd.grad((stream[-1] * torch.randn_like(stream[-1])).sum(), stream)
    return {
        "size": [_size(x) for x in stream],
        "gradient": [_size(g) for g in gradients],
        "change": [_size(after - before) / _size(before) for before, after in pairwise(stream)],
    }


def _size(x: Tensor) -> float:
    return x.detach().square().mean().sqrt().item()
