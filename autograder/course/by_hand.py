"""Say whose a file is where no platform did: by its name, or by a folder's.

It is what stands before the lesson in the file's name, or else a folder's name: of all ways to
read a download, the one that gives the fewest works of one lesson, from different folders, the
same name. Where most works have a folder that names them, a file's name does not count: a folder
is the instructor's, a file's name the learner's.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import PurePosixPath

from autograder.course.arrivals import TOP, Arrival
from autograder.course.lesson_names import called, in_name, lesson_of
from autograder.course.names import clean
from autograder.course.work import ROSTER, Work

DATE = re.compile(r"(?<!\d)(19|20)\d\d[-_.]?[01]\d[-_.]?[0-3]\d(?!\d)")
ATTEMPT = re.compile(
    r"(?<![^\W_])(attempt|draft|final|version|versuch|v\d)[ _-]?\d*(?![^\W_])", re.IGNORECASE
)
PLACE = re.compile(
    r"(week|woche|hw|homework|assignment|submissions?|downloads?|export|canvas|moodle)[ _-]?\d*",
    re.IGNORECASE,
)


def read_by_hand(
    arrivals: list[Arrival],
    lessons: list[str],
    alone: bool,
    known: Callable[[str], str | None] = lambda name: None,
) -> list[Work]:
    """Name all works of a download in the way that tells them apart best.

    `known` returns the learner whom a roster knows by a name; the outermost such name wins.
    """
    works = [_look(arrival, lessons, alone) for arrival in arrivals]
    notebooks = [w for w in works if w.arrival.is_notebook and w.lesson]
    depth = max((len(w.folders) for w in notebooks or works), default=0)
    readings = product((True, False), range(max(depth, 1)))
    best = min(readings, key=lambda reading: _confusion(notebooks, *reading))
    return [_known(w, known) or _name(w, *best, alone) for w in works]


def _look(arrival: Arrival, lessons: list[str], alone: bool) -> Work:
    """Note the names that may be a learner's: before the lesson, and of the folders around."""
    path = arrival.path
    said, lesson = lesson_of(path.name, path, lessons, arrival.zips)
    folders = tuple(f for f in reversed(path.parents) if clean(f.name) and not called(f.name))
    inner = [f for f in folders if f not in arrival.outer]
    if arrival.is_notebook and lesson and not inner and not in_name(path.name, lessons):
        said = path.name.partition(".ipynb")[0]  # warm_up/ada.ipynb
    if not arrival.is_notebook and inner:
        said = ""  # doe/plots_of_warm_up.png
    said = said.strip("._- ")
    if alone and not inner and (said or not arrival.is_notebook or lesson not in lessons):
        folders = ()  # what lies in an inbox does not make the inbox a learner
    return Work(arrival, None, lesson, said=said, folders=folders)


def _called(work: Work, folder: PurePosixPath) -> str:
    """Return a folder's name; of a zip that was handed in what stands before the lesson."""
    if folder not in work.arrival.zips:
        return folder.name
    found = in_name(folder.stem, [])
    return (found[0].strip("._- ") if found else "") or folder.stem


def _confusion(works: list[Work], by_file: bool, level: int) -> tuple:
    """Return what makes a way of reading worse: first of all, different works under one name."""
    groups: dict[tuple, list[Work]] = {}
    for work in works:
        folder = _folder(work, by_file, level)
        name = clean(_called(work, folder) if folder else work.said)
        groups.setdefault((name, work.lesson), []).append(work)
    clashes = 0
    for group in groups.values():
        places = innermost({w.folders[-1] if w.folders else TOP for w in group})
        clashes += max(len(places), len({w.said for w in group} - {""})) - 1
    files = sum(bool(w.said) for w in works)
    need = sum(bool(w.folders and not w.said) for w in works)
    without = {w.folders[-1] for w in works if w.folders and len(w.folders) <= level}
    return clashes, by_file == (need > files), len(without), -level


def innermost(folders: set[PurePosixPath]) -> set[PurePosixPath]:
    """Leave out folders around others: work in lee/ and in lee/old/ is of one learner."""
    return folders - {around for f in folders for around in f.parents}


def _folder(work: Work, by_file: bool, level: int) -> PurePosixPath | None:
    """Return the folder that names a work: on this level, or the last above it."""
    if not work.folders or (by_file and work.said):
        return None
    return work.folders[min(level, len(work.folders) - 1)]


def _name(work: Work, by_file: bool, level: int, alone: bool) -> Work:
    folder, outer = _folder(work, by_file, level), work.arrival.outer
    if alone and folder in outer and level > 0:
        return work  # it lies beside the learners' folders
    name = _called(work, folder) if folder else work.said
    others = [f.name for f in work.folders if f not in (folder, *outer)]
    source = PurePosixPath(name, *others)
    return replace(work, student=clean(name), folder=folder, source=source, doubt=_doubt(name))


def _known(work: Work, known: Callable[[str], str | None]) -> Work | None:
    """Return the work of somebody whom the roster knows by a folder's or the file's name."""
    for folder in (*work.folders, None):
        name = _called(work, folder) if folder else work.said
        if student := known(name):
            source = PurePosixPath(student)
            return replace(work, student=student, folder=folder, source=source, by=ROSTER)
    return None


def _doubt(name: str) -> str:
    """Say why a name is hardly a person's."""
    if DATE.search(name):
        return "the name holds a date"
    if ATTEMPT.search(name):
        return "the name counts an attempt"
    found = in_name(name, [])
    if found and found[1] != "bert":  # some people are called so
        return f"the name holds the lesson's, {found[1]}"
    if PLACE.fullmatch(name):
        return "it is hardly a person's name"
    return ""
