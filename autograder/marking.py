"""Mark one question: run its cases, give points per part, say what went wrong and why."""

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from autograder.compare import Difference, difference
from autograder.exercise import ARGUMENTS, ROUTES, VISIBLE, Case, Choice, Conclusion, Exercise, Lesson
from autograder.probe import observe, value
from autograder.slips import Slip, SlipError, patched
from autograder.wire import Raised

DRAWS = 3  # how often each case is drawn from the instructor's seed


@dataclass
class Part:
    """One named property of an answer, what it is worth and what was found."""

    name: str
    points: float
    passed: bool
    found: str = ""
    tried: list[str] = field(default_factory=list)


@dataclass
class Result:
    """The marks for one question and everything a learner is told."""

    lesson: str
    name: str
    points: float
    parts: list[Part]
    slips: list[str] = field(default_factory=list)  # names, for the class report
    reasons: list[str] = field(default_factory=list)  # sentences, for the learner
    pictures: tuple[Any, Any] | None = None  # (expected, got), two tensors of one shape
    with_reference: list[str] = field(default_factory=list)  # earlier answers put right

    @property
    def score(self) -> float:
        return float(sum(part.points for part in self.parts if part.passed))

    @property
    def passed(self) -> bool:
        return all(part.passed for part in self.parts)


@dataclass(frozen=True)
class Run:
    """One case as it was run: its inputs, what the reference gives, what the answer gave."""

    case: Case
    inputs: tuple
    expected: Any
    got: Any


def mark(lesson: Lesson, name: str, own: dict[str, Any], seed: str | None = None) -> Result:
    """Mark one answer in `own`; with a seed, also on cases drawn from it."""
    question = lesson[name]
    if name not in own or own[name] is None or own[name] is ...:
        return _unanswered(lesson, question)
    if isinstance(question, Choice):
        return _mark_choice(lesson, question, own)
    if isinstance(question, Conclusion):
        return _mark_conclusion(lesson, question, own)
    if wrong_kind := _wrong_kind(question, own[name]):
        return _failed(lesson, question, wrong_kind)
    result = _mark_exercise(lesson, question, own, seed)
    if not result.passed:
        result = _mark_with_reference(lesson, question, own, seed, result)
    return result


def _unanswered(lesson: Lesson, question: Any) -> Result:
    text = f"`{question.name}` is not there yet: fill in the cell above and run it."
    return _failed(lesson, question, text)


def _failed(lesson: Lesson, question: Any, text: str) -> Result:
    part = Part("answer", question.points, False, text)
    return Result(lesson.name, question.name, question.points, [part])


def _wrong_kind(exercise: Exercise, answer: Any) -> str:
    """Say in a sentence when a function was asked for and a class came, or the other way round."""
    wanted = "class" if isinstance(exercise.reference, type) else "function"
    is_class = isinstance(answer, type)
    if callable(answer) and is_class == (wanted == "class"):
        return ""
    found = "class" if is_class else "function" if callable(answer) else type(answer).__name__
    return f"`{exercise.name}` should be a {wanted}, yours is a {found}."


def _mark_choice(lesson: Lesson, choice: Choice, own: dict) -> Result:
    answer = observe(own, value, (choice.name,))
    return _lettered(lesson, choice, answer, choice.right, {})


def _mark_conclusion(lesson: Lesson, question: Conclusion, own: dict) -> Result:
    answer = observe(own, value, (question.name,))
    measured = observe(own, question.probe, question.inputs)
    helped = []
    if isinstance(measured, Raised):  # the code behind the experiment fails: that cost once
        earlier = {m.__name__: m for m in question.measures}
        with replaced(own, earlier):
            measured = observe(own, question.probe, question.inputs)
        helped = list(earlier)
    right = question.decide(measured)
    result = _lettered(lesson, question, answer, right, measured)
    result.with_reference = helped
    return result


def _lettered(lesson, question, answer: Any, right: str, measured: dict) -> Result:
    letter = answer.strip().lower() if isinstance(answer, str) else answer
    if letter not in question.answers:
        letters = ", ".join(repr(k) for k in question.answers)
        return _failed(lesson, question, f"answer with one of {letters}")
    why = question.answers[letter].format(**measured)
    part = Part("answer", question.points, letter == right, "" if letter == right else why)
    result = Result(lesson.name, question.name, question.points, [part], reasons=[why])
    if letter != right:
        result.slips = [f"{question.name} = {letter}"]
        part.found = f"{letter!r} does not fit"
    return result


def runs(exercise: Exercise, own: dict, seed: str | None) -> Iterator[Run]:
    """Run all cases: the visible ones, and with a seed the drawn ones."""
    drawn = [(seed, i) for i in range(DRAWS)] if seed is not None else []
    reference = vars(exercise.module)
    for case, (s, i) in itertools.product(exercise.cases, [(VISIBLE, 0), *drawn]):
        inputs = case.inputs(exercise.name, s, i)
        expected = _expected(exercise, case, s, i, inputs, reference)
        yield Run(case, inputs, expected, observe(own, case.probe, inputs))


