"""Hide any words of a text: what BERT would fill in, beside the grammar's exact odds."""

from itertools import combinations
from pathlib import Path

import torch
from matplotlib.figure import Figure as Plot
from torch import Tensor, nn

from solutions.data.themes import MASK, MOOD, THEME, encode, ids_of, vocabulary
from solutions.data.themes_odds import HIDDEN, as_row, posterior
from solutions.figures.figure import Figure

STORY = (
    "light rose slowly today . gull sailed near harbour . felt merry . please steer salty boat . "
    "friend waited near road . we danced . calm child slept again . please watch light rose . "
    "then came feast ."
)
TEXTS = {  # a name, and which words can be hidden, counted from 0
    "the theme": (5, 6, 8, 14, 15, 16),
    "the mood": (8, 11, 16, 24, 38),
    "words of several tags": (0, 1, 2, 32, 33, 34),
}
N_EXACT, N_MODEL = 5, 3  # how many words are shown: the likeliest by the grammar, by the model


def gaps(model: nn.Module) -> Figure:
    """Show a pre-trained masked language model at work on the words of one story."""
    data = {
        "vocabulary": vocabulary(),
        "texts": [text_data(model, name, STORY.split(), places) for name, places in TEXTS.items()],
    }
    return Figure(
        Path(__file__).with_suffix(".js"),
        data=data,
        still=still_of(data),
        alt="A text with hidden words; for each, what BERT would fill in and the exact odds.",
        height=480,
    )


def groups() -> dict[str, list[int]]:
    """Return the ids of the words of each theme and mood."""
    made = {}
    for names, table in ((("sea", "farm"), THEME), (("glad", "sad"), MOOD)):
        for which, name in enumerate(names):
            made[name] = [ids_of()[w] for pair in table.values() for w in pair[which]]
    return made


@torch.no_grad()
def text_data(model: nn.Module, name: str, words: list[str], can_hide: tuple[int, ...]) -> dict:
    """Ask the model and the grammar about every set of these words, hidden together."""
    sets = [c for n in range(1, len(can_hide) + 1) for c in combinations(can_hide, n)]
    ids = encode([words]).repeat(len(sets), 1)
    for row, hidden in enumerate(sets):
        ids[row, [i + 1 for i in hidden]] = MASK
    guesses = model(ids).softmax(-1)  # (sets, T, V)
    answers = {}
    for row, hidden in enumerate(sets):
        exact = posterior([HIDDEN if i in hidden else word for i, word in enumerate(words)])
        answers[",".join(map(str, hidden))] = [
            place_data(as_row(exact[i]), guesses[row, i + 1]) for i in hidden
        ]
    return {"name": name, "words": words, "canHide": can_hide, "answers": answers}


def place_data(exact: Tensor, guess: Tensor) -> dict:
    """Collect the likeliest words with both probabilities, the groups, and how far apart."""
    best = [*exact.topk(N_EXACT).indices.tolist(), *guess.topk(N_MODEL).indices.tolist()]
    shown = sorted(dict.fromkeys(best), key=lambda i: -float(exact[i]))
    shares = [
        [name, short(exact[where].sum()), short(guess[where].sum())]
        for name, where in groups().items()
    ]
    return {
        "words": [[i, short(exact[i]), short(guess[i])] for i in shown],
        "groups": [s for s in shares if max(s[1:]) >= 20],
        "distance": short(divergence(exact, guess)),
    }


def divergence(exact: Tensor, guess: Tensor) -> Tensor:
    """Measure in nats what a guess costs in surprise beyond the exact odds: KL(exact, guess)."""
    return torch.where(exact > 0, exact * (exact.clamp(min=1e-30) / guess).log(), 0.0).sum(-1)


def short(number: Tensor) -> int:
    """Write a number in thousandths, to keep the page small."""
    return round(1000 * float(number))


def still_of(data: dict) -> Plot:
    """Draw one hidden word of each text."""
    plot = Plot(figsize=(9, 2.8), layout="constrained")
    for axes, text in zip(plot.subplots(1, len(data["texts"])), data["texts"], strict=True):
        place = text["canHide"][-1]
        shown = text["answers"][str(place)][0]["words"][::-1]
        names = [data["vocabulary"][i] for i, _, _ in shown]
        at = range(len(shown))
        axes.barh([y + 0.2 for y in at], [e / 1000 for _, e, _ in shown], 0.38, label="exact odds")
        axes.barh(
            [y - 0.2 for y in at],
            [g / 1000 for *_, g in shown],
            0.38,
            label="BERT",
            hatch="//",
            alpha=0.7,
        )
        axes.set_yticks(at, names, fontsize=8)
        axes.set_title(f"\u201c{text['words'][place]}\u201d is hidden", fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8)
    return plot
