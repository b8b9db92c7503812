"""Grade submissions: repair (one by one), run (several at a time), save as the results come.

The run phase touches no database; every submission ends with a status.
"""

import contextlib
import glob
import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import nbformat

from autograder.course.course import Course
from autograder.course.gradebook import OneGradebook, one_gradebook
from autograder.course.lateness import settle
from autograder.course.lock import only_writer
from autograder.course.private import make_private
from autograder.course.releases import known_releases
from autograder.course.repair import repair
from autograder.course.scores import saved_scores
from autograder.course.status import (
    BROKEN,
    GRADED,
    MISSING,
    OUT_OF_TIME,
    UNREADABLE,
    Diary,
    Record,
    statuses,
)
from autograder.course.submission import find, read
from autograder.course.trouble import stop_at
from autograder.errors import Missing, Unreadable
from autograder.grading.agreement import agree
from autograder.grading.marks_by_hand import Marks
from autograder.grading.saving import Saver
from autograder.report.feedback import write_pages
from autograder.running.in_time import OutOfTime, each_in_time
from autograder.running.runner import Job, Runner, Settings, place
from autograder.wall.session import CRASHED, TIMED_OUT

LATE = "Reading and mending this notebook was stopped: {}. Look at it by hand."
LOST = "The process that ran this notebook died each time; grade it by hand."


@dataclass
class Ready:
    """A submission that was found and repaired: its notebook, what to note, its result's name."""

    notes: list[str]
    path: Path
    key: str  # of the result: what running it depends on
    content: str  # of what is saved: the result, and all that the notebook says

    def saved(self, course: Course, old: Record | None, scores: str | None) -> bool:
        """Say whether this very content is saved; `scores` are what the gradebook has of it."""
        *_, student, lesson, name = self.path.parts
        there = (course.path("autograded", student, lesson) / name).exists()
        if old is None or old.content != self.content:
            return False
        return there and bool(old.saved) and old.saved == scores


