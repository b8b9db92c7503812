"""Mark one question: run its cases, give points per part, say what went wrong and why."""

import contextlib
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from autograder.checks.code import Code, code_of
from autograder.checks.compare import Difference, difference
from autograder.checks.question import (
    ARGUMENTS,
    ROUTES,
    VISIBLE,
    Case,
    Choice,
    Conclusion,
    Exercise,
    Lesson,
)
from autograder.checks.slips import Slip, SlipError, patched
from autograder.seam.probe import (
    MISSING,
    Seen,
    kind,
    observe,
    observe_packed,
    quiet,
    unpacked,
    value,
)
from autograder.seam.wire import Died, Often, Raised, packed

DRAWS = 3  # how often each case is drawn from the instructor's seed
UNTRIED = "answer"  # stands for all parts where there is nothing to try; lettered answers have it
NOT_ALONE = "as it should be, but it counts only beside another part that is right"
NOT_REACHED = "not reached: the code fails before"
UNCOUNTED = (NOT_ALONE, NOT_REACHED)  # parts that get no points and are not wrong by themselves


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
    key: tuple  # what tells this case and draw from all others


def mark(lesson: Lesson, name: str, own: dict[str, Any] | Code, seed: str | None = None) -> Result:
    """Mark one answer in `own`; with a seed, also on cases drawn from it."""
    with quiet():  # inputs are drawn with torch's own defaults, not with the learner's
        return _mark(lesson, name, code_of(own), seed)


def _mark(lesson: Lesson, name: str, code: Code, seed: str | None) -> Result:
    question = lesson[name]
    found = code.observe(kind, (name,))
    if isinstance(found, Died):
        return _failed(lesson, question, f"the code did not finish: {found.how}")
    if found == MISSING:
        return _unanswered(lesson, question, code)
    if isinstance(question, Choice):
        return _mark_choice(lesson, question, code)
    if isinstance(question, Conclusion):
        return _mark_conclusion(lesson, question, code, graded=seed is not None)
    if wrong_kind := _wrong_kind(question, found):
        return _failed(lesson, question, wrong_kind)
    result, done = _mark_exercise(lesson, question, code, seed)
    if not result.passed:
        result, done = _mark_with_reference(lesson, question, code, seed, result, done)
    if not result.score and (text := _empty_body(question, done)):
        return _failed(lesson, question, text)
    if not result.passed:
        slips = matching_slips(question, done)
        result.slips, result.reasons = [s.name for s in slips], [s.text for s in slips]
    return result


def _unanswered(lesson: Lesson, question: Any, code: Code) -> Result:
    text = f"`{question.name}` is not there yet: fill in the cell above and run it."
    why = code.observe(error_of, (question.name,))
    if isinstance(why, str) and why:
        text = f"`{question.name}` is not there: the cell above did not run to its end. {why[:300]}"
    return _failed(lesson, question, text)


