"""Draw what a slip does: the picture of a "which line made this?" question."""

import importlib
from functools import partial

from autograder.checks.question import Puzzle
from solutions.figures.figure import png_of


def puzzle(lesson: str):
    """Return the lesson's puzzle as a figure."""
    from matplotlib.figure import Figure

    made: Puzzle = importlib.import_module(f"autograder.lessons.{lesson}").puzzle()
    table = made.table.detach()
    n_rows, n_columns = table.shape
    figure = Figure(figsize=(1.6 + 0.7 * n_columns, 1.2 + 0.6 * n_rows), layout="constrained")
    axes = figure.subplots()
    axes.imshow(table, cmap="Blues", vmin=0, vmax=float(table.max()) * 1.3, aspect="auto")
    for i in range(n_rows):
        for j in range(n_columns):
            axes.text(j, i, f"{table[i, j]:.2f}", ha="center", va="center", fontsize=9)
    rows, columns = [str(i) for i in range(n_rows)], [str(j) for j in range(n_columns)]
    if made.sums:
        rows = [f"{i}   sum {s:.2f}" for i, s in enumerate(table.sum(1).tolist())]
        columns = [f"{j}\nsum {s:.2f}" for j, s in enumerate(table.sum(0).tolist())]
    axes.set_yticks(range(n_rows), rows)
    axes.set_xticks(range(n_columns), columns)
    axes.set(title=made.title, xlabel=made.columns, ylabel=made.rows)
    axes.title.set_fontsize(10)
    # a fresh kernel shows a bare Figure as text until pyplot has drawn something
    figure._repr_png_ = partial(png_of, figure)  # type: ignore[attr-defined] # IPython asks for it
    return figure
