"""Try one question: right answers get full marks, slips are caught and named, mutants noticed."""

import dataclasses
import functools
import importlib.util
import itertools
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from autograder.checks.compare import difference
from autograder.checks.exercise_file import bodies, path_of, place
from autograder.checks.marking import mark
from autograder.checks.question import Choice, Conclusion, Exercise, Lesson
from autograder.checks.reference import right_answers, slip_answers
from autograder.checks.slips import SlipError, patched
from autograder.proof.empty_notebook import notebook_scores
from autograder.proof.first_look import raising
from autograder.proof.mutants import mutants, survives
from autograder.proof.report import Report
from autograder.release.authored import reference_conclusion
from autograder.release.notebooks import author, release
from autograder.repository import ROOT
from autograder.seam.probe import observe

CLEAR = 100  # a slip must differ by this many times the tolerance from right and from other slips
NOTEBOOK = "notebook"  # no question has this name
ALTERNATIVES = ROOT / "tests" / "alternatives"


def items(lesson: Lesson) -> list[str]:
    """Name what can be tried by itself: every question, and the empty notebook."""
    return [*lesson.names, NOTEBOOK]


def try_item(lesson: Lesson, item: str, n_seeds: int) -> Report:
    """Try everything on one question, or the empty notebook."""
    report = Report(lesson.name)
    if item == NOTEBOOK:
        _verify_empty(report, lesson)
        return report
    question = lesson[item]
    report.row(question.name).update(exercises=1, points=question.points)
    if isinstance(question, Exercise):
        seeds: list[str | None] = [None, *(f"verify {i}" for i in range(n_seeds))]
        _verify_exercise(report, lesson, question, seeds)
    else:
        _verify_answers(report, lesson, question)
    return report


def _verify_exercise(report: Report, lesson: Lesson, exercise: Exercise, seeds: list) -> None:
    row, name = report.row(exercise.name), exercise.name
    row["cases"] = len(exercise.cases)
    raised: dict[str, str] = {}
    for seed in seeds:
        raised = dict(raising(exercise, seed)) | raised
    for text in raised.values():
        report.short(name, text)
    reference = dict(vars(exercise.module))
    _verify_right(report, lesson, exercise, reference, "the reference", seeds)
    if not _verify_slips(report, lesson, exercise, seeds[:2]):
        return  # an answer cannot be compared with slips that cannot be made
    for how, own in alternatives(lesson.name, exercise):
        row["alternatives"] += 1
        right = _verify_right(report, lesson, exercise, own, f"the right answer {how}", seeds)
        row["alternatives_accepted"] += right
    if not row["alternatives"]:
        report.short(name, f"no other right solution in tests/alternatives/{lesson.name}.py")
    _verify_mutants(report, lesson, exercise)


def _verify_right(report, lesson, exercise, own: dict, what: str, seeds: list) -> bool:
    for seed in seeds:
        result = mark(lesson, exercise.name, own, seed)
        if not result.passed:
            part = next(p for p in result.parts if not p.passed)
            on = "the visible cases" if seed is None else f"seed {seed!r}"
            report.short(exercise.name, f"{what} loses {part.name!r} on {on}: {part.found}")
            return False
    return True


def _verify_slips(report: Report, lesson: Lesson, exercise: Exercise, seeds: list) -> bool:
    """Mark every slip, tell it from all others; say whether all could be made."""
    row, made = report.row(exercise.name), {}
    row["slips"] = len(exercise.slips)
    for slip in exercise.slips:
        try:
            made[slip] = patched(slip)
        except (SlipError, SyntaxError) as problem:
            report.short(exercise.name, f"slip {slip.name!r} cannot be made: {problem}")
    if len(made) < len(exercise.slips):
        return False
    seen = {}
    for slip, own in made.items():
        results = [mark(lesson, exercise.name, dict(own), seed) for seed in seeds]
        rejected = all(r.score < r.points for r in results)
        named = all(r.slips == [slip.name] for r in results)
        row.update(slips_rejected=rejected, slips_named=named)
        if not rejected:
            report.short(exercise.name, f"slip {slip.name!r} gets full marks: add a case")
        elif not named:
            called = next(r.slips for r in results if r.slips != [slip.name])
            report.short(exercise.name, f"slip {slip.name!r} is taken for {called or 'no slip'}")
        seen[slip.name] = slip_answers(exercise, slip, seeds[-1])
    seen["the reference"] = right_answers(exercise, seeds[-1])
    for (one, a), (other, b) in itertools.combinations(seen.items(), 2):
        if not any(_far(x, y) for x, y in zip(a, b, strict=True)):
            report.short(exercise.name, f"{one!r} and {other!r} are too alike in every case")
    return True


