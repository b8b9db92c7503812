"""Take submissions from folders and zips into a course: the newest of each work, nothing lost."""

import contextlib
from dataclasses import dataclass, field
from pathlib import Path

from autograder.course.arrivals import downloads
from autograder.course.course import Course
from autograder.course.deadlines import read_deadlines
from autograder.course.leftovers import told
from autograder.course.names import shown
from autograder.course.record import read_record, write_record
from autograder.course.roster import Roster, carried, keep_roster, kept_roster, read_roster
from autograder.course.taking import newest, put, weaker
from autograder.course.whose import kept_apart, labelled
from autograder.course.work import Work


@dataclass
class Harvest:
    """What came of collecting: by learner and lesson, and all that needs a look."""

    taken: dict[tuple[str, str], Work] = field(default_factory=dict)
    doubtful: list[Work] = field(default_factory=list)  # not in the roster, say: not taken
    missing: list[tuple[str, str]] = field(default_factory=list)  # in the roster, nothing came
    notes: list[str] = field(default_factory=list)


def collect(course: Course, paths: list[Path]) -> tuple[dict[tuple[str, str], str], list[str]]:
    """Copy every notebook that can be told apart; return {(student, lesson): from} and notes."""
    harvest = gather(course, paths)
    return {k: str(w.arrival.path) for k, w in harvest.taken.items()}, harvest.notes


def gather(
    course: Course, paths: list[Path], class_list: Path | None = None, dry_run: bool = False
) -> Harvest:
    """Collect, or with `dry_run` only say what would be; a class list is kept in the course."""
    harvest = Harvest()
    versions: dict[tuple[str, str], list[Work]] = {}
    lessons, record, deadlines = course.lessons, read_record(course), read_deadlines(course)
    roster = kept_roster(course)
    if class_list:
        roster = carried(read_roster(class_list), roster)
    met = {person.key for person in roster.people} if roster else set()
    with contextlib.ExitStack() as open_zips:
        files = downloads(paths, open_zips, harvest.notes)
        named = [labelled(arrivals, lessons, harvest.notes, roster) for arrivals in files]
        for works in kept_apart(_sifted(named, harvest), harvest.notes):
            for work in works:
                if work.arrival.is_notebook and work.student and work.lesson in lessons:
                    versions.setdefault((work.student, work.lesson), []).append(work)
            met |= told(course, works, harvest.notes)
        for (student, lesson), found in versions.items():
            met.add(student)
            if doubt := found[0].doubt:
                remove = f"No learner? Remove submitted/{student}."
                harvest.notes.append(f"{student}: doubtful, {doubt}. {remove}")
            before = record.get(student, {}).get(lesson)
            if chosen := newest(course, found, before, harvest.notes):
                harvest.taken[student, lesson] = chosen[0]
                if not dry_run:
                    made = put(course, *chosen, deadlines)
                    record.setdefault(student, {})[lesson] = made
    harvest.missing = _missing(course, roster, {lesson for _, lesson in versions}, harvest)
    harvest.notes = [shown(note) for note in harvest.notes]
    if not dry_run:
        for student in met:  # a row in every table, with or without a notebook
            (course.root / "submitted" / student).mkdir(parents=True, exist_ok=True)
        write_record(course, record)
        if class_list and roster is not None:
            keep_roster(course, roster)
    return harvest


def _sifted(downloads: list[list[Work]], harvest: Harvest) -> list[list[Work]]:
    """Leave out who is not in the roster, and what only people's names give to a platform's."""
    known = {(w.student, w.lesson) for works in downloads for w in works if w.by and not w.barred}
    made = []
    for works in downloads:
        kept = []
        for work in works:
            if work.barred:
                harvest.doubtful.append(work)
            elif work.by or not work.student or (work.student, work.lesson) not in known:
                kept.append(work)
            elif work.arrival.is_notebook:
                harvest.notes.append(weaker(work))
        made.append(kept)
    return made


def _missing(
    course: Course, roster: Roster | None, lessons: set[str], harvest: Harvest
) -> list[tuple[str, str]]:
    """Return who in the roster has handed in nothing of the lessons that others did, or before."""
    return [
        (person.key, lesson)
        for lesson in course.lessons
        for person in (roster.people if roster else [])
        if lesson in lessons
        and (person.key, lesson) not in harvest.taken
        and not any(course.path("submitted", person.key, lesson).glob("*.ipynb"))
    ]
