"""Take submissions from folders and zips into a course: the newest of each work, nothing lost."""

import contextlib
import os
from pathlib import Path

from autograder.course.arrivals import Arrival, downloads
from autograder.course.course import Course
from autograder.course.names import shown
from autograder.course.record import Record, Taken, read_record, write_record
from autograder.course.submission import MAX_BYTES
from autograder.course.whose import kept_apart, labelled
from autograder.course.work import Work

GRAIN = 2.0  # seconds: a zip counts in twos


def collect(course: Course, paths: list[Path]) -> tuple[dict[tuple[str, str], str], list[str]]:
    """Copy every notebook that can be told apart; return {(student, lesson): from} and notes."""
    taken: dict[tuple[str, str], str] = {}
    notes: list[str] = []
    versions: dict[tuple[str, str], list[Work]] = {}
    lessons, record = course.lessons, read_record(course)
    with contextlib.ExitStack() as open_zips:
        named = [labelled(files, lessons, notes) for files in downloads(paths, open_zips, notes)]
        for works in kept_apart(_platforms_first(named, notes), notes):
            for work in works:
                if work.arrival.is_notebook and work.student and work.lesson in lessons:
                    versions.setdefault((work.student, work.lesson), []).append(work)
            _note_the_rest(course, works, notes)
        for (student, lesson), found in versions.items():
            _register(course, student)
            if doubt := found[0].doubt:
                notes.append(
                    f"{student}: doubtful, {doubt}. No learner? Remove submitted/{student}."
                )
            if newest := _take(course, student, lesson, found, record, notes):
                taken[student, lesson] = str(newest.arrival.path)
                record.setdefault(student, {})[lesson] = Taken(
                    shown(str(newest.arrival.path)), newest.origin
                )
    write_record(course, record)
    return taken, [shown(note) for note in notes]


def _platforms_first(downloads: list[list[Work]], notes: list[str]) -> list[list[Work]]:
    """Leave out what only people's names give to a learner who handed in on a platform."""
    known = {(w.student, w.lesson) for works in downloads for w in works if w.by}
    made = []
    for works in downloads:
        kept = []
        for work in works:
            if work.by or not work.student or (work.student, work.lesson) not in known:
                kept.append(work)
            elif work.arrival.is_notebook:
                notes.append(_weaker(work, work.student, work.lesson))
        made.append(kept)
    return made


def _weaker(work: Work, student: str, lesson: str) -> str:
    return (
        f"{work.arrival.path}: left out, only a name that somebody wrote makes it {student}'s "
        f"{lesson}; what is there was handed in under the platform's own name."
    )


def _register(course: Course, student: str) -> None:
    """Give a learner a row in every table, with or without a notebook."""
    (course.root / "submitted" / student).mkdir(parents=True, exist_ok=True)


def _take(
    course: Course, student: str, lesson: str, works: list[Work], record: Record, notes: list[str]
) -> Work | None:
    """Copy the newest version that can be read, unless a newer one was collected before."""
    *older, newest = sorted(works, key=lambda w: w.age)
    data = _data(newest.arrival, notes)
    if data is None:
        return _take(course, student, lesson, older, record, notes) if older else None
    path = newest.arrival.path
    for work in older:
        notes.append(f"{student}, {lesson}: {path} replaces the older {work.arrival.path}.")
    target, when = (
        course.path("submitted", student, lesson) / f"{lesson}.ipynb",
        newest.arrival.when,
    )
    if target.is_file():
        same = target.read_bytes() == data
        before = target.stat().st_mtime
        if not same and (reason := _refused(newest, record.get(student, {}).get(lesson))):
            notes.append(reason)
            return None
        if before > when + GRAIN and not same:
            notes.append(
                f"{student}, {lesson}: {path} is older than what was collected before, and "
                f"is left out. To take it all the same, remove {target} first."
            )
            return None
        if abs(when - before) <= GRAIN and not same:
            notes.append(
                f"{student}, {lesson}: {path} replaces another file of the same date, which "
                "was collected before. If that was somebody else's, give each a name of its own."
            )
        when = max(when, before)
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(data)
    os.utime(target, (when, when))
    return newest


def _refused(work: Work, before: Taken | None) -> str | None:
    """Say why a work must not replace what was collected before under another outer name."""
    if not before or not before.origin or work.origin == before.origin:
        return None
    if not work.by:
        return _weaker(work, work.student, work.lesson)
    platform = before.origin.partition(" ")[0]
    if work.by == platform:
        return (
            f"{work.arrival.path}: left out, {platform} has it under another number than what was "
            f"collected as {work.student}'s {work.lesson}: another person of that name? A roster "
            "would know them: --roster."
        )
    return None


def _data(arrival: Arrival, notes: list[str]) -> bytes | None:
    if arrival.size > MAX_BYTES:
        notes.append(f"{arrival.path}: left out, it is larger than {MAX_BYTES // 1_000_000} MB.")
        return None
    try:
        return arrival.read()
    except Exception as problem:  # one bad member costs one note, whatever its damage raises
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
        # a folder with notebooks in it, below it or around it is no learner's own
        inner = places.difference(work.arrival.outer)
        beside = work.folder and (work.folder in around or {*work.folder.parents} & inner)
        if not beside:
            others.setdefault(work.student or "", []).append(work.arrival.path.name)
    for student, names in others.items():
        told = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
        if student:
            _register(course, student)
        notes.append(f"{student}: no notebook, only {told}." if student else f"Left out: {told}.")