def _far(expected: Any, got: Any) -> bool:
    found = difference(expected, got)
    return found is not None and found.size > CLEAR


def _verify_answers(report: Report, lesson: Lesson, question: Choice | Conclusion) -> None:
    """Mark every letter, and no letter, with the reference's code behind the experiment."""
    measured = getattr(question, "measures", [])
    right = question.right if isinstance(question, Choice) else reference_conclusion(question)
    own = {m.__name__: m for m in measured}
    # an experiment may take seconds: all letters are held against one run of it
    if isinstance(question, Conclusion) and measured:
        result = observe(own, question.probe, question.inputs)
        once = functools.wraps(question.probe)(lambda own: result)
        question = dataclasses.replace(question, probe=once, inputs=())
        lesson = Lesson(lesson.name, [question])
    for letter in [*question.answers, None, "?", ["a"]]:
        score = mark(lesson, question.name, own | {question.name: letter}).score
        if score != (question.points if letter == right else 0):
            report.short(question.name, f"the answer {letter!r} gets {score:g} points")


def _verify_empty(report: Report, lesson: Lesson) -> None:
    if not path_of(lesson.name).exists():
        report.short(NOTEBOOK, f"there is no {place(lesson.name)} to release")
        return
    earned = notebook_scores(release(author(lesson.name)))
    for name in lesson.names:
        if earned.get(name) != 0.0:
            report.short(name, f"the empty notebook gets {earned.get(name)} points, not 0")


def alternatives(lesson: str, exercise: Exercise) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the other right solutions of an exercise, each as a notebook's names."""
    module = _load_alternatives(lesson)
    for name, value in list(vars(module).items()) if module else ():
        if name.startswith(f"{exercise.name}__"):
            yield name, {**vars(exercise.module), **vars(module), exercise.name: value}


def _load_alternatives(lesson: str) -> ModuleType | None:
    path = ALTERNATIVES / f"{lesson}.py"
    if not path.exists():
        return None
    spec = importlib.util.spec_from_file_location(f"alternatives_{lesson}", path)
    assert spec is not None and spec.loader is not None  # the file is there, and is Python
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _verify_mutants(report: Report, lesson: Lesson, exercise: Exercise) -> None:
    row, alive = report.row(exercise.name), set()
    for body in written_bodies(lesson.name, exercise):
        for mutant in mutants(exercise.module, body):
            row["mutants"] += 1
            if survives(exercise, mutant, "mutants"):
                alive.add(mutant.description)
    row["mutants_equivalent"] = len(alive & exercise.equivalent.keys())
    row["mutants_killed"] = row["mutants"] - len(alive)
    for description in sorted(alive - exercise.equivalent.keys()):
        report.short(exercise.name, f"no case notices the mutant {description}")
    for description in sorted(exercise.equivalent.keys() - alive):
        report.short(exercise.name, f"`equivalent` names a mutant that is not there: {description}")


def written_bodies(lesson: str, exercise: Exercise) -> list[str]:
    """Return which bodies of an exercise the learner writes: a given `__init__` is not marked."""
    whole = exercise.reference.__qualname__
    written = bodies(lesson) if path_of(lesson).exists() else []
    return [body.qualname for body in written if body.whole == whole] or [whole]
