"""below_the_floor: an experiment, and what may be concluded from it."""

from autograder.checks.question import Conclusion
from solutions.gpt import GPT, next_token_loss


def _noise(own, n_token, steps):
    """Train on pure noise, with the targets shifted and not; the last ten losses, and the floor."""
    import math

    import torch
    from torch.nn import functional as F

    from solutions.gpt_block import GPTConfig

    def unshifted(model, ids):
        return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, :-1].flatten())

    measured = {"floor": math.log(n_token)}
    for name, loss in {"shifted": own.next_token_loss, "unshifted": unshifted}.items():
        torch.manual_seed(0)
        generator = torch.Generator().manual_seed(0)
        model = own.GPT(GPTConfig(n_token, 8, n_layer=1, n_head=2, n_embd=16, std=0.15))
        optimiser = torch.optim.AdamW(model.parameters(), lr=2e-2)
        losses = []
        for _ in range(steps):
            ids = torch.randint(n_token, (16, 9), generator=generator)
            value = loss(model, ids)
            optimiser.zero_grad()
            value.backward()
            optimiser.step()
            losses.append(float(value))
        measured[name] = sum(losses[-10:]) / 10
    return measured


def _below(measured: dict) -> str:
    below = [measured[name] < 0.8 * measured["floor"] for name in ("shifted", "unshifted")]
    return {(False, False): "a", (False, True): "b", (True, True): "c", (True, False): "d"}[
        tuple(below)
    ]


QUESTION = Conclusion(
    "below_the_floor",
    points=8,
    probe=_noise,
    inputs=(8, 60),
    decide=_below,
    measures=[GPT, next_token_loss],
    answers={
        "a": "With {whose} code the losses ended at {shifted:.2f} (shifted) and {unshifted:.2f} "
        "(not); the floor is {floor:.2f}.",
        "b": "Noise has a floor of {floor:.2f} nats a token. With shifted targets the loss ended "
        "at {shifted:.2f}; without the shift at {unshifted:.2f}, for the model only repeats what "
        "it was given. A loss below the floor is a leak, not a success.",
        "c": "With {whose} code the losses ended at {shifted:.2f} (shifted) and {unshifted:.2f} "
        "(not); the floor is {floor:.2f}.",
        "d": "With {whose} code the losses ended at {shifted:.2f} (shifted) and {unshifted:.2f} "
        "(not); the floor is {floor:.2f}.",
    },
)
