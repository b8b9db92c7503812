"""Draw the loss of a training while it runs, in a notebook; elsewhere the bar is enough."""

import sys
import time

from tqdm.auto import tqdm


class LiveCurve:
    """Redraw one plot in place, at most every few seconds."""

    def __init__(self, seconds: float = 2.0):
        self.shown = None
        self.seconds = seconds
        self.last = time.monotonic()

    def draw(self, loss: list[float], scores: list[dict[str, float]], now: bool = False) -> None:
        """Show the losses so far, smoothed over a fiftieth of them, and what `evaluate` said."""
        due = time.monotonic() - self.last >= self.seconds
        if "ipykernel" not in sys.modules or not loss or not (now or due):
            return
        from IPython.display import display
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6, 2.6), layout="constrained")  # no pyplot: nothing to close
        axes = figure.subplots()
        axes.plot(loss, alpha=0.3, label="loss of each batch")
        width = max(1, len(loss) // 50)
        mean = [sum(loss[i : i + width]) / width for i in range(0, len(loss) - width + 1, width)]
        axes.plot([width * (i + 1) - 1 for i in range(len(mean))], mean, label="smoothed")
        for name in [k for k in (scores[-1] if scores else {}) if "loss" in k]:
            steps = [s["step"] for s in scores if name in s]
            axes.plot(steps, [s[name] for s in scores if name in s], "o-", label=name)
        axes.set(xlabel="step", ylabel="loss")
        axes.legend(frameon=False)
        if self.shown is None:
            self.shown = display(figure, display_id=True)
        else:
            self.shown.update(figure)
        self.last = time.monotonic()


def progress_bar(steps: range, wanted: bool, live: bool) -> tqdm:
    """Return a bar over the steps that shows only where somebody looks: a terminal, a notebook."""
    watched = wanted and (sys.stderr.isatty() or "ipykernel" in sys.modules)
    quiet = {} if watched else {"disable": True}  # never False: it would overrule TQDM_DISABLE
    return tqdm(steps, leave=live, initial=steps.start, total=steps.stop, **quiet)
