"""Read a sentence with a GRU, in one direction or in both: one state for every word."""

import torch
from torch import Tensor, nn


class Encoder(nn.Module):
    """Give every word of a sentence a state that knows its surroundings.

    One direction: state j has read the words 0 to j. Two directions: half of state j has read the
    words 0 to j, the other half the words j to the end, so it knows the whole sentence.
    """

    def __init__(self, n_vocab: int, n_embd: int, n_hidden: int, bidirectional: bool = True):
        super().__init__()
        width = n_hidden // 2 if bidirectional else n_hidden
        self.embed = nn.Embedding(n_vocab, n_embd)
        self.forth = nn.GRU(n_embd, width, batch_first=True)
        self.back = nn.GRU(n_embd, width, batch_first=True) if bidirectional else None

    def forward(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the states and a summary of the whole sentence.

        ids (B, S), mask (B, S) False at padding, which comes last -> states (B, S, n_hidden),
        summary (B, n_hidden): what each direction knew after its last word. Padding changes none.
        """
        words = self.embed(ids)
        last = mask.sum(1) - 1  # (B)
        states = self.forth(words)[0]
        rows = torch.arange(len(ids), device=ids.device)
        summary = states[rows, last]
        if self.back is not None:
            backward = reverse(self.back(reverse(words, mask))[0], mask)
            states = torch.cat([states, backward], dim=-1)
            summary = torch.cat([summary, backward[:, 0]], dim=-1)
        return states, summary


def reverse(x: Tensor, mask: Tensor) -> Tensor:
    """Turn every sentence of x (B, S, C) round; its padding stays at the end."""
    places = torch.arange(x.size(1), device=x.device).expand(mask.shape)
    turned = torch.where(mask, mask.sum(1, keepdim=True) - 1 - places, places)
    return x.gather(1, turned.unsqueeze(-1).expand_as(x))