def grade(course: Course, lesson: str, runner: Runner, pages: bool = True) -> dict[str, Record]:
    """Grade everybody's work on one lesson, then write the feedback pages."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # all is on the CPU; a GPU's threads forbid to fork
    with contextlib.ExitStack() as stack:
        stack.enter_context(only_writer(course.root, "grade"))
        stack.callback(runner.rest)
        make_private(course.root, course.is_shared)
        agree(course, lesson)
        course.prepare(lesson)
        marks = _marks(course, lesson)  # before anything is taken back
        before = statuses(course).get(lesson, {})
        diary = Diary(course, lesson, before)
        ready = _repair_all(course, lesson, runner, diary)
        gradebook = stack.enter_context(one_gradebook(course))
        scores = saved_scores(gradebook, lesson)
        saver = Saver(course, lesson, marks)
        running = _results(course, lesson, ready, runner)
        try:
            for student, ran in _progress(running, lesson, total=len(ready)):
                work, old = ready[student], before.get(student)
                if not ran:
                    course.forget(lesson, student, gradebook=gradebook)
                    gradebook.commit()
                    diary.note(student, Record((BROKEN,), [LOST]))
                elif old and work.saved(course, old, scores.get(student)):
                    diary.note(student, old)  # nothing it depends on has changed
                else:
                    record = _save_one(course, student, work, runner.walled, saver, gradebook)
                    record.capped = runner.capped
                    diary.note(student, record)
        finally:
            diary.write()
            marks.write()
    diary.complete()
    with course.gradebook() as gradebook:
        settle(course, lesson, gradebook)
    if pages:
        write_feedback(course, lesson, runner.n_jobs)
    return diary.records


def _marks(course: Course, lesson: str) -> Marks:
    """Read the marks that a human gave, and have them in a file before anything is changed."""
    marks = Marks(course, lesson)
    with course.gradebook() as gradebook:
        marks.read(gradebook)
    marks.write()
    return marks


def _repair_all(course: Course, lesson: str, runner: Runner, diary: Diary) -> dict[str, Ready]:
    """Find and repair what was handed in; who has nothing readable gets a status at once."""
    released, settings = course.released(lesson), runner.settings(course.seed)
    ready: dict[str, Ready] = {}

    def one(student: str) -> Ready:
        return _repair_one(course, lesson, student, settings, released)

    for student, made, problem in each_in_time(one, course.students(), runner.n_jobs):
        if problem is None:
            ready[student] = made
            if not place(course.results, made.key).exists():
                runner.warm(lesson)  # what runs it may begin to start
        elif isinstance(problem, Missing | Unreadable):
            course.forget(lesson, student)  # no old score stands for a file that is not there
            status = MISSING if isinstance(problem, Missing) else UNREADABLE
            diary.note(student, Record((status,), [str(problem)]))
        elif isinstance(problem, OutOfTime):
            course.forget(lesson, student)
            diary.note(student, Record((OUT_OF_TIME,), [LATE.format(problem)]))
        else:  # one submission must not stop the others
            diary.note(student, _crash(course, lesson, student, problem))
    return ready


def _repair_one(
    course: Course, lesson: str, student: str, settings: Settings, released: nbformat.NotebookNode
) -> Ready:
    if glob.has_magic(student):
        raise Unreadable(
            "nbgrader cannot work with a folder name that holds [, ], * or ?. Rename it."
        )
    folder = course.path("submitted", student, lesson)
    path, notes = find(folder, lesson)
    notebook, mended = repair(read(path), released, known_releases(course, lesson))
    notes += mended
    target = course.path("repaired", student, lesson)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    if notes:
        notebook.cells.insert(0, _note_cell(notes))
    text = nbformat.writes(notebook)
    repaired = target / f"{lesson}.ipynb"
    repaired.write_text(text, encoding="utf-8")
    notes += _copy_timestamp(folder, target)
    key = Job(lesson, text, settings).key
    content = hashlib.sha256(f"{key} {text}".encode()).hexdigest()
    return Ready(notes, repaired, key, content)


def _results(
    course: Course, lesson: str, ready: dict[str, Ready], runner: Runner
) -> Iterator[tuple[str, bool]]:
    """Yield everybody when the result is there, and whether the notebook could be run at all."""
    handed_in: dict[str, list[str]] = {}  # two equal notebooks are run once
    for student in sorted(ready):
        handed_in.setdefault(ready[student].key, []).append(student)
    settings = runner.settings(course.seed)
    texts = (ready[students[0]].path for students in handed_in.values())
    jobs = (Job(lesson, path.read_text(encoding="utf-8"), settings) for path in texts)
    for job, ran in runner.run(jobs, course.results):
        yield from ((student, ran) for student in handed_in[job.key])


def _progress(items: Iterable, text: str, total: int) -> Iterator:
    from tqdm import tqdm

    tqdm.monitor_interval = 0  # its thread would be copied into no child, its lock into each
    yield from tqdm(items, desc=text, total=total, unit="submission", leave=True)


def _crash(
    course: Course,
    lesson: str,
    student: str,
    problem: BaseException,
    gradebook: OneGradebook | None = None,
) -> Record:
    stop_at(problem, course.root)
    course.log.error("grading %s of %s", lesson, student, exc_info=problem)  # maybe a child's
    course.forget(lesson, student, gradebook=gradebook)
    sentence = f"Grading failed ({type(problem).__name__}); nbgrader.log has the details."
    return Record((BROKEN,), [sentence])


def _save_one(
    course: Course,
    student: str,
    work: Ready,
    walled: bool,
    saver: Saver,
    gradebook: OneGradebook,
) -> Record:
    """Let nbgrader put one result into the gradebook; a failure leaves no old score behind."""
    try:
        lost = not saved_scores(gradebook, saver.lesson, student)  # or new: then nothing is kept
        course.forget(saver.lesson, student, repaired=False, gradebook=gradebook)
        deaths = saver.save(student, place(course.results, work.key))
        saver.marks.let_stand(student, gradebook, lost)
        scores = saved_scores(gradebook, saver.lesson, student)
        gradebook.commit()
        return replace(_record(work, deaths, walled), saved=scores.get(student, ""))
    except Exception as problem:  # one submission must not stop the others
        gradebook.rollback()
        made = _crash(course, saver.lesson, student, problem, gradebook)
        gradebook.commit()
        return made


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


def _record(work: Ready, deaths: dict[str, str], walled: bool) -> Record:
    """Say how it went: whether a cell, or the code that a check called, timed out or crashed."""
    facts, notes = [GRADED], list(work.notes)
    for name, word in ((TIMED_OUT, OUT_OF_TIME), (CRASHED, BROKEN)):
        cells = [cell for cell, how in deaths.items() if how == name]
        if cells:
            notes.append(f"A cell {word}: {', '.join(cells)}.")
            facts.append(word)
    return Record(tuple(facts), notes, work.content, walled)


def write_feedback(course: Course, lesson: str, n_jobs: int) -> dict[str, str]:
    """Write a page for each graded submission; return whose shows less than it should, and why."""
    graded = sorted(course.root.glob(f"autograded/*/{lesson}/{lesson}.ipynb"))
    here = set(course.students())  # a folder may be left of one who is not in the course any more
    students = [path.parts[-3] for path in graded if path.parts[-3] in here]
    return write_pages(course, lesson, students, n_jobs)
