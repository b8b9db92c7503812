"""what_order_does: an experiment, and what may be concluded from it."""

from autograder.checks.question import Conclusion
from solutions.self_attention import self_attention


def _swap(own, seed):
    """Exchange words of a sentence and see which outputs move, and how far."""
    import torch

    draw = torch.Generator().manual_seed(seed)
    x = torch.randn(6, 4, generator=draw)
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    before, after = own.self_attention(x), own.self_attention(x[order])
    return {
        "in_place": float((after - before).abs().max()),
        "moved_along": float((after - before[order]).abs().max()),
        "mean": float((after.mean(0) - before.mean(0)).abs().max()),
    }


def _what_order_does(measured: dict) -> str:
    if measured["in_place"] < 1e-3:
        return "a"
    if measured["moved_along"] < 1e-3:
        return "b"
    return "c" if measured["mean"] < 1e-3 else "d"


QUESTION = Conclusion(
    "what_order_does",
    points=15,
    probe=_swap,
    inputs=(0,),
    decide=_what_order_does,
    measures=[self_attention],
    answers={
        letter: "With {whose} function, outputs at the same place differed by up to "
        "{in_place:.2g}, outputs of the same word by up to {moved_along:.2g}, the means of all "
        "outputs by {mean:.2g}."
        for letter in "abcd"
    },
)
