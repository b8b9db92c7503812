"""Draw little scenes of owned, coloured objects, and a question that asks for two facts at once.

    Anna's red ball. Ben's blue kite. Clara's green drum. Anna's black boat.
    What colour is the ball, and who owns the kite?        -> red, Ben

A fact is one token with three parts (object, colour, owner); the question is one token with two.
"""

import torch
from torch import Tensor

OBJECTS = ("ball", "kite", "drum", "boat", "lamp", "book", "cup", "hat")
COLOURS = ("red", "blue", "green", "yellow", "black", "white")
OWNERS = ("Anna", "Ben", "Clara", "Dan", "Eva", "Finn", "Greta")
RELATIONS = ("colour", "owner")
N_FACTS = 4


def draw_scenes(
    n: int, generator: torch.Generator | None = None, n_facts: int = N_FACTS
) -> tuple[Tensor, Tensor, Tensor]:
    """Draw n scenes: facts (B, S, 3), questions (B, 2), targets (B, 2), all as ids.

    A fact holds (object, colour, owner). The objects of a scene are all different; colours and
    owners are drawn freely, so that no fact tells anything about another.
    A question holds (the object whose colour is asked, the object whose owner is asked), always
    two different ones; its target holds (that colour, that owner).
    """
    if not 2 <= n_facts <= len(OBJECTS):
        raise ValueError(f"draw_scenes: n_facts is {n_facts}; it must be 2 to {len(OBJECTS)}.")
    objects = _distinct(n, n_facts, len(OBJECTS), generator)
    colours = torch.randint(len(COLOURS), (n, n_facts), generator=generator)
    owners = torch.randint(len(OWNERS), (n, n_facts), generator=generator)
    facts = torch.stack([objects, colours, owners], dim=-1)
    asked = _distinct(n, 2, n_facts, generator)  # (B, 2): two places in the scene
    chosen = facts[torch.arange(n)[:, None], asked]  # (B, 2, 3)
    targets = torch.stack([chosen[:, 0, 1], chosen[:, 1, 2]], dim=-1)
    return facts, chosen[:, :, 0], targets


def _distinct(n: int, k: int, size: int, generator: torch.Generator | None) -> Tensor:
    """Draw n rows of k different ids below size: the first k places of a random order."""
    return torch.rand(n, size, generator=generator).argsort(dim=-1)[:, :k]


def describe(facts: Tensor, question: Tensor) -> str:
    """Say one scene in English: facts (S, 3), question (2,)."""
    owned = [f"{OWNERS[o]}'s {COLOURS[c]} {OBJECTS[k]}" for k, c, o in facts.tolist()]
    first, second = (OBJECTS[k] for k in question.tolist())
    return f"{'. '.join(owned)}. What colour is the {first}, and who owns the {second}?"


def guess_rates(n_facts: int = N_FACTS) -> dict[str, dict[str, float]]:
    """Compute how often simple ways of guessing are right, per relation and for both at once.

    "any name" guesses among all colours and all owners; all are drawn equally often, so naming the
    most frequent one earns the same. "any fact" repeats a colour and an owner of the scene.
    "one of the two" knows which two facts are asked for, not which one for what.
    "colour's fact" and "owner's fact" find one of the two and take both answers from it.
    """
    colour, owner = 1 / len(COLOURS), 1 / len(OWNERS)

    def hit(known: float) -> dict[str, float]:  # a fact missed is right by chance all the same
        rates = {"colour": known + (1 - known) * colour, "owner": known + (1 - known) * owner}
        return rates | {"both": rates["colour"] * rates["owner"]}

    return {
        "any name": hit(0.0),
        "any fact": hit(1 / n_facts),
        "one of the two": hit(1 / 2),
        "colour's fact": {"colour": 1.0, "owner": owner, "both": owner},
        "owner's fact": {"colour": colour, "owner": 1.0, "both": colour},
    }
