"""self_attention: a fully connected layer, a bag of words and attention on scenes with mentions."""

from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from solutions.data.mentions import IGNORED, MOODS, N_PAIR, NAMES, draw_mentions
from solutions.self_attention import self_attention
from solutions.train import Recipe, train

SEEDS = (0, 1, 2)
RECIPE = Recipe(steps=300, batch=64, lr=1e-2, warmup=10)
KINDS = ("fully connected", "bag of words", "attention")


class MentionModel(nn.Module):
    """Say the mood of every token: embed name and mood, mix the tokens in one way, read off.

    fully connected: all tokens side by side through one hidden layer.
    bag of words: each token beside the mean of all, through a hidden layer shared by all places.
    attention: self-attention without parameters, then a linear layer shared by all places.
    """

    def __init__(self, kind: str, width: int = 32, hidden: int = 128, std: float = 0.3):
        super().__init__()
        self.kind = kind
        self.name = nn.Embedding(len(NAMES), width)
        self.mood = nn.Embedding(len(MOODS) + 1, width)
        for table in (self.name, self.mood):
            nn.init.normal_(table.weight, std=std)
        n_token = 2 * N_PAIR
        sizes = {
            "fully connected": (n_token * width, n_token * len(MOODS)),
            "bag of words": (2 * width, len(MOODS)),
        }
        if kind == "attention":
            self.read = nn.Linear(width, len(MOODS))
        else:
            first, last = sizes[kind]
            self.read = nn.Sequential(nn.Linear(first, hidden), nn.ReLU(), nn.Linear(hidden, last))

    def forward(self, names: Tensor, moods: Tensor) -> Tensor:
        """Score the moods of every token: (B, T) and (B, T) -> (B, T, moods)."""
        x = self.name(names) + self.mood(moods)  # (B, T, C)
        if self.kind == "fully connected":
            return self.read(x.flatten(1)).unflatten(1, (names.size(1), len(MOODS)))
        if self.kind == "bag of words":
            return self.read(torch.cat([x, x.mean(1, keepdim=True).expand_as(x)], -1))
        return self.read(self_attention(x))


def mention_loss(model: nn.Module, batch: tuple[Tensor, ...]) -> Tensor:
    names, moods, targets = batch
    return F.cross_entropy(model(names, moods).flatten(0, 1), targets.flatten())


@torch.no_grad()
def right(model: nn.Module, scenes: tuple[Tensor, ...]) -> float:
    """Return the share of mentions whose mood is found."""
    names, moods, targets = scenes
    hits = model(names, moods).argmax(-1) == targets
    return hits[targets != IGNORED].float().mean().item()


def mentions(kind: str, tidy: bool, seed: int, std: float = 0.3) -> dict:
    """Train on tidy or on free scenes; test on tidy, on free and on longer ones."""
    torch.manual_seed(seed)
    model = MentionModel(kind, std=std)
    scenes = partial(draw_mentions, tidy=tidy)
    train(model, scenes, replace(RECIPE, seed=seed), mention_loss, progress=False)
    test = torch.Generator().manual_seed(1_000_000)
    found = {
        "parameters": sum(p.numel() for p in model.parameters()),
        "tidy": right(model, draw_mentions(2000, test, tidy=True)),
        "any order": right(model, draw_mentions(2000, test)),
    }
    longer = draw_mentions(2000, test, n_pair=len(NAMES))
    found["twice as long"] = None if kind == "fully connected" else right(model, longer)
    return found


RUNS = [
    *(
        (mentions, {"kind": kind, "tidy": tidy, "seed": seed})
        for kind in KINDS
        for tidy in (True, False)
        for seed in SEEDS
    ),
    *((mentions, {"kind": "attention", "tidy": False, "seed": s, "std": 1.0}) for s in SEEDS),
]