def error_of(own, name):
    """Say how the last cell that was to bind a name failed; nothing if no such cell was run."""
    import ast
    import linecache
    import re
    import sys

    binds = re.compile(rf"^\s*((def|class)\s+{name}\b|{name}\s*[:=])", re.MULTILINE)
    cells = [c for c in getattr(own, "In", []) if isinstance(c, str) and binds.search(c)]
    if not cells:
        return ""
    try:
        compile(cells[-1], "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except SyntaxError as error:
        return f"{type(error).__name__}, line {error.lineno}: {error.msg}"
    error = getattr(sys, "last_value", None)
    trace = getattr(error, "__traceback__", None)
    while trace is not None:
        lines = linecache.getlines(trace.tb_frame.f_code.co_filename)
        if "".join(lines).strip() == cells[-1].strip():
            text = f": {error}" if str(error) else ""
            return f"{type(error).__name__}, line {trace.tb_lineno}{text}"
        trace = trace.tb_next
    return ""


def _empty_body(exercise: Exercise, done: list[Run]) -> str:
    """Say so where every case met the body that the notebook was released with."""
    bodies, where = {exercise.name, *vars(exercise.reference)}, ""
    for run in done:
        got = run.got
        if not isinstance(got, Raised) or (got.type_name, got.text) != ("NotImplementedError", ""):
            return ""
        where = got.traceback.splitlines()[-1] if got.traceback else ""
        name = re.match(r"line \d+, in (\w+)", where)
        if name and name[1] not in bodies:
            return ""  # it stands in another answer
    return "not answered yet: the code raised NotImplementedError" + (where and f" ({where})")


def _failed(lesson: Lesson, question: Any, text: str) -> Result:
    part = Part(UNTRIED, question.points, False, text)
    return Result(lesson.name, question.name, question.points, [part])


def _wrong_kind(exercise: Exercise, found: Any) -> str:
    """Say in a sentence when a function was asked for and a class came, or the other way round."""
    wanted = "class" if isinstance(exercise.reference, type) else "function"
    return "" if found == wanted else f"`{exercise.name}` should be a {wanted}, yours is a {found}."


def _mark_choice(lesson: Lesson, choice: Choice, code: Code) -> Result:
    answer = code.observe(value, (choice.name,))
    return _lettered(lesson, choice, answer, choice.right, {}, "your")


def _mark_conclusion(lesson: Lesson, question: Conclusion, code: Code, graded: bool) -> Result:
    """Accept the letter that the learner's own result supports, or the reference's.

    Broken code has cost already, so a conclusion that fits the reference's result is right too.
    When grading, that is looked at first: the experiment is run again only where it can matter.
    """
    answer = code.observe(value, (question.name,))
    letter, truth = _letter(answer), None
    if graded and _supports(question, truth := _reference_result(question), letter):
        return _lettered(lesson, question, answer, letter, truth, "the reference's")
    measured, whose, helped = code.observe(question.probe, question.inputs), "your", []
    if not _supports(question, measured, letter):
        truth = truth or _reference_result(question)
        if not isinstance(truth, dict):
            return _failed(lesson, question, "the experiment does not run: run all cells again")
        if not isinstance(measured, dict) or _supports(question, truth, letter):
            measured, whose = truth, "the reference's"
            helped = [m.__name__ for m in question.measures]
    right = question.decide(measured)
    result = _lettered(lesson, question, answer, right, measured, whose)
    result.with_reference = helped
    return result


def _supports(question: Conclusion, measured: Any, letter: str | None) -> bool:
    """Say whether this is a result at all, and one from which the letter follows."""
    return isinstance(measured, dict) and letter == question.decide(measured)


def _reference_result(question: Conclusion, elsewhere: Code | None = None) -> dict:
    """Run an experiment with the reference, once per process; `elsewhere` if that works there."""
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


def _letter(answer: Any) -> str | None:
    return answer.strip().lower() if isinstance(answer, str) else None


def _lettered(lesson, question, answer: Any, right: str, measured: dict, whose: str) -> Result:
    letter = _letter(answer)
    if letter not in question.answers:
        letters = ", ".join(repr(k) for k in question.answers)
        return _failed(lesson, question, f"answer with one of {letters}")
    why = question.answers[letter].format(**measured, whose=whose)
    part = Part(UNTRIED, question.points, letter == right, "" if letter == right else why)
    result = Result(lesson.name, question.name, question.points, [part], reasons=[why])
    if letter != right:
        result.slips = [f"{question.name} = {letter}"]
        part.found = f"{letter!r} does not fit"
    return result


def runs(exercise: Exercise, own: dict | Code, seed: str | None) -> Iterator[Run]:
    """Run all cases: the visible ones, and with a seed the drawn ones."""
    code = code_of(own)
    for case, inputs, expected, key in _asked(exercise, seed):
        got = code.observe(case.probe, inputs, likely=expected)
        yield Run(case, inputs, expected.value, got, key)


def slip_answers(exercise: Exercise, slip: Slip, seed: str | None) -> list[Any]:
    """Return what a slip of the reference gives in all cases."""
    own = patched(slip)
    return [
        _kept((*key, slip.name), own, case, inputs)
        for case, inputs, _, key in _asked(exercise, seed)
    ]


def right_answers(exercise: Exercise, seed: str | None) -> list[Any]:
    """Return what the reference gives in all cases."""
    return [expected.value for _, _, expected, _ in _asked(exercise, seed)]


def _asked(exercise: Exercise, seed: str | None) -> Iterator[tuple[Case, tuple, Seen, tuple]]:
    """Go through all cases: each with its inputs, what is expected, and what tells it apart."""
    drawn = [(seed, i) for i in range(DRAWS)] if seed is not None else []
    for case, (s, i) in itertools.product(exercise.cases, [(VISIBLE, 0), *drawn]):
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
                _reference_result(question, elsewhere() if elsewhere else None)


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
    return _KEPT[key]


def _kept(key: tuple, own: dict, case: Case, inputs: tuple) -> Any:
    """Ask a slip of the reference once per process for each case."""
    if key not in _KEPT:
        _KEPT[key] = observe(own, case.probe, inputs)
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


def _mark_exercise(
    lesson: Lesson, exercise: Exercise, code: Code, seed: str | None
) -> tuple[Result, list[Run]]:
    seen: dict[str, list] = {name: [] for name in exercise.parts}
    done = list(runs(exercise, code, seed))
    pictures = None
    for run in done:
        for part, found in differences(run, exercise.parts).items():
            seen[part].append((run, found))
            if found and pictures is None:
                pictures = _picture(found)
    parts = [_part(name, points, seen[name]) for name, points in exercise.parts.items()]
    for part in parts:  # to leave the arguments alone is worth nothing by itself
        others = any(p.passed for p in parts if p is not part)
        if part.name == ARGUMENTS and part.passed and not others:
            part.passed, part.found = False, NOT_ALONE
    return Result(lesson.name, exercise.name, exercise.points, parts, pictures=pictures), done


def _part(name: str, points: float, seen: list[tuple[Run, Difference | None]]) -> Part:
    tried = list(dict.fromkeys(run.case.about for run, _ in seen))
    wrong = [(run, found) for run, found in seen if found]
    if wrong:
        run, found = wrong[0]
        return Part(name, points, False, f"{run.case.about}: {found.text}", tried)
    found = "" if seen else NOT_REACHED
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
    seen = {s: _kept((*run.key, s.name), patched(s), run.case, run.inputs) for s in slips}
    idle = {slip for slip, would in seen.items() if difference(run.expected, would) is None}
    fits = {slip for slip, would in seen.items() if difference(would, run.got) is None}
    return idle, fits


def _matches(exercise: Exercise, done: list[Run], slips: tuple[Slip, ...]) -> bool:
    """Compare all runs. Exceptions are no evidence: a run that fails by value must agree."""
    own, evidence = patched(*slips), False
    for run in done:
        would = _kept((*run.key, *(s.name for s in slips)), own, run.case, run.inputs)
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
    lesson: Lesson, exercise: Exercise, code: Code, seed: str | None, first: Result, done: list[Run]
) -> tuple[Result, list[Run]]:
    """Mark again with the earlier answers that the reference uses put right: a slip costs once."""
    earlier = lesson.names[: lesson.names.index(exercise.name)]
    used = [n for n in exercise.uses(earlier) if isinstance(lesson[n], Exercise)]
    if not used:
        return first, done
    with code.replaced({n: lesson[n].reference for n in used}, exercise.name):
        again, done_again = _mark_exercise(lesson, exercise, code, seed)
    if again.score < first.score:
        return first, done
    if again.score == first.score and (
        matching_slips(exercise, done) or not matching_slips(exercise, done_again)
    ):  # nothing is won, and no mistake comes to light that the earlier one had covered
        return first, done
    again.with_reference = used
    return again, done_again
