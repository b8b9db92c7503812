"""The figure of the word order: move words about and see what becomes of their outputs."""

from pathlib import Path

import torch
from matplotlib.figure import Figure as Plot

from solutions.figures.figure import Figure
from solutions.self_attention import self_attention

# columns: animal, human, action; made by hand
WORDS = {
    "the": [0.2, 0.2, 0.0],
    "dog": [1.5, 0.2, 0.3],
    "bit": [0.6, 0.3, 1.4],
    "that": [0.3, 0.0, 0.2],
    "man": [0.2, 1.5, 0.3],
}
READ = [[0.9, 0.2, -0.3], [-0.1, 0.8, 0.2], [0.3, -0.4, 0.7]]  # the recurrence's two matrices
CARRY = [[0.3, -0.8, 0.2], [0.7, 0.3, -0.3], [0.1, 0.4, 0.8]]
OTHER = [4, 2, 0, 1, 3]  # man bit the dog that


def recurrence(x: torch.Tensor) -> torch.Tensor:
    """Read the words one by one: h = tanh(x @ READ + h @ CARRY), one state per word."""
    state, states = torch.zeros(x.size(-1)), []
    for word in x:
        state = torch.tanh(word @ torch.tensor(READ) + state @ torch.tensor(CARRY))
        states.append(state)
    return torch.stack(states)


def word_order() -> Figure:
    """Show five words in any order, with their outputs from attention or from a recurrence."""
    return Figure(
        Path(__file__).with_suffix(".js"),
        data={"words": list(WORDS), "vectors": list(WORDS.values()), "read": READ, "carry": CARRY},
        still=still_of(),
        alt="Outputs of five words in two orders: attention's move along with their words, a "
        "recurrence's change.",
        height=470,
    )


def still_of() -> Plot:
    """Draw the outputs of both layers in the original and in another order."""
    x, words = torch.tensor(list(WORDS.values())), list(WORDS)
    plot = Plot(figsize=(9, 2.6), layout="constrained")
    layers = {"self-attention": self_attention, "recurrence": recurrence}
    for panel, (name, order) in zip(
        plot.subplots(1, 4),
        [(layer, order) for layer in layers for order in (range(5), OTHER)],
        strict=True,
    ):
        outputs = layers[name](x[list(order)])
        panel.imshow(outputs.numpy(), cmap="Blues", vmin=-1, vmax=2, aspect="auto")
        for i, row in enumerate(outputs.tolist()):
            for j, value in enumerate(row):
                panel.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=8)
        panel.set_yticks(range(5), [words[i] for i in order])
        panel.set_xticks([])
        panel.set_title(name, fontsize=9)
    return plot
