"""Draw the loss of a training while it runs, in a notebook; elsewhere the bar is enough."""

import io
import sys
import time
from typing import TYPE_CHECKING

from tqdm.auto import tqdm

from solutions.training.best_weights import Scores, is_loss

if TYPE_CHECKING:  # slow to import, and of use in a notebook only
    from matplotlib.figure import Figure


def in_notebook() -> bool:
    """Say whether a notebook's kernel runs this, and somebody may see pictures."""
    if "ipykernel" not in sys.modules:
        return False
    from IPython import get_ipython

    return hasattr(get_ipython(), "kernel")


class LiveCurve:
    """Redraw one plot in place, at most every few seconds."""

    def __init__(self, seconds: float = 2.0):
        self.shown = None
        self.seconds = seconds
        self.last = time.monotonic()

    def draw(self, loss: list[float], scores: list[Scores], now: bool = False) -> None:
        """Show the losses so far and what `evaluate` said, where there is a notebook to see it."""
        due = time.monotonic() - self.last >= self.seconds
        if not loss or not (now or due) or not in_notebook():
            return
        from IPython.display import Image, display

        file = io.BytesIO()  # a picture as such: a kernel shows a bare Figure as text
        plot(loss, scores).savefig(file, format="png")
        image = Image(file.getvalue())
        if self.shown is None:
            self.shown = display(image, display_id=True)
        else:
            self.shown.update(image)
        self.last = time.monotonic()


def plot(loss: list[float], scores: list[Scores]) -> "Figure":
    """Plot losses, also smoothed over a fiftieth of them, and scores.

    Scores that are no losses get an axis of their own, on the right.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 2.6), layout="constrained")  # no pyplot: nothing to close
    left = figure.subplots()
    left.plot(loss, alpha=0.3, label="loss of each batch")
    width = max(1, len(loss) // 50)
    mean = [sum(loss[i : i + width]) / width for i in range(0, len(loss) - width + 1, width)]
    left.plot([width * (i + 1) - 1 for i in range(len(mean))], mean, label="smoothed")
    left.set(xlabel="step", ylabel="loss")
    numbers = [{k: x for k, x in s.items() if isinstance(x, int | float)} for s in scores]
    names = dict.fromkeys(k for s in numbers for k in s if k != "step")
    if others := [name for name in names if not is_loss(name)]:
        right = left.twinx()
        right.set_ylabel(", ".join(others))
    for i, name in enumerate(names):
        there = [(s["step"], s[name]) for s in numbers if name in s]
        axes = right if name in others else left
        axes.plot(*zip(*there, strict=True), "o-", color=f"C{i + 2}", label=name)
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    return figure


def progress_bar(steps: range, wanted: bool, live: bool) -> tqdm:
    """Return a bar over the steps that shows only where somebody looks: a terminal, a notebook."""
    watched = wanted and (sys.stderr.isatty() or in_notebook())
    quiet = {} if watched else {"disable": True}  # never False: it would overrule TQDM_DISABLE
    return tqdm(steps, leave=live, initial=steps.start, total=steps.stop, **quiet)
