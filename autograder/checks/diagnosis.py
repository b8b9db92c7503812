"""Say why an answer is wrong: the slip, or the pair of slips, whose behaviour is the answer's."""

import contextlib
import itertools
import re
from typing import Any

from autograder.checks.compare import Difference, difference
from autograder.checks.question import Exercise
from autograder.checks.reference import slip_answer
from autograder.checks.result import Run
from autograder.checks.slips import Slip, SlipError, patched
from autograder.seam.wire import Raised


def matching_slips(exercise: Exercise, done: list[Run]) -> list[Slip]:
    """Return the slip, or the pair of slips, whose whole behaviour is the answer's."""
    for slip in exercise.slips:
        if _matches(exercise, done, (slip,)):
            return [slip]
    idle, fits = _alone(exercise.slips, done[0])
    for a, b in itertools.combinations(exercise.slips, 2):
        # where one slip changes nothing, the other must explain all: that sorts out most pairs
        if (a in idle and b not in fits) or (b in idle and a not in fits):
            continue
        with contextlib.suppress(SlipError, SyntaxError):
            if _matches(exercise, done, (a, b)):
                return [a, b]
    return []


def _alone(slips: list[Slip], run: Run) -> tuple[set[Slip], set[Slip]]:
    """Return the slips that change nothing in a run, and those that alone give what was got."""
    seen = {s: slip_answer((*run.key, s.name), patched(s), run.case, run.inputs) for s in slips}
    idle = {slip for slip, would in seen.items() if difference(run.expected, would) is None}
    fits = {slip for slip, would in seen.items() if difference(would, run.got) is None}
    return idle, fits


def _matches(exercise: Exercise, done: list[Run], slips: tuple[Slip, ...]) -> bool:
    """Compare all runs. Exceptions are no evidence: a run that fails by value must agree."""
    own, evidence = patched(*slips), False
    for run in done:
        would = slip_answer((*run.key, *(s.name for s in slips)), own, run.case, run.inputs)
        if isinstance(would, Raised) or isinstance(run.got, Raised):
            if not (isinstance(would, Raised) and isinstance(run.got, Raised)):
                return False
            if would.type_name != run.got.type_name:
                return False
        elif difference(would, run.got):
            return False
        elif not evidence:
            evidence = difference(run.expected, run.got) is not None
    return evidence


def empty_body(exercise: Exercise, done: list[Run]) -> str:
    """Say so where every case met the body that the notebook was released with."""
    bodies, where = {exercise.name, *vars(exercise.reference)}, ""
    for run in done:
        got = run.got
        if not isinstance(got, Raised) or (got.type_name, got.text) != ("NotImplementedError", ""):
            return ""
        at = got.traceback.splitlines()[-1] if got.traceback else ""
        where = where or at  # of a visible case: they come first
        name = re.match(r"line \d+, in (\w+)", at)
        if name and name[1] not in bodies:
            return ""  # it stands in another answer
    return "not answered yet: the code raised NotImplementedError" + (where and f" ({where})")


def picture(found: Difference) -> tuple[Any, Any] | None:
    """Cut the first matrix with a difference out of two tensors of one shape."""
    expected, got = found.expected, found.got
    shape = getattr(expected, "shape", ())
    if len(shape) < 2 or shape != getattr(got, "shape", None):
        return None
    wrong = (expected != got).flatten(0, -3) if len(shape) > 2 else (expected != got)[None]
    at = int(wrong.flatten(1).any(1).nonzero()[0])
    return tuple(t.reshape(-1, *shape[-2:])[at] for t in (expected, got))