_KEPT: dict[tuple, Any] = {}


def _expected(exercise: Exercise, case: Case, seed: str, i: int, inputs: tuple, reference) -> Any:
    """Ask the reference once per process for each case."""
    key = (exercise.module.__name__, exercise.name, case.part, case.about, seed, i)
    if key not in _KEPT:
        _KEPT[key] = observe(reference, case.probe, inputs)
    return _KEPT[key]


def differences(run: Run, parts: dict[str, int]) -> dict[str, Difference | None]:
    """Compare one run part by part; a part it says nothing about is left out."""
    if not (isinstance(run.expected, dict) and isinstance(run.got, dict)):
        return {run.case.part: difference(run.expected, run.got)}
    keys: dict[str, list] = {}
    for key in [*run.expected, *run.got]:
        part = ROUTES.get(key, run.case.part)
        keys.setdefault(part if part in parts else run.case.part, []).append(key)
    return {
        part: difference(_only(mine, run.expected), _only(mine, run.got))
        for part, mine in keys.items()
    }


def _only(keys: list, seen: dict) -> dict:
    return {k: v for k, v in seen.items() if k in keys}


def _mark_exercise(lesson: Lesson, exercise: Exercise, own: dict, seed: str | None) -> Result:
    seen: dict[str, list] = {name: [] for name in exercise.parts}
    done = list(runs(exercise, own, seed))
    pictures = None
    for run in done:
        for part, found in differences(run, exercise.parts).items():
            seen[part].append((run, found))
            if found and pictures is None:
                pictures = _picture(found)
    parts = [_part(name, points, seen[name]) for name, points in exercise.parts.items()]
    for part in parts:  # to leave the arguments alone is worth nothing by itself
        part.passed &= part.name != ARGUMENTS or any(p.passed for p in parts if p is not part)
    result = Result(lesson.name, exercise.name, exercise.points, parts, pictures=pictures)
    if not result.passed:
        slips = matching_slips(exercise, done)
        result.slips, result.reasons = [s.name for s in slips], [s.text for s in slips]
    return result


def _part(name: str, points: float, seen: list[tuple[Run, Difference | None]]) -> Part:
    tried = list(dict.fromkeys(run.case.about for run, _ in seen))
    wrong = [(run, found) for run, found in seen if found]
    if wrong:
        run, found = wrong[0]
        return Part(name, points, False, f"{run.case.about}: {found.text}", tried)
    found = "" if seen else "not reached: the code fails before"
    return Part(name, points, bool(seen), found, tried)


def _picture(found: Difference) -> tuple[Any, Any] | None:
    """Cut the first matrix with a difference out of two tensors of one shape."""
    expected, got = found.expected, found.got
    shape = getattr(expected, "shape", ())
    if len(shape) < 2 or shape != getattr(got, "shape", None):
        return None
    wrong = (expected != got).flatten(0, -3) if len(shape) > 2 else (expected != got)[None]
    at = int(wrong.flatten(1).any(1).nonzero()[0])
    return tuple(t.reshape(-1, *shape[-2:])[at] for t in (expected, got))


def matching_slips(exercise: Exercise, done: list[Run]) -> list[Slip]:
    """Return the slip, or the pair of slips, whose whole behaviour is the answer's."""
    for slip in exercise.slips:
        if _matches(exercise, done, (slip,)):
            return [slip]
    for pair in itertools.combinations(exercise.slips, 2):
        with contextlib.suppress(SlipError, SyntaxError):
            if _matches(exercise, done, pair):
                return list(pair)
    return []


def _matches(exercise: Exercise, done: list[Run], slips: tuple[Slip, ...]) -> bool:
    """Compare all runs. Exceptions are no evidence: a run that fails by value must agree."""
    own, evidence = patched(*slips), False
    for run in done:
        would = observe(own, run.case.probe, run.inputs)
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


def _mark_with_reference(
    lesson: Lesson, exercise: Exercise, own: dict, seed: str | None, first: Result
) -> Result:
    """Mark again with the earlier answers that the reference uses put right: a slip costs once."""
    earlier = lesson.names[: lesson.names.index(exercise.name)]
    used = [n for n in exercise.uses(earlier) if isinstance(lesson[n], Exercise)]
    if not used:
        return first
    with replaced(own, {n: lesson[n].reference for n in used}):
        again = _mark_exercise(lesson, exercise, own, seed)
    if again.score <= first.score:
        return first
    again.with_reference = used
    return again


@contextlib.contextmanager
def replaced(own: dict[str, Any], others: dict[str, Any]):
    """Put other objects under these names for a while: the learner's code reads them by name."""
    before = {n: own[n] for n in others if n in own}
    own.update(others)
    try:
        yield
    finally:
        for n in others:
            own.pop(n, None)
        own.update(before)
