"""Prove that the checks are right: `python -m autograder verify [LESSON ...]`.

For every lesson: the reference and every other right solution get full marks, the empty notebook
gets nothing, every known slip loses points and is named, and no mutant of a reference passes
unless its lesson says why it is right too.
"""

import argparse
import ast
import contextlib
import dataclasses
import functools
import importlib.util
import io
import itertools
import json
import multiprocessing
import os
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import torch
from tqdm import tqdm

from autograder import lessons
from autograder.checks.cells import is_check, question_of
from autograder.checks.check import SEED
from autograder.checks.compare import difference
from autograder.checks.marking import mark, right_answers, slip_answers
from autograder.checks.question import Choice, Conclusion, Exercise, Lesson
from autograder.checks.slips import SlipError, patched
from autograder.proof.mutants import mutants, survives
from autograder.repository import EXERCISES, ROOT
from autograder.seam.probe import observe

SEEDS = 5
CLEAR = 100  # a slip must differ by this many times the tolerance from right and from other slips
NOTEBOOK = "notebook"  # no question has this name
ALTERNATIVES = ROOT / "tests" / "alternatives"
COUNTS = (
    *("exercises", "points", "cases", "slips", "slips_rejected", "slips_named", "alternatives"),
    *("alternatives_accepted", "mutants", "mutants_killed", "mutants_equivalent"),
)


@dataclass
class Report:
    """What was tried in one lesson, question by question, and what falls short."""

    lesson: str
    rows: dict[str, Counter] = field(default_factory=dict)
    shortfalls: list[str] = field(default_factory=list)

    def row(self, name: str) -> Counter:
        return self.rows.setdefault(name, Counter())

    def short(self, name: str, text: str) -> None:
        self.shortfalls.append(f"{self.lesson}.{name}: {text}")

    def add(self, other: "Report") -> None:
        self.rows |= other.rows
        self.shortfalls += other.shortfalls

    def total(self, count: str) -> int:
        return sum(row[count] for row in self.rows.values())


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m autograder verify", description=__doc__)
    parser.add_argument("lesson", nargs="*", help="default: every lesson that has checks")
    parser.add_argument("--json", action="store_true", help="print the totals as JSON")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how many grading seeds to try")
    options = parser.parse_args(argv)
    known = lessons.names()
    for name in options.lesson:
        if name not in known:
            print(f"autograder: there is no lesson {name!r}. There are: {', '.join(known)}.")
            return 2
    reports = verify_all(options.lesson or known, options.seeds)
    if options.json:
        totals = {c: sum(r.total(c) for r in reports) for c in COUNTS}
        print(json.dumps({"lessons": len(reports), **totals}))
    else:
        print("\n\n".join(_table(report) for report in reports))
    found = [text for report in reports for text in report.shortfalls]
    for text in found:
        print(f"falls short: {text}", file=sys.stderr if options.json else sys.stdout)
    return 1 if found else 0


def verify_all(names: list[str], n_seeds: int) -> list[Report]:
    """Try the lessons, as many questions at a time as there are cores."""
    asked = [(name, item) for name in names for item in items(lessons.load(name))]
    reports = {name: Report(name) for name in names}
    workers = min(len(asked), len(os.sched_getaffinity(0)))
    context = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(workers, mp_context=context) as pool,
        tqdm(total=len(asked), unit="question", disable=not sys.stderr.isatty()) as bar,
    ):
        waiting = [pool.submit(_try_named, name, item, n_seeds) for name, item in asked]
        for (name, item), done in zip(asked, waiting, strict=True):
            reports[name].add(done.result())
            bar.set_description(f"{name}.{item}")
            bar.update()
    return list(reports.values())


def verify(lesson: Lesson, n_seeds: int = SEEDS) -> Report:
    """Try everything on one lesson."""
    report = Report(lesson.name)
    for item in items(lesson):
        report.add(try_item(lesson, item, n_seeds))
    return report


def items(lesson: Lesson) -> list[str]:
    """Name what can be tried by itself: every question, and the empty notebook."""
    return [*lesson.names, NOTEBOOK]


