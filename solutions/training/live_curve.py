"""Show a training while it runs: in a notebook its curve and samples, elsewhere a bar and text."""

import html
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
    """Redraw one plot in place, at most every few seconds, and below it what the run says.

    That is a line on its progress and every text among the scores: samples of a language model.
    Where there is no notebook, texts are printed as they come, with what was measured beside them.
    """

    def __init__(self, seconds: float = 2.0):
        self.shown, self.words = None, None
        self.seconds = seconds
        self.last = time.monotonic()
        self.told = 0  # how many scores were printed

    def draw(
        self, loss: list[float], scores: list[Scores], status: str = "", now: bool = False
    ) -> None:
        """Show the losses so far and what `evaluate` said."""
        if not in_notebook():
            self.tell(scores, status)
            return
        due = time.monotonic() - self.last >= self.seconds
        if not loss or not (now or due):
            return
        from IPython.display import Image, display

        file = io.BytesIO()  # a picture as such: a kernel shows a bare Figure as text
        plot(loss, scores).savefig(file, format="png")
        image = Image(file.getvalue())
        if self.shown is None:
            self.shown = display(image, display_id=True)
        else:
            self.shown.update(image)
        if status:
            said = {"text/html": as_html(scores, status), "text/plain": as_text(scores, status)}
            if self.words is None:
                self.words = display(said, raw=True, display_id=True)
            else:
                self.words.update(said, raw=True)
        self.last = time.monotonic()

    def tell(self, scores: list[Scores], status: str) -> None:
        """Print what was evaluated since the last time, if there is a text in it."""
        for score in scores[self.told :]:
            if texts := texts_of(score):
                print(f"{in_words(score)}; {status}", *texts, "", sep="\n", flush=True)
        self.told = len(scores)


def texts_of(score: Scores) -> list[str]:
    """Return the texts of one evaluation."""
    return [said for said in score.values() if isinstance(said, str)]


def in_words(score: Scores) -> str:
    """Name the numbers of one evaluation, the step first."""
    numbers = (f"{k} {x:.3f}" for k, x in score.items() if isinstance(x, float))
    return ", ".join([f"step {score['step']:,}", *numbers])


def as_text(scores: list[Scores], status: str) -> str:
    """Write the line on the progress and the newest texts."""
    told = [score for score in scores if texts_of(score)]
    return "\n".join([status, *(["", in_words(told[-1]), *texts_of(told[-1])] if told else [])])


def as_html(scores: list[Scores], status: str) -> str:
    """Write the line on the progress, the newest texts, and the earlier ones to be opened."""

    def shown(score: Scores) -> str:
        box = '<pre style="white-space: pre-wrap; margin: 0.2em 0 0.8em 1em">{}</pre>'
        texts = "".join(box.format(html.escape(said)) for said in texts_of(score))
        return f"<div><em>{html.escape(in_words(score))}</em>{texts}</div>"

    told = [score for score in scores if texts_of(score)]
    page = f"<div><strong>{html.escape(status)}</strong></div>"
    if told:
        page += shown(told[-1])
    if told[:-1]:
        earlier = "".join(map(shown, told[:-1]))
        page += f"<details><summary>earlier samples</summary>{earlier}</details>"
    return page


def clock(seconds: float) -> str:
    """Write a time as a person would say it.

    >>> clock(8.4), clock(75), clock(4000)
    ('8 s', '1 min 15 s', '1 h 6 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


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
