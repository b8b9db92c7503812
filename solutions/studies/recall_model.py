"""Recall the first symbol with a recurrent encoder: from its last state, or by looking back."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from solutions.data.recall import BLANK, N_SYMBOLS, draw_recall


@dataclass(frozen=True)
class Kind:
    """One of the encoders to compare, and the learning rate that suits it."""

    lr: float
    gated: bool = False  # an LSTM
    forget_bias: float = 0.0
    looks_back: bool = False  # attention over all states instead of the last one


KINDS = {
    "RNN": Kind(lr=1e-3),
    "LSTM": Kind(lr=1e-2, gated=True),
    "LSTM, forget bias 5": Kind(lr=1e-2, gated=True, forget_bias=5.0),
    "attention over the RNN's states": Kind(lr=5e-3, looks_back=True),
}


class RecallModel(nn.Module):
    """Embed, run a recurrent layer, and classify the last state or an average of all states."""

    def __init__(self, kind: Kind, width: int = 32):
        super().__init__()
        self.embed = nn.Embedding(BLANK + 1, width)
        self.encoder = (nn.LSTM if kind.gated else nn.RNN)(width, width, batch_first=True)
        if kind.gated:
            forget = slice(width, 2 * width)  # PyTorch's order: input, forget, cell, output
            nn.init.constant_(self.encoder.bias_ih_l0[forget], kind.forget_bias)
        else:
            nn.init.orthogonal_(self.encoder.weight_hh_l0)
        self.query = nn.Linear(width, width) if kind.looks_back else None
        self.out = nn.Linear(width, N_SYMBOLS)

    def weights(self, states: Tensor) -> Tensor:
        """Score every state by its product with a question from the last one: (B, T)."""
        question = self.query(states[:, -1])  # (B, D)
        return (states @ question[:, :, None])[..., 0].softmax(-1)

    def forward(self, ids: Tensor) -> Tensor:
        """Score the symbols: (B, T) -> (B, N_SYMBOLS)."""
        states, _ = self.encoder(self.embed(ids))  # (B, T, D)
        found = states[:, -1]
        if self.query is not None:
            found = (self.weights(states)[:, None] @ states)[:, 0]
        return self.out(found)


def train_recall(
    kind: Kind, lag: int, blank: bool, seed: int, steps: int = 200, check_every: int = 25
) -> tuple[RecallModel, int]:
    """Train until 99.5% of fresh sequences are right, or `steps` are used up; return both."""
    torch.manual_seed(seed)
    model = RecallModel(kind)
    generator = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.Adam(model.parameters(), kind.lr, fused=True)
    for step in range(1, steps + 1):
        ids, first = draw_recall(64, generator, lag, blank)
        loss = F.cross_entropy(model(ids), first)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        if step % check_every == 0 and accuracy(model, lag, blank, 300, generator) >= 0.995:
            break
    return model, step


@torch.no_grad()
def accuracy(model: nn.Module, lag: int, blank: bool, n: int, generator: torch.Generator) -> float:
    """Count the share of first symbols named rightly."""
    ids, first = draw_recall(n, generator, lag, blank)
    return (model(ids).argmax(-1) == first).float().mean().item()
