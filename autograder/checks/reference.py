"""What the reference gives: its answers, its slips' answers and its experiments, each asked once.

All is kept in this process, and in those forked from it.
"""

import itertools
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from autograder.checks.code import Code
from autograder.checks.question import VISIBLE, Case, Conclusion, Exercise, Lesson
from autograder.checks.slips import Slip, patched
from autograder.seam.probe import Seen, observe, observe_packed, quiet, unpacked
from autograder.seam.wire import Often, packed

DRAWS = 3  # how often each case is drawn from the instructor's seed


def slip_answers(exercise: Exercise, slip: Slip, seed: str | None) -> list[Any]:
    """Return what a slip of the reference gives in all cases."""
    own = patched(slip)
    return [
        slip_answer((*key, slip.name), own, case, inputs)
        for case, inputs, _, key in asked(exercise, seed)
    ]


def right_answers(exercise: Exercise, seed: str | None) -> list[Any]:
    """Return what the reference gives in all cases."""
    return [expected.value for _, _, expected, _ in asked(exercise, seed)]


def asked(exercise: Exercise, seed: str | None) -> Iterator[tuple[Case, tuple, Seen, tuple]]:
    """Go through all cases, the visible ones first: inputs, what is expected, a key for each."""
    drawn = [(seed, i) for i in range(DRAWS)] if seed is not None else []
    for (s, i), case in itertools.product([(VISIBLE, 0), *drawn], exercise.cases):
        inputs = _drawn(case, exercise.name, s, i)
        key = (exercise.module.__name__, exercise.name, case.part, case.about, s, i)
        yield case, inputs, _expected(key, exercise, case, inputs), key


def prepare(lesson: Lesson, seed: str | None, elsewhere: Callable[[], Code] | None = None) -> None:
    """Work out all that the reference gives: processes forked afterwards have it already.

    `elsewhere` is called last; what it returns is where the experiments are run.
    """
    with quiet():
        for exercise in lesson.exercises:
            right_answers(exercise, seed)
        for question in lesson.questions:
            if isinstance(question, Conclusion):
                reference_result(question, elsewhere() if elsewhere else None)


@cache
def _drawn(case: Case, name: str, seed: Any, number: int) -> tuple:
    """Draw the inputs of a case once per process: whoever is tried on them gets a copy."""
    return Often(case.inputs(name, seed, number))


_KEPT: dict[tuple, Any] = {}


def _expected(key: tuple, exercise: Exercise, case: Case, inputs: tuple) -> Seen:
    """Ask the reference once per process for each case."""
    if key not in _KEPT:
        seen = observe_packed(vars(exercise.module), case.probe, packed(inputs))
        _KEPT[key] = Seen(seen, unpacked(seen))
    expected: Seen = _KEPT[key]
    return expected


def slip_answer(key: tuple, own: dict, case: Case, inputs: tuple) -> Any:
    """Ask a slip of the reference once per process for each case."""
    if key not in _KEPT:
        _KEPT[key] = observe(own, case.probe, inputs)
    return _KEPT[key]


def reference_result(question: Conclusion, elsewhere: Code | None = None) -> Any:
    """Run an experiment with the reference, once per process; `elsewhere` if that works there.

    Return what it measured, a dict, or how it failed (`Raised`).
    """
    key = ("conclusion", question.name, question.probe.__module__)
    if key not in _KEPT:
        own = {m.__name__: m for m in question.measures}
        measured = None
        if elsewhere is not None:
            with elsewhere.replaced(own, question.name):
                measured = elsewhere.observe(question.probe, question.inputs)
        if not isinstance(measured, dict):
            measured = observe(own, question.probe, question.inputs)
        _KEPT[key] = measured
    return _KEPT[key]
