"""The merge tree of a word: which pieces were joined, and in which order, by the course's BPE."""

from itertools import pairwise
from typing import NamedTuple

from solutions.byte_pairs import encode, train_bpe
from solutions.diagrams.diagram import Diagram
from solutions.diagrams.drawing import NARROW, WIDE, Box, Drawing
from solutions.vocabulary import Pair, vocabulary
from solutions.words import byte_ids, count_words

TEXT = "low lower lowest slow slower new newer newest " * 3
WORD, N_MERGES = "slowest", 10
WORDS = (
    "The letters of {word} stand in a row at the bottom. Above them, one level for each, are the "
    "merges that join them, in the order in which they were learned from a small text: {steps}. "
    "What is left in the end is: {tokens}."
)


class Merge(NamedTuple):
    """Hold one joint of the tree: the tokens it joins begin at `start` and reach up to `end`."""

    rank: int  # 1 for the merge learned first
    start: int
    cut: int
    end: int


def joints(word: str, merges: dict[Pair, int]) -> list[Merge]:
    """Replay the merges one by one with the reference's `encode`, and note what each one joined."""
    ids, spelled = byte_ids(word), vocabulary(merges)
    found, before = [], [0, *range(1, len(ids) + 1)]  # where tokens begin, and the end
    for rank in range(1, len(merges) + 1):
        tokens = encode(ids, dict(list(merges.items())[:rank]))
        after = [0]
        for token in tokens:
            after.append(after[-1] + len(spelled[token]))
        gone = [place for place in before if place not in after]
        for cut in gone:
            start = max(p for p in after if p < cut)
            found.append(Merge(rank, start, cut, min(p for p in after if p > cut)))
        before = after
    return found


def merge_tree(word: str = WORD, text: str = TEXT, n_merges: int = N_MERGES) -> Diagram:
    """Learn merges from a text and draw how they build up a word of plain letters."""
    made = joints(word, train_bpe(count_words(text), n_merges))
    steps = ", ".join(
        f"merge {m.rank} makes {word[m.start : m.end]} of {word[m.start : m.cut]} and "
        f"{word[m.cut : m.end]}"
        for m in made
    )
    inside = {p for m in made for p in range(m.start + 1, m.end)}
    tokens = list(pairwise(p for p in range(len(word) + 1) if p not in inside))
    left = ", ".join(word[start:end] for start, end in tokens)
    said = WORDS.format(word=word, steps=steps, tokens=left)
    wide, narrow = (draw(word, made, tokens, page) for page in (WIDE, NARROW))
    return Diagram(f"The merge tree of the word {word}", said, wide, narrow)


def draw(word: str, made: list[Merge], tokens: list[tuple[int, int]], page: float) -> Drawing:
    """Draw the letters at the bottom, a level for each merge above, the tokens in green."""
    ranks = sorted({m.rank for m in made})
    step, floor = 52, 8 + 52 * len(ranks)
    drawing = Drawing(page, floor + 32)
    pitch = min(68, (page - 62) / len(word))
    left = 62 + (page - 62 - pitch * len(word)) / 2
    drawing.text(2, floor + 14, "bytes", "small", "start")
    for n, rank in enumerate(ranks):
        drawing.text(2, floor - step * (n + 1) + 14, f"merge {rank}", "small", "start")
    boxes: dict[tuple[int, int], Box] = {}

    def token(start: int, end: int, x: float, y: float, width: float) -> None:
        colour = "green" if (start, end) in tokens else "plain"
        boxes[start, end] = drawing.box(x - width / 2, y, width, 28, word[start:end], colour)

    for i in range(len(word)):
        token(i, i + 1, left + (i + 0.5) * pitch, floor, 28)
    for m in made:
        low, high = boxes[m.start, m.cut], boxes[m.cut, m.end]
        x, y = (low.cx + high.cx) / 2, floor - step * (ranks.index(m.rank) + 1)
        token(m.start, m.end, x, y, 16 + 12 * (m.end - m.start))
        level = y + 40
        for part in (low, high):  # two wires, one arrowhead
            way = (part.top, (part.cx, level), (x, level), (x, y + 28))
            drawing.wire(*way, arrow=part is high)
    return drawing
