"""Grade submissions: find, repair, run, save through nbgrader; every one ends with a status."""

import glob
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import nbformat

from autograder import execute
from autograder.course import Course
from autograder.repair import repair
from autograder.submission import Missing, Unreadable, find, read

GRADED, HUMAN = "graded", "needs a human"
TIMED_OUT, CRASHED, UNREADABLE, MISSING = "timed out", "crashed", "unreadable", "missing"
STATUS_FILE = "status.json"


@dataclass
class Record:
    """How one submission's grading went; the scores themselves are in the gradebook."""

    status: str
    notes: list[str] = field(default_factory=list)


def grade(course: Course, lesson: str, timeout: int = 30, total: int = 300) -> dict[str, Record]:
    """Grade everybody's work on one lesson, then write the feedback pages."""
    course.prepare(lesson)
    execute.warm()
    records: dict[str, Record] = {}
    for student in _progress(course.students(), lesson):
        course.forget(lesson, student)  # first: whatever happens below, no old score stands
        try:
            records[student] = _grade_one(course, lesson, student, timeout, total)
        except (Missing, Unreadable) as problem:
            status = MISSING if isinstance(problem, Missing) else UNREADABLE
            records[student] = Record(status, [str(problem)])
        except Exception as problem:  # one submission must not stop the others
            course.log.exception("grading %s of %s", lesson, student)
            course.forget(lesson, student)
            sentence = f"Grading failed ({type(problem).__name__}); nbgrader.log has the details."
            records[student] = Record(CRASHED, [sentence])
        _save(course, lesson, records)
    write_feedback(course, lesson)
    return records


def _progress(students: list[str], lesson: str) -> Iterator[str]:
    from tqdm import tqdm

    tqdm.monitor_interval = 0  # its thread would be copied into no child, its lock into each
    yield from tqdm(students, desc=lesson, unit="submission", leave=True)


def _grade_one(course: Course, lesson: str, student: str, timeout: int, total: int) -> Record:
    if glob.has_magic(student):
        raise Unreadable(
            "nbgrader cannot work with a folder name that holds [, ], * or ?. Rename it."
        )
    folder = course.path("submitted", student, lesson)
    path, notes = find(folder, lesson)
    notebook, mended = repair(read(path), course.released(lesson))
    notes += mended
    target = course.path("repaired", student, lesson)
    target.mkdir(parents=True)
    if notes:
        notebook.cells.insert(0, _note_cell(notes))
    nbformat.write(notebook, target / f"{lesson}.ipynb")
    notes += _copy_timestamp(folder, target)
    course.convert(
        "Autograde",
        lesson,
        student,
        CourseDirectory={"submitted_directory": "repaired"},
        Autograde={"autograde_preprocessors": _steps()},
        Execute={"timeout": timeout, "total": total},
    )
    return _record(course, lesson, student, notes)


def _steps() -> list:
    """Return nbgrader's steps with our Execute in place of its own."""
    from nbgrader.converters import Autograde
    from nbgrader.preprocessors import Execute

    steps = Autograde.autograde_preprocessors.default_args[0]
    return [execute.Execute if step is Execute else step for step in steps]


def _note_cell(notes: list[str]) -> nbformat.NotebookNode:
    text = "**Before grading, this notebook was mended.**\n\n" + "\n".join(f"- {n}" for n in notes)
    return nbformat.v4.new_markdown_cell(text.replace("<", "&lt;"), id="grading-notes")


def _copy_timestamp(folder: Path, target: Path) -> list[str]:
    from nbgrader.utils import parse_utc

    path = folder / "timestamp.txt"
    if not path.is_file() or path.is_symlink():
        return []
    try:
        text = path.read_text(encoding="utf-8")[:100].strip()
        parse_utc(text)
    except (ValueError, OverflowError):
        return ["The time stamp could not be read and was left out."]
    (target / "timestamp.txt").write_text(text, encoding="utf-8")
    return []


def _record(course: Course, lesson: str, student: str, notes: list[str]) -> Record:
    """Read off the graded notebook whether a cell timed out or crashed."""
    path = course.path("autograded", student, lesson) / f"{lesson}.ipynb"
    graded = nbformat.read(path, as_version=4)
    status = GRADED
    for name, word in ((execute.TIMED_OUT, TIMED_OUT), (execute.CRASHED, CRASHED)):
        cells = [
            c.id for c in graded.cells if any(o.get("ename") == name for o in c.get("outputs", []))
        ]
        if cells:
            notes = [*notes, f"A cell {word}: {', '.join(cells)}."]
            status = word
    return Record(status, notes)


def _save(course: Course, lesson: str, records: dict[str, Record]) -> None:
    everything = statuses(course)
    everything[lesson] = records
    data = {name: {s: asdict(r) for s, r in found.items()} for name, found in everything.items()}
    (course.root / STATUS_FILE).write_text(json.dumps(data, indent=1), encoding="utf-8")


def statuses(course: Course) -> dict[str, dict[str, Record]]:
    """Return what was recorded when grading, by lesson and learner."""
    path = course.root / STATUS_FILE
    if not path.exists():
        return {}
    data = json.loads(path.read_text(encoding="utf-8"))
    return {name: {s: Record(**r) for s, r in found.items()} for name, found in data.items()}


def write_feedback(course: Course, lesson: str) -> None:
    """Write a page for each graded submission."""
    from nbgrader.converters.base import NbGraderException

    if not any(course.root.glob(f"autograded/*/{lesson}/{lesson}.ipynb")):
        return
    try:
        course.convert("GenerateFeedback", lesson)
    except NbGraderException:
        course.log.exception("feedback for %s", lesson)
