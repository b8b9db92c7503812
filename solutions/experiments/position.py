"""position: every scheme on two tasks, a model for each of three seeds, tested to 4x the length."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from solutions.data.places import BACK, FILLERS, IGNORE, LETTERS, A, B, draw_back, draw_order
from solutions.position import (
    LearnedPositions,
    RelativeBias,
    alibi_bias,
    apply_rotary,
    sinusoidal_positions,
)
from solutions.studies.position_model import Added, NoPositions, PositionModel
from solutions.studies.side_by_side import SideBySide
from solutions.train import Recipe, train

SEEDS = (0, 1, 2)
SHORTEST, LONGEST = 8, 16  # the lengths in training
LENGTHS = (8, 12, 16, 20, 24, 32, 40, 48, 56, 64)
RECIPE = Recipe(steps=300, batch=32, lr=5e-3, warmup=40)
LAST = 5  # at the second task the last places are counted: the furthest from the start
WIDTH, HEADS, CLIP = 32, 4, 8
SCHEMES = ("sinusoidal", "learned", "relative", "rotary", "ALiBi")
FAILING = ("fraction", "integer")


class Learned(NoPositions):
    """Learn a vector for each position; the rows past the training length stay as they began."""

    def __init__(self):
        super().__init__()
        self.positions = LearnedPositions(max(LENGTHS), WIDTH)

    def add(self, x: Tensor) -> Tensor:
        return self.positions(x)


class Relative(NoPositions):
    """Learn a number for each head and offset; one table serves both blocks."""

    def __init__(self):
        super().__init__()
        self.table = RelativeBias(HEADS, CLIP)

    def bias(self, length: int) -> Tensor:
        return self.table(length)


class Rotary(NoPositions):
    """Turn queries and keys, never values."""

    def turn(self, x: Tensor) -> Tensor:
        return apply_rotary(x)


class Alibi(NoPositions):
    """Punish distance; in a model that sees both sides every second head looks ahead."""

    def __init__(self, causal: bool):
        super().__init__()
        self.causal = causal

    def bias(self, length: int) -> Tensor:
        return alibi_bias(HEADS, length, causal=self.causal)


class SymmetricAlibi(NoPositions):
    """Measure the distance and forget the direction: what `alibi_bias` must not be."""

    def bias(self, length: int) -> Tensor:
        back = alibi_bias(HEADS, length).clamp_min(-1e9)  # the half above the diagonal is empty
        return torch.maximum(back, back.mT)


class Number(NoPositions):
    """Add one number times a learned direction: t / (T - 1), or t itself."""

    def __init__(self, fraction: bool):
        super().__init__()
        self.fraction = fraction
        self.direction = nn.Parameter(torch.randn(WIDTH))

    def add(self, x: Tensor) -> Tensor:
        t = torch.arange(x.size(-2), device=x.device)
        return x + (t / t[-1] if self.fraction else t).unsqueeze(-1) * self.direction


def scheme_of(name: str, causal: bool) -> NoPositions:
    """Build a scheme by its name on the page."""
    return {
        "none": NoPositions,
        "sinusoidal": lambda: Added(sinusoidal_positions),
        "learned": Learned,
        "relative": Relative,
        "rotary": Rotary,
        "ALiBi": lambda: Alibi(causal),
        "symmetric ALiBi": SymmetricAlibi,
        "fraction": lambda: Number(fraction=True),
        "integer": lambda: Number(fraction=False),
    }[name]()


def places(task: str, scheme: str, causal: bool) -> dict:
    """Train a model for each seed; return (seeds, lengths) accuracies and rows of attention."""
    order = task == "order"
    draw = draw_order if order else draw_back
    sizes = (2 + FILLERS, 2) if order else (LETTERS, LETTERS)
    models = []
    for seed in SEEDS:
        torch.manual_seed(seed)
        chosen = scheme_of(scheme, causal)
        models.append(PositionModel(chosen, *sizes, causal, order, WIDTH, HEADS))

    def batches(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        # the longer of two draws: the last positions would be seen too rarely to be learned
        length = int(torch.randint(SHORTEST, LONGEST + 1, (2,), generator=generator).max())
        ids, target = draw(n * len(SEEDS), length, generator)
        return tuple(x.unflatten(0, (len(SEEDS), n)) for x in (ids, target))

    together = SideBySide(models)
    train(together, batches, RECIPE, progress=False)
    models[0].load_state_dict(together.state_of(0))
    return {
        "accuracy": torch.stack([accuracy(together, draw, n) for n in LENGTHS], dim=1),
        "rows": attention_rows(models[0], order),
    }


@torch.no_grad()
def accuracy(together: SideBySide, draw: Callable, length: int, n: int = 150) -> Tensor:
    """Return each model's share of right answers at one length: (seeds,)."""
    ids, target = draw(n, length, torch.Generator().manual_seed(1000 + length))
    if draw is draw_order:  # each sentence twice, A and B exchanged: blind models get half
        ids, target = torch.cat([ids, swapped(ids)]), torch.cat([target, 1 - target])
    found = together(ids.expand(len(SEEDS), -1, -1)).argmax(-1)  # (seeds, n) or (seeds, n, T)
    if found.dim() == 3:
        found, target = found[..., -LAST:], target[..., -LAST:]
        assert (target != IGNORE).all()
    return (found == target).float().flatten(1).mean(1)


def swapped(ids: Tensor) -> Tensor:
    """Exchange A and B."""
    return torch.where(ids == A, B, torch.where(ids == B, A, ids))


def asked_places(order: bool, length: int) -> tuple[int, int]:
    """Return which token's attention is shown, and which token it should find."""
    return (3 * length // 4, length // 4) if order else (length - 1, length - 1 - BACK)


@torch.no_grad()
def attention_rows(model: PositionModel, order: bool, n: int = 32) -> list[Tensor]:
    """Return, for every length, how one token's attention is spread, (T,), mean of n sentences.

    Shown is the head that looks most at the token to be found, at the longest training length.
    """

    def looked(length: int) -> Tensor:  # (L, H, T)
        generator = torch.Generator().manual_seed(length)
        ids = torch.randint(2, 2 + FILLERS, (n, length), generator=generator)
        asks, found = asked_places(order, length)
        if order:
            ids[:, asks], ids[:, found] = B, A
        return torch.stack([w.mean(0)[:, asks] for w in model.look(ids)[1]])

    _, target = asked_places(order, LONGEST)
    best = int(looked(LONGEST)[..., target].flatten().argmax())
    return [looked(length).flatten(0, 1)[best] for length in LENGTHS]


def _run(task: str, scheme: str, causal: bool) -> tuple:
    return places, {"task": task, "scheme": scheme, "causal": causal}


RUNS = [
    *(_run("order", s, False) for s in ("rotary", "symmetric ALiBi", "none")),
    _run("back", "rotary", True),
    *(_run("order", s, False) for s in SCHEMES if s != "rotary"),
    *(_run("back", s, True) for s in (*SCHEMES, "none") if s != "rotary"),
    *(_run("order", s, False) for s in FAILING),
    *(_run("back", s, True) for s in FAILING),
    _run("order", "none", True),
]
