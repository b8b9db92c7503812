"""How well can a token's place be read off, layer by layer, with skips and without?"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from solutions.multi_head import MultiHeadAttention
from solutions.residual import FeedForward, Residual

N_WORD, N_TOKEN, N_EMBD, N_HEAD, N_LAYER = 8, 12, 32, 4, 4
# around which layers there is a skip: attention, feed-forward
SKIPS = {
    "both": (True, True),
    "attention only": (True, False),
    "feed-forward only": (False, True),
    "none": (False, False),
}


class Encoder(nn.Module):
    """Name, for every token, the word before it: attention and feed-forward layers in turn.

    A vector for the word and a vector for the place are added once, at the bottom.
    """

    def __init__(self, skips: str):
        super().__init__()
        self.word = nn.Embedding(N_WORD, N_EMBD)
        self.place = nn.Embedding(N_TOKEN, N_EMBD)
        self.layers = nn.ModuleList()
        for _ in range(N_LAYER):
            pair = (MultiHeadAttention(N_EMBD, N_HEAD), FeedForward(N_EMBD))
            for layer, skip in zip(pair, SKIPS[skips], strict=True):
                self.layers.append(Residual(layer) if skip else layer)
        self.out = nn.Linear(N_EMBD, N_WORD)

    def states(self, ids: Tensor) -> list[Tensor]:
        """Return the tokens before the first layer and after each: 2 L + 1 tensors (B, T, C)."""
        states = [self.word(ids) + self.place.weight]
        for layer in self.layers:
            states.append(layer(states[-1]))
        return states

    def forward(self, ids: Tensor) -> Tensor:
        """Score the words: ids (B, T) -> (B, T, V)."""
        return self.out(self.states(ids)[-1])


def draw_words(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw random words (n, T), and for each place the word before it; the first takes the last."""
    ids = torch.randint(N_WORD, (n, N_TOKEN), generator=generator)
    return ids, ids.roll(1, dims=-1)


@torch.no_grad()
def readable_places(encoder: Encoder, n: int = 200, ridge: float = 1e-3) -> list[float]:
    """Fit a linear reader of the place to every layer; return its share of right places.

    The reader is ridge regression onto one-hot places, fitted on n texts and tried on n others.
    Each layer's numbers are brought to mean 0 and spread 1 first: only their pattern counts.
    """
    generator = torch.Generator().manual_seed(1)
    fit, test = (encoder.states(draw_words(n, generator)[0]) for _ in range(2))
    places = torch.arange(N_TOKEN).repeat(n)
    wanted = F.one_hot(places, N_TOKEN).double()
    shares = []
    for a, b in zip(fit, test, strict=True):
        a, b = a.flatten(0, 1).double(), b.flatten(0, 1).double()  # (n T, C)
        mean, spread = a.mean(0), a.std().clamp_min(1e-30)
        a, b = (F.pad((z - mean) / spread, (0, 1), value=1.0) for z in (a, b))  # a bias
        reader = torch.linalg.solve(a.T @ a + ridge * torch.eye(a.size(1)).double(), a.T @ wanted)
        shares.append((b @ reader).argmax(-1).eq(places).double().mean().item())
    return shares