def _try_named(name: str, item: str, n_seeds: int) -> Report:
    torch.set_num_threads(1)
    return try_item(lessons.load(name), item, n_seeds)


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
    twice = [k for k, n in Counter((c.part, c.about) for c in exercise.cases).items() if n > 1]
    for part, about in twice:
        report.short(name, f"two cases of {part!r} are called {about!r}; name one of them anew")
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
    from autograder.release.authored import reference_conclusion

    measured = getattr(question, "measures", [])
    right = question.right if isinstance(question, Choice) else reference_conclusion(question)
    if right not in question.answers:
        report.short(question.name, f"the right answer {right!r} is not among the answers")
    own = {m.__name__: m for m in measured}
    if measured:  # an experiment may take seconds: all letters are held against one run of it
        result = observe(own, question.probe, question.inputs)
        once = functools.wraps(question.probe)(lambda own: result)
        question = dataclasses.replace(question, probe=once, inputs=())
        lesson = Lesson(lesson.name, [question])
    for letter in [*question.answers, None, "?", ["a"]]:
        score = mark(lesson, question.name, own | {question.name: letter}).score
        if score != (question.points if letter == right else 0):
            report.short(question.name, f"the answer {letter!r} gets {score:g} points")


def _verify_empty(report: Report, lesson: Lesson) -> None:
    from autograder.release.notebooks import author, release

    if not (EXERCISES / f"{lesson.name}.md").exists():
        report.short(NOTEBOOK, f"there is no exercises/{lesson.name}.md to release")
        return
    earned = notebook_scores(release(author(lesson.name)))
    for name in lesson.names:
        if earned.get(name) != 0.0:
            report.short(name, f"the empty notebook gets {earned.get(name)} points, not 0")


def notebook_scores(notebook: Any) -> dict[str, Any]:
    """Run a notebook's code cells as `nbgrader autograde` does; return what each check returned."""
    import matplotlib
    from IPython.core.inputtransformer2 import TransformerManager

    matplotlib.use("agg")
    plain, own, earned = TransformerManager().transform_cell, {"__name__": "__main__"}, {}
    with _graded_in_process():
        for cell in (c for c in notebook.cells if c.cell_type == "code"):
            returned = None
            with contextlib.suppress(Exception):  # an empty body raises NotImplementedError
                *lines, last = ast.parse(plain(cell.source)).body
                is_value = isinstance(last, ast.Expr)
                body = ast.Module(lines if is_value else [*lines, last], [])
                exec(compile(body, cell.id, "exec"), own)
                if is_value:
                    returned = eval(compile(ast.Expression(last.value), cell.id, "eval"), own)
            if is_check(cell):
                earned[question_of(cell.metadata.nbgrader.grade_id)] = returned
    return earned


@contextlib.contextmanager
def _graded_in_process():
    before = {name: os.environ.get(name) for name in ("NBGRADER_EXECUTION", SEED)}
    os.environ |= {"NBGRADER_EXECUTION": "autograde", SEED: "verify"}
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


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
    path, whole = EXERCISES / f"{lesson}.md", exercise.reference.__qualname__
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    named = [d for line in re.findall(r"^:solution:(.*)$", text, re.M) for d in line.split(",")]
    bodies = [dotted.strip().split(".", 2)[2] for dotted in named]
    return [body for body in bodies if body.split(".")[0] == whole] or [whole]


def _table(report: Report) -> str:
    """Return one line per question, in columns."""
    heads = ("points", "cases", "slips", "rejected", "named", "right", "accepted")
    counts = ("points", *COUNTS[2:8])
    heads, counts = (*heads, "mutants", "killed", "same"), (*counts, *COUNTS[8:])
    width = max(len(name) for name in [*report.rows, report.lesson])
    lines = [f"{report.lesson:<{width}} " + " ".join(f"{head:>8}" for head in heads)]
    for name, row in report.rows.items():
        lines.append(f"{name:<{width}} " + " ".join(f"{row[c] or '.':>8}" for c in counts))
    lines.append(f"{'':<{width}} " + " ".join(f"{report.total(c):>8}" for c in counts))
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
