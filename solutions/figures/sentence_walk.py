"""The figure of one sentence on its way through a whole block, stage by stage, number by number."""

import io
from pathlib import Path

import torch
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure as Plot
from PIL import Image
from torch import Tensor

from solutions.data.street import WORDS
from solutions.figures.figure import Figure, png_of
from solutions.figures.sentence_stages import NAMES, STAGES
from solutions.ground import ROOT
from solutions.studies.one_sentence import OneBlock, sentence_ids
from solutions.studies.sentence_trace import trace

MATRICES = {  # the parameters that stages name, and where the model has them
    "query": "block.attention.query",
    "key": "block.attention.key",
    "value": "block.attention.value",
    "out": "block.attention.out",
    "up": "block.feed_forward.up",
    "down": "block.feed_forward.down",
    "head": "head",
}
NORMS = {
    "norm": "block.attention_norm",
    "norm_2": "block.feed_forward_norm",
    "norm_3": "norm",
}


def sentence_walk(model: OneBlock) -> Figure:
    """Show every stage of the sentence in a model; the arrow keys walk through them."""
    ids = sentence_ids()
    words = [WORDS[i] for i in ids]
    tables = trace(model, ids)
    weights = model.state_dict()
    data = {
        "words": WORDS,
        "ids": ids.tolist(),
        "n_head": model.block.attention.n_head,
        "stages": [stage | {"title_of_lesson": title_of(stage["lesson"])} for stage in STAGES],
        "tables": {name: exact(table) for name, table in tables.items()},
        "matrices": {
            name: {
                "weight": exact(weights[f"{place}.weight"]),
                "bias": exact(weights[f"{place}.bias"]) if f"{place}.bias" in weights else None,
            }
            for name, place in MATRICES.items()
        },
        "norms": {
            name: {"gain": exact(weights[f"{place}.gain"]), "bias": exact(weights[f"{place}.bias"])}
            for name, place in NORMS.items()
        },
        "names": NAMES,
        "begin": {"token": words.index("because"), "number": words.index("animal")},
    }
    return Figure(
        Path(__file__).with_suffix(".js"),
        data=data,
        still=still_of(tables, words),
        alt="A sentence on its way through a Transformer block: at each stage what goes in, "
        "what happens and what comes out, in numbers.",
        height=820,
    )


def exact(table: Tensor) -> list:
    """Turn a tensor into lists of numbers of six digits, about what float32 holds; -inf: None."""
    if table.ndim > 1:
        return [exact(row) for row in table]
    return [None if x == -torch.inf else float(f"{x:.6g}") for x in table.tolist()]


def title_of(lesson: str) -> str:
    """Return the heading of a lesson's page, or its name where there is no book beside us."""
    page = ROOT / "book" / f"{lesson}.md"
    lines = page.read_text(encoding="utf-8").splitlines() if page.exists() else []
    return next((line[2:] for line in lines if line.startswith("# ")), lesson)


def still_of(tables: dict[str, Tensor], words: list[str]) -> bytes:
    """Draw every table of the walk as one picture, in the order of the stages."""
    shown = [
        (f"{n}. {stage['title']}", out)
        for n, stage in enumerate(STAGES, 1)
        for out in stage["out"]
        if out["table"] != "ids"
    ]
    plot = Plot(figsize=(10, 15), layout="constrained")
    grid = plot.subplots(-(-len(shown) // 4), 4).flat
    for axes in grid[len(shown) :]:
        axes.set_visible(False)
    for axes, (title, out) in zip(grid, shown, strict=False):
        table = tables[out["table"]]
        table = table[out["head"]] if "head" in out else table
        draw_table(axes, table, words)
        axes.set_title(f"{title}:\n{out['label']}" if out["label"] else title, fontsize=8)
    return few_colours(png_of(plot))


def draw_table(axes, table: Tensor, words: list[str]) -> None:
    """Colour a table, blue above 0 and orange below; write the numbers in where there is room."""
    finite = table.masked_fill(table == -torch.inf, torch.nan)
    most = float(finite.nan_to_num().abs().max())
    colours = LinearSegmentedColormap.from_list("walk", ["#d95f28", "white", "#3b82c4"])
    axes.imshow(finite.numpy(), cmap=colours, vmin=-most, vmax=most, aspect="auto")
    axes.set_yticks(range(len(words)), words, fontsize=7)
    axes.set_xticks([])
    if table.size(-1) > 8:
        return
    for t, row in enumerate(table.tolist()):
        for c, x in enumerate(row):
            axes.text(c, t, f"{x:.1f}", ha="center", va="center", fontsize=6)


def few_colours(png: bytes) -> bytes:
    """Write a picture with 64 colours: it looks the same and weighs a third."""
    buffer = io.BytesIO()
    Image.open(io.BytesIO(png)).convert("RGB").quantize(64).save(buffer, "png", optimize=True)
    return buffer.getvalue()
