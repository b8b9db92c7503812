"""Several attentions side by side: split the width into heads, attend, merge, project."""

from torch import Tensor, nn

from solutions.queries_keys_values import scaled_dot_product_attention


def split_heads(x: Tensor, n_head: int) -> Tensor:
    """Cut the last axis into heads and bring the heads in front of the tokens.

    x (..., T, C), C a multiple of n_head -> (..., H, T, D) with D = C // H.
    Head h gets the columns h * D to (h + 1) * D - 1 of every token.

    >>> split_heads(torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]]), n_head=2)
    tensor([[[1, 2],
             [5, 6]],
    <BLANKLINE>
            [[3, 4],
             [7, 8]]])
    """
    return x.unflatten(-1, (n_head, x.size(-1) // n_head)).transpose(-3, -2)


def merge_heads(x: Tensor) -> Tensor:
    """Put the heads back side by side: the inverse of `split_heads`.

    x (..., H, T, D) -> (..., T, H * D).

    >>> merge_heads(torch.tensor([[[1, 2], [5, 6]], [[3, 4], [7, 8]]]))
    tensor([[1, 2, 3, 4],
            [5, 6, 7, 8]])
    """
    return x.transpose(-3, -2).flatten(-2)


class MultiHeadAttention(nn.Module):
    """Let every token ask n_head questions at once and combine the answers."""

    def __init__(self, n_embd: int, n_head: int, bias: bool = False):
        super().__init__()
        if n_embd % n_head:
            raise ValueError(f"n_embd={n_embd} cannot be shared out evenly among {n_head} heads")
        self.n_head = n_head
        self.query = nn.Linear(n_embd, n_embd, bias=bias)
        self.key = nn.Linear(n_embd, n_embd, bias=bias)
        self.value = nn.Linear(n_embd, n_embd, bias=bias)
        self.out = nn.Linear(n_embd, n_embd, bias=bias)

    def forward(
        self, x: Tensor, context: Tensor | None = None, mask: Tensor | None = None
    ) -> Tensor:
        """Project to queries, keys and values, attend in every head, merge, project.

        x (B, T, C) asks; context (B, S, C) is looked at, x itself when it is None;
        mask (T, S) or (B, T, S), True where looking is allowed, the same for all heads;
        a token that may look at nothing finds zeros in every head -> (B, T, C).
        """
        context = x if context is None else context
        q = split_heads(self.query(x), self.n_head)  # (B, H, T, D)
        k = split_heads(self.key(context), self.n_head)  # (B, H, S, D)
        v = split_heads(self.value(context), self.n_head)
        if mask is not None:
            mask = mask.unsqueeze(-3)  # a place for the heads: (B, 1, T, S)
        heads = scaled_dot_product_attention(q, k, v, mask)
        return self.out(merge_heads(heads))
