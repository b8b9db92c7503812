"""where_the_bits_go: an experiment, and what may be concluded from it."""

from autograder.checks.question import Conclusion
from solutions.image_gpt import ImageGPT


def _stripes(own, steps, seed):
    """Train on images of level stripes; what the pixels of each column and of each row cost."""
    import torch

    from solutions.gpt_block import GPTConfig

    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)

    def draw(n):
        return torch.randint(2, (n, 4, 1), generator=generator).expand(n, 4, 4)

    model = own.ImageGPT(GPTConfig(3, 16, n_layer=1, n_head=2, n_embd=16, std=0.15))
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-2)
    for _ in range(steps):
        loss = model.bits(draw(16)).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        cost = model.bits(draw(100)).mean(0)
    return {
        "left": float(cost[:, 0].mean()),
        "others": float(cost[:, 1:].mean()),
        "top": float(cost[0].mean()),
        "below": float(cost[1:].mean()),
    }


def _where(measured: dict) -> str:
    if measured["others"] > 0.7:
        return "d"
    if measured["left"] > 2 * measured["others"]:
        return "c"
    return "b" if measured["top"] > 2 * measured["below"] else "a"


WRONG = (
    "With {whose} code a pixel of the left column cost {left:.2f} bits, one of the other columns "
    "{others:.2f}."
)


QUESTION = Conclusion(
    "where_the_bits_go",
    points=7,
    probe=_stripes,
    inputs=(60, 0),
    decide=_where,
    measures=[ImageGPT],
    answers={
        "a": WRONG,
        "b": WRONG,
        "c": "A pixel of the left column cost {left:.2f} bits, one of the others {others:.2f}. "
        "Raster order meets every stripe at its left end: there the coin falls, and the rest of "
        "the row repeats it.",
        "d": WRONG,
    },
)
