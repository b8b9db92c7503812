"""What may be told of a hidden case: the kind of difference and the shapes, never a number of it.

A learner's code sees the inputs of a hidden case, and chooses what it returns and raises: whatever
of that is quoted (a message, the name of a type, an odd shape) can carry the inputs out. So only
words of ours are said. Where no visible case fails, an example is drawn from a public seed and
shown in full: it costs no secret.
"""

import builtins
import time
from collections.abc import Iterable

from torch import Tensor

from autograder.checks.compare import Difference
from autograder.checks.question import VISIBLE
from autograder.checks.result import Run
from autograder.seam.wire import Died, Raised

TRIES, SECONDS = 50, 2.0  # how long a public example is looked for
HIDDEN = "on hidden numbers"
NO_EXAMPLE = f"No public example of this was found in {TRIES} draws."


def is_hidden(run: Run) -> bool:
    return bool(run.seed != VISIBLE)


def told(run: Run, found: Difference) -> str:
    """Say what was found: in full for a visible case, its kind alone for a hidden one."""
    if not is_hidden(run):
        return f"{run.case.about}: {found.text}"
    return f"{run.case.about}, {HIDDEN}: {_kind(run, found)}"


def _kind(run: Run, found: Difference) -> str:
    if isinstance(run.got, Died):
        return "the code did not finish"
    if isinstance(run.got, Raised):
        known = getattr(builtins, run.got.type_name, None)
        ours = isinstance(known, type) and issubclass(known, Exception)
        return f"the code raised {run.got.type_name}" if ours else "the code raised an error"
    expected, got = found.expected, found.got
    if not isinstance(expected, Tensor) or not isinstance(got, Tensor):
        return "the result is not what was asked for"
    shape, theirs = tuple(expected.shape), tuple(got.shape)
    if shape == theirs:
        return f"some numbers differ (the shape {shape} is right)"
    if set(theirs) <= {*shape, 1}:  # a size of the learner's choice could say anything
        return f"the shape should be {shape}, yours is {theirs}"
    return f"the shape should be {shape}, yours is another"


def first_that_fails(
    candidates: Iterable[tuple[Run, Difference | None]],
) -> tuple[Run, Difference] | None:
    """Return the first public draw that fails, within bounds of number and time."""
    end = time.monotonic() + SECONDS
    for tried, (run, found) in enumerate(candidates):
        if found is not None:
            return run, found
        if tried >= TRIES or time.monotonic() > end:
            return None
    return None
