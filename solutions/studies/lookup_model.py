"""Answer two questions with one attention layer: the smallest model that shows what heads do."""

import copy
from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from solutions.data.lookup import COLOURS, N_FACTS, OBJECTS, OWNERS, RELATIONS, draw_scenes
from solutions.train import Recipe, train

RECIPE = Recipe(steps=200, batch=64, lr=2e-2, warmup=10)
PATIENT = Recipe(steps=1000, batch=128, lr=3e-3, warmup=20)
TINY = Recipe(steps=120, batch=48, lr=1.5e-2, warmup=10)  # enough for scenes of two facts


class LookupModel(nn.Module):
    """Read a colour and an owner out of a scene: embed, attend once, read off linearly.

    The question attends to the facts. There are no positions, no residual and no feed-forward
    layer, so all that the answer knows of the scene has passed through the attention weights.
    `attention` is a class like MultiHeadAttention, the reference's or your own.
    `hidden` above 0 puts a layer with a ReLU before each answer: then it is no longer linear.
    """

    def __init__(self, n_embd: int, n_head: int, attention: type, hidden: int = 0):
        super().__init__()
        self.n_head = n_head
        names = (OBJECTS, COLOURS, OWNERS)
        self.fact_parts = nn.ModuleList(nn.Embedding(len(part), n_embd) for part in names)
        self.question_parts = nn.ModuleList(nn.Embedding(len(OBJECTS), n_embd) for _ in RELATIONS)
        self.attention = attention(n_embd, n_head)
        self.colour = _read_out(n_embd, len(COLOURS), hidden)
        self.owner = _read_out(n_embd, len(OWNERS), hidden)

    def embed(self, facts: Tensor, question: Tensor) -> tuple[Tensor, Tensor]:
        """Add up the parts: facts (B, S, 3) -> (B, S, C), question (B, 2) -> (B, 1, C)."""
        scene = sum(table(facts[..., i]) for i, table in enumerate(self.fact_parts))
        asked = sum(table(question[:, i]) for i, table in enumerate(self.question_parts))
        return scene, asked[:, None]

    def forward(self, facts: Tensor, question: Tensor) -> tuple[Tensor, Tensor]:
        """Score every colour and every owner: (B, number of colours), (B, number of owners)."""
        scene, asked = self.embed(facts, question)
        found = self.attention(asked, context=scene)[:, 0]  # (B, C)
        return self.colour(found), self.owner(found)


def _read_out(n_in: int, n_out: int, hidden: int) -> nn.Module:
    if not hidden:
        return nn.Linear(n_in, n_out)
    return nn.Sequential(nn.Linear(n_in, hidden), nn.ReLU(), nn.Linear(hidden, n_out))


def lookup_loss(model: nn.Module, batch: tuple[Tensor, ...]) -> Tensor:
    """Add the cross-entropies of the two answers."""
    facts, question, targets = batch
    colour, owner = model(facts, question)
    return F.cross_entropy(colour, targets[:, 0]) + F.cross_entropy(owner, targets[:, 1])


def train_lookup(
    n_head: int,
    attention: type,
    seed: int = 0,
    recipe: Recipe = RECIPE,
    n_embd: int = 32,
    hidden: int = 0,
    n_facts: int = N_FACTS,
) -> LookupModel:
    """Build a model from a seed and train it on fresh scenes, never the same twice."""
    torch.manual_seed(seed)
    model = LookupModel(n_embd, n_head, attention, hidden)
    scenes = partial(draw_scenes, n_facts=n_facts)
    train(model, scenes, replace(recipe, seed=seed), lookup_loss, progress=False)
    return model


@torch.no_grad()
def accuracy(model: nn.Module, scenes: tuple[Tensor, ...]) -> dict[str, float]:
    """Count the share of right colours, of right owners, and of scenes with both right."""
    facts, question, targets = scenes
    colour, owner = (scores.argmax(-1) for scores in model(facts, question))
    right = {"colour": colour == targets[:, 0], "owner": owner == targets[:, 1]}
    right["both"] = right["colour"] & right["owner"]
    return {name: hits.float().mean().item() for name, hits in right.items()}


def compare_heads(attention: type, seed: int = 0) -> dict[str, dict[str, float]]:
    """Train one head and two heads of equal total width on scenes of two facts: a second's work."""
    test = draw_scenes(1000, torch.Generator().manual_seed(1), n_facts=2)
    models = {
        name: train_lookup(n_head, attention, seed, TINY, n_facts=2)
        for name, n_head in {"one head": 1, "two heads": 2}.items()
    }
    return {name: accuracy(model, test) for name, model in models.items()}


def without_heads(model: LookupModel, heads: Iterable[int]) -> LookupModel:
    """Return a copy in which some heads are switched off.

    `out` multiplies head h's D numbers by its columns h * D to (h + 1) * D - 1. With these columns
    at 0 the result is the same as if the head had found nothing: no hook into forward is needed.
    """
    silenced = copy.deepcopy(model)
    weight = silenced.attention.out.weight  # (C, C): outputs, inputs
    width = weight.size(1) // model.n_head
    with torch.no_grad():
        for head in heads:
            weight[:, head * width : (head + 1) * width] = 0.0
    return silenced


@torch.no_grad()
def head_weights(model: LookupModel, facts: Tensor, question: Tensor) -> Tensor:
    """Compute where each head looks: (B, H, S), each row adding up to 1."""
    scene, asked = model.embed(facts, question)
    q = model.attention.query(asked).unflatten(-1, (model.n_head, -1))  # (B, 1, H, D)
    k = model.attention.key(scene).unflatten(-1, (model.n_head, -1))  # (B, S, H, D)
    return torch.einsum("bohd,bshd->bhs", q, k).div(q.size(-1) ** 0.5).softmax(-1)
