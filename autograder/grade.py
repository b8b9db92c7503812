"""Grade submissions: repair (one by one), run (in parallel), save (one by one, through nbgrader).

The run phase touches no database; every submission ends with a status.
"""

import glob
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import nbformat

from autograder import batch, cluster, execute
from autograder.course import Course, CourseError
from autograder.repair import repair
from autograder.run import Settings
from autograder.submission import Missing, Unreadable, find, read
from autograder.wall.start import why_not

GRADED, HUMAN = "graded", "needs a human"
TIMED_OUT, CRASHED, UNREADABLE, MISSING = "timed out", "crashed", "unreadable", "missing"
STATUS_FILE = "status.json"
STORE = "results"  # what runs behind the wall left, by content


@dataclass
class Record:
    """How one submission's grading went; the scores themselves are in the gradebook."""

    status: str
    notes: list[str] = field(default_factory=list)
    key: str = ""  # what the result depended on
    walled: bool = True  # False: the learner's code ran with the grader's rights


@dataclass
class Ready:
    """A submission that was found and repaired, and what to note."""

    notes: list[str]
    job: batch.Job


def grade(
    course: Course,
    lesson: str,
    timeout: int = 30,
    total: int = 300,
    n_jobs: int | None = None,
    sandbox: bool = True,
    address: str | None = None,
) -> dict[str, Record]:
    """Grade everybody's work on one lesson, then write the feedback pages."""
    if address and not sandbox:
        raise CourseError("--cluster runs submissions behind walls only: leave --no-sandbox out.")
    if sandbox and not address and (reason := why_not()):
        raise CourseError(
            f"No sandbox can be made here: {reason}. With --no-sandbox learners' code is run "
            "with your rights."
        )
    course.prepare(lesson)
    settings = Settings(course.seed, timeout, total)
    before = statuses(course).get(lesson, {})
    records, ready = _repair_all(course, lesson, settings)
    if sandbox:
        records |= _run_all(course, lesson, ready, n_jobs, address)
    else:
        execute.warm()
    for student in _progress(sorted(ready.keys() - records.keys()), f"{lesson}, saving"):
        old = before.get(student)
        if (
            sandbox
            and old
            and old.walled
            and old.key == ready[student].job.key
            and _saved(course, lesson, student)
        ):
            records[student] = old  # nothing it depends on has changed
            continue
        records[student] = _save_one(course, lesson, student, ready[student], sandbox)
        _save(course, lesson, records)
    _save(course, lesson, records)
    write_feedback(course, lesson)
    return records


def _repair_all(course: Course, lesson: str, settings: Settings) -> tuple[dict, dict[str, Ready]]:
    """Find and repair what was handed in; who has nothing readable gets a status at once."""
    records: dict[str, Record] = {}
    ready: dict[str, Ready] = {}
    for student in course.students():
        try:
            ready[student] = _repair_one(course, lesson, student, settings)
        except (Missing, Unreadable) as problem:
            course.forget(lesson, student)  # no old score stands for a file that is not there
            status = MISSING if isinstance(problem, Missing) else UNREADABLE
            records[student] = Record(status, [str(problem)])
        except Exception as problem:  # one submission must not stop the others
            records[student] = _crash(course, lesson, student, problem)
    return records, ready


def _repair_one(course: Course, lesson: str, student: str, settings: Settings) -> Ready:
    if glob.has_magic(student):
        raise Unreadable(
            "nbgrader cannot work with a folder name that holds [, ], * or ?. Rename it."
        )
    folder = course.path("submitted", student, lesson)
    path, notes = find(folder, lesson)
    notebook, mended = repair(read(path), course.released(lesson))
    notes += mended
    target = course.path("repaired", student, lesson)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    if notes:
        notebook.cells.insert(0, _note_cell(notes))
    text = nbformat.writes(notebook)
    (target / f"{lesson}.ipynb").write_text(text, encoding="utf-8")
    notes += _copy_timestamp(folder, target)
    return Ready(notes, batch.Job(lesson, text, settings))


