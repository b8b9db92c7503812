"""Take submissions from folders and zips into a course: the newest of each work, nothing lost."""

import contextlib
import os
import zipfile
import zlib
from pathlib import Path

from autograder.course.arrivals import Arrival, downloads
from autograder.course.course import Course
from autograder.course.submission import MAX_BYTES
from autograder.course.whose import Work, kept_apart, labelled

GRAIN = 2.0  # seconds: a zip counts in twos


def collect(course: Course, paths: list[Path]) -> tuple[dict[tuple[str, str], str], list[str]]:
    """Copy every notebook that can be told apart; return {(student, lesson): from} and notes."""
    taken: dict[tuple[str, str], str] = {}
    notes: list[str] = []
    versions: dict[tuple[str, str], list[Arrival]] = {}
    lessons = course.lessons
    with contextlib.ExitStack() as open_zips:
        named = [labelled(arrivals, lessons, notes) for arrivals in downloads(paths, open_zips)]
        for works in kept_apart(named, notes):
            for work in works:
                if work.arrival.is_notebook and work.student and work.lesson in lessons:
                    versions.setdefault((work.student, work.lesson), []).append(work.arrival)
            _note_the_rest(course, works, notes)
        for (student, lesson), arrivals in versions.items():
            _register(course, student)
            if newest := _take(course, student, lesson, arrivals, notes):
                taken[student, lesson] = str(newest.path)
    return taken, notes


def _register(course: Course, student: str) -> None:
    """Give a learner a row in every table, with or without a notebook."""
    (course.root / "submitted" / student).mkdir(parents=True, exist_ok=True)


def _take(
    course: Course, student: str, lesson: str, arrivals: list[Arrival], notes: list[str]
) -> Arrival | None:
    """Copy the newest version that can be read, unless a newer one was collected before."""
    *older, newest = sorted(arrivals, key=lambda a: a.age)
    data = _data(newest, notes)
    if data is None:
        return _take(course, student, lesson, older, notes) if older else None
    for arrival in older:
        notes.append(f"{student}, {lesson}: {newest.path} replaces the older {arrival.path}.")
    target, when = course.path("submitted", student, lesson) / f"{lesson}.ipynb", newest.when
    if target.is_file():
        before = target.stat().st_mtime
        if before > when + GRAIN and target.read_bytes() != data:
            notes.append(
                f"{student}, {lesson}: {newest.path} is older than what was collected before, and "
                f"is left out. To take it all the same, remove {target} first."
            )
            return None
        if abs(when - before) <= GRAIN and target.read_bytes() != data:
            notes.append(
                f"{student}, {lesson}: {newest.path} replaces another file of the same date, which "
                "was collected before. If that was somebody else's, give each a name of its own."
            )
        when = max(when, before)
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(data)
    os.utime(target, (when, when))
    return newest


def _data(arrival: Arrival, notes: list[str]) -> bytes | None:
    if arrival.size > MAX_BYTES:
        notes.append(f"{arrival.path}: left out, it is larger than {MAX_BYTES // 1_000_000} MB.")
        return None
    try:
        return arrival.read()
    except (zipfile.BadZipFile, zlib.error, RuntimeError, OSError) as problem:
        notes.append(f"{arrival.path}: left out, it cannot be read ({problem}).")
        return None


def _note_the_rest(course: Course, works: list[Work], notes: list[str]) -> None:
    """Tell of notebooks without a label, of learners without a notebook, and of stray files."""
    lessons = course.lessons
    notebooks = [w for w in works if w.arrival.is_notebook]
    places = {w.arrival.path.parent for w in notebooks}
    around = {folder for place in places for folder in (place, *place.parents)}
    for work in notebooks:
        if work.lesson and work.lesson not in lessons:
            notes.append(
                f"{work.arrival.path}: left out, {work.lesson} is no lesson of this course. "
                f"To add it: python -m autograder init {course.root} {work.lesson}"
            )
        elif not (work.student and work.lesson):
            missing = "whose it is" if work.lesson else "which lesson it is"
            notes.append(f"{work.arrival.path}: left out, the name does not say {missing}.")
        else:
            continue
        if work.student:
            _register(course, work.student)
    has = {(w.student, w.lesson) for w in notebooks} | {(w.student, None) for w in notebooks}
    others: dict[str, list[str]] = {}
    for work in works:
        if work.arrival.is_notebook or (work.student and (work.student, work.lesson) in has):
            continue
        if work.arrival.is_zip and not work.by_platform:  # perhaps a whole download, not a work
            notes.append(
                f"{work.arrival.path}: left out, a zip inside a folder or a zip is not opened. "
                "Name it itself to collect it."
            )
            continue
        # a folder with notebooks in it, below it or around it is no learner's own
        inner = places.difference(work.arrival.outer)
        beside = work.folder and (work.folder in around or {*work.folder.parents} & inner)
        if not beside:
            others.setdefault(work.student or "", []).append(work.arrival.path.name)
    for student, names in others.items():
        shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
        if student:
            _register(course, student)
        notes.append(f"{student}: no notebook, only {shown}." if student else f"Left out: {shown}.")
