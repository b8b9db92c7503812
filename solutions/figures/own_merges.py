"""Type a text and watch byte pairs merge: the winner of each step, its ties and the rule."""

from pathlib import Path

from matplotlib.figure import Figure as Plot

from solutions.byte_pairs import count_pairs, merge_pair, train_bpe
from solutions.figures.figure import Figure
from solutions.vocabulary import vocabulary
from solutions.words import BYTES, count_words

TEXT = "she sells sea shells by the sea shore"


def own_merges(text: str = TEXT, n_merges: int = 12) -> Figure:
    """Show the merges of a text that can be changed in the browser."""
    data = {"text": text, "n_merges": n_merges, "most": 60, "bytes": [*BYTES]}
    return Figure(
        Path(__file__).with_suffix(".js"),
        data=data,
        still=still_of(steps(text, n_merges)),
        alt="The pairs merged one after the other, how often each occurred, and how many tied.",
        height=560,
    )


def steps(text: str, n_merges: int) -> list[tuple[str, int, int]]:
    """List for each merge: what it spells, how often the pair occurred, how many pairs tied."""
    words, found = count_words(text), []
    merges = train_bpe(words, n_merges)
    vocab = vocabulary(merges)
    for pair, new_id in merges.items():
        counts = count_pairs(words)
        tied = sum(n == counts[pair] for n in counts.values())
        spelled = " + ".join(vocab[i].decode("utf-8", "replace").replace(" ", "␣") for i in pair)
        found.append((spelled, counts[pair], tied))
        words = {merge_pair(ids, pair, new_id): n for ids, n in words.items()}
    return found


def still_of(found: list[tuple[str, int, int]]) -> Plot:
    """Draw how often each merged pair occurred, with its ties beside it."""
    plot = Plot(figsize=(6, 0.3 * len(found) + 0.6), layout="constrained")
    axes = plot.subplots()
    axes.barh(range(len(found)), [n for _, n, _ in found], color="C0")
    for i, (_, n, tied) in enumerate(found):
        ties = f"{n} times, one of {tied} equally frequent" if tied > 1 else f"{n} times"
        axes.text(n + 0.1, i, ties, va="center", fontsize=8)
    axes.set_yticks(range(len(found)), [name.replace("␣", "_") for name, _, _ in found])
    axes.set_xlim(0, max([n for _, n, _ in found], default=1) + 4)
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("how often the pair occurred (_ is a space)")
    return plot