def _run_all(
    course: Course, lesson: str, ready: dict[str, Ready], n_jobs: int | None, address: str | None
) -> dict[str, Record]:
    """Run the notebooks behind walls; return the records of those that could not be run at all."""
    waiting = {r.job.key: r.job for r in ready.values()}  # two equal notebooks are run once
    store = course.root / STORE
    if address:
        running = cluster.run_jobs(waiting.values(), store, address)
    else:
        here = n_jobs or len(os.sched_getaffinity(0))
        running = batch.run_jobs(waiting.values(), store, here)
    failed = set()
    for job, ran in _progress(running, f"{lesson}, running", total=len(waiting)):
        if not ran:
            failed.add(job.key)
    records = {}
    for student, work in ready.items():
        if work.job.key in failed:
            course.forget(lesson, student)
            text = "The process that ran this notebook died each time; grade it by hand."
            records[student] = Record(CRASHED, [text])
    return records


def _progress(items: Iterable, text: str, total: int | None = None) -> Iterator:
    from tqdm import tqdm

    tqdm.monitor_interval = 0  # its thread would be copied into no child, its lock into each
    yield from tqdm(items, desc=text, total=total, unit="submission", leave=True)


def _crash(course: Course, lesson: str, student: str, problem: Exception) -> Record:
    course.log.exception("grading %s of %s", lesson, student)
    course.forget(lesson, student)
    sentence = f"Grading failed ({type(problem).__name__}); nbgrader.log has the details."
    return Record(CRASHED, [sentence])


def _saved(course: Course, lesson: str, student: str) -> bool:
    return (course.path("autograded", student, lesson) / f"{lesson}.ipynb").exists()


def _save_one(course: Course, lesson: str, student: str, work: Ready, sandbox: bool) -> Record:
    """Let nbgrader put one result into the gradebook; a failure leaves no old score behind."""
    course.forget(lesson, student, repaired=False)
    kept = batch.place(course.root / STORE, work.job)
    options = {"timeout": int(work.job.settings.timeout), "total": int(work.job.settings.total)}
    try:
        course.convert(
            "Autograde",
            lesson,
            student,
            CourseDirectory={"submitted_directory": "repaired"},
            Autograde={"autograde_preprocessors": _steps()},
            Execute={**options, "kept": str(kept) if sandbox else ""},
        )
        deaths = batch.kept(kept).deaths if sandbox else {}
        return _record(course, lesson, student, work, deaths, sandbox)
    except Exception as problem:  # one submission must not stop the others
        return _crash(course, lesson, student, problem)


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


def _record(
    course: Course, lesson: str, student: str, work: Ready, deaths: dict, walled: bool
) -> Record:
    """Say how it went: whether a cell, or the code that a check called, timed out or crashed."""
    path = course.path("autograded", student, lesson) / f"{lesson}.ipynb"
    graded = nbformat.read(path, as_version=4)
    for cell in graded.cells:
        for output in cell.get("outputs", []):
            if output.get("ename") in (execute.TIMED_OUT, execute.CRASHED):
                deaths = {**deaths, cell.id: output["ename"]}
    status, notes = GRADED, list(work.notes)
    for name, word in ((execute.TIMED_OUT, TIMED_OUT), (execute.CRASHED, CRASHED)):
        cells = [cell for cell, how in deaths.items() if how == name]
        if cells:
            notes.append(f"A cell {word}: {', '.join(cells)}.")
            status = word
    return Record(status, notes, work.job.key, walled)


def _save(course: Course, lesson: str, records: dict[str, Record]) -> None:
    everything = statuses(course)
    everything[lesson] = records
    data = {name: {s: asdict(r) for s, r in found.items()} for name, found in everything.items()}
    part = course.root / f"{STATUS_FILE}.part"
    part.write_text(json.dumps(data, indent=1), encoding="utf-8")
    part.replace(course.root / STATUS_FILE)  # whole or not at all, whenever we are killed


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
