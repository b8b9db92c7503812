"""Say whose a file is, and for which lesson, by its name and the folders around it.

Whose a file is: Canvas writes `name[_LATE]_user_upload_file`; name and user are taken. Moodle
writes `Full Name_number_assignsubmission_file_`; the number is new in every assignment, so the
name alone is taken, unless two people share it. Elsewhere it is what stands before the lesson in
the file's name, or else a folder's name: of all ways to read a download, the one that gives the
fewest works of one lesson, from different folders, the same name. Those that still share a name
are kept apart as different people's. Versions of one work lie in one folder, or one inside it.
"""

import re
import zlib
from dataclasses import dataclass, replace
from itertools import product
from pathlib import PurePosixPath

from autograder.course.arrivals import CANVAS, TOP, Arrival
from autograder.repository import order

MOODLE = re.compile(r"(?P<name>.+)_(?P<number>\d{1,20})_assignsubmission_[a-z]+_?(?P<file>.*)")
COPY = re.compile(r"^(copy of|copie de|kopie von) ", re.IGNORECASE)
PATTERNS = (r"(?<![^\W\d_]){}(?![^\W\d_])", "{}")  # a word first: Robert's gpt is no bert


@dataclass(frozen=True)
class Work:
    """An arrival, and as far as its name tells: whose it is, and for which lesson."""

    arrival: Arrival
    student: str | None
    lesson: str | None
    said: str = ""  # the learner, if the file's name tells
    folders: tuple[PurePosixPath, ...] = ()  # around it, from the outside, which may be a learner's
    folder: PurePosixPath | None = None  # which gave the name; None: a file's name or a platform
    source: PurePosixPath = TOP  # the name as it was written, then the other folders around it
    number: str = ""  # Moodle's
    among: PurePosixPath = TOP  # where the folders of this download lie
    by_platform: bool = False  # Canvas or Moodle wrote the name


def labelled(arrivals: list[Arrival], lessons: list[str], notes: list[str]) -> list[Work]:
    """Say of every file whose it is; people of one name keep Moodle's numbers."""
    alone = len({arrival.given for arrival in arrivals}) == 1
    works = _named([_label(arrival, lessons, alone) for arrival in arrivals], alone)
    namesakes = _namesakes(works)
    for (_, name), numbers in namesakes.items():
        notes.append(
            f"{name}: two or more of this name; Moodle's numbers tell them apart "
            f"({', '.join(sorted(numbers))}), and are others in every assignment."
        )
    return [
        replace(w, student=f"{w.student}_{w.number}") if (w.among, w.student) in namesakes else w
        for w in works
    ]


def _namesakes(works: list[Work]) -> dict[tuple[PurePosixPath, str | None], set[str]]:
    """Return the names under which one lesson was handed in by several of Moodle's numbers."""
    lessons: dict[tuple, dict[str, set]] = {}
    for work in works:
        if work.number:
            numbers = lessons.setdefault((work.among, work.student), {})
            numbers.setdefault(work.number, set()).add(work.lesson)
    found = {}
    for key, numbers in lessons.items():
        known = [lesson for of in numbers.values() for lesson in (of - {None} or {None})]
        if len(numbers) > 1 and (None in known or len(set(known)) < len(known)):
            found[key] = set(numbers)
    return found


def _label(arrival: Arrival, lessons: list[str], alone: bool) -> Work:
    """Read a file's name and its folders', as a platform or a person wrote them."""
    path = arrival.path
    for depth, part in enumerate([path.name, *reversed(path.parent.parts)]):
        if found := MOODLE.fullmatch(part):
            lesson = _lesson(found["file"] or path.name, path, lessons)[1]
            work = _from_platform(arrival, found["name"], lesson)
            return replace(work, number=found["number"], among=path.parents[depth])
    if found := CANVAS.fullmatch(path.name):
        lesson = _lesson(found["file"], path, lessons)[1]
        return _from_platform(arrival, f"{found['name']}_{found['user']}", lesson)
    said, lesson = _lesson(path.name, path, lessons)
    folders = tuple(
        f for f in reversed(path.parents) if _clean(f.name) and not _lesson_called(f.name)
    )
    inner = [f for f in folders if f not in arrival.outer]
    if arrival.is_notebook and lesson and not inner and not _in_name(path.name, lessons):
        said = path.name.partition(".ipynb")[0]  # warm_up/ada.ipynb
    if not arrival.is_notebook and inner:
        said = ""  # doe/plots_of_warm_up.png
    said = said.strip("._- ")
    if alone and not inner and (said or not arrival.is_notebook or lesson not in lessons):
        folders = ()  # what lies in an inbox does not make the inbox a learner
    return Work(arrival, None, lesson, said, folders)


def _from_platform(arrival: Arrival, name: str, lesson: str | None) -> Work:
    return Work(arrival, _clean(name), lesson, source=PurePosixPath(name), by_platform=True)


def _named(works: list[Work], alone: bool) -> list[Work]:
    """Name the works that no platform named, in the way that tells them apart best."""
    plain = [w for w in works if not w.by_platform]
    known = [w for w in plain if w.arrival.is_notebook and w.lesson]
    depth = max((len(w.folders) for w in known or plain), default=0)
    readings = product((True, False), range(max(depth, 1)))
    best = min(readings, key=lambda reading: _confusion(known, *reading))
    return [w if w.by_platform else _name(w, *best, alone) for w in works]


def _confusion(works: list[Work], by_file: bool, level: int) -> tuple:
    """Return what makes a way of reading worse: first of all, different works under one name."""
    groups: dict[tuple, list[Work]] = {}
    for work in works:
        folder = _folder(work, by_file, level)
        name = _clean(folder.name if folder else work.said)
        groups.setdefault((name, work.lesson), []).append(work)
    clashes = 0
    for group in groups.values():
        places = _innermost({w.folders[-1] if w.folders else TOP for w in group})
        clashes += max(len(places), len({w.said for w in group} - {""})) - 1
    without = {w.folders[-1] for w in works if w.folders and len(w.folders) <= level}
    return clashes, not by_file, len(without), -level


def _innermost(folders: set[PurePosixPath]) -> set[PurePosixPath]:
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
    name = folder.name if folder else work.said
    others = [f.name for f in work.folders if f not in (folder, *outer)]
    return replace(work, student=_clean(name), folder=folder, source=PurePosixPath(name, *others))


def kept_apart(downloads: list[list[Work]], notes: list[str]) -> list[list[Work]]:
    """Give works of one learner and lesson names of their own where their sources differ."""
    sources: dict[tuple, set[PurePosixPath]] = {}
    for work in (w for works in downloads for w in works):
        if work.student and work.lesson and work.arrival.is_notebook:
            sources.setdefault((work.student, work.lesson), set()).add(work.source)
    shared: dict[str, set[PurePosixPath]] = {}
    for (student, _), found in sources.items():
        if len(several := _innermost(found)) > 1:
            shared.setdefault(student, set()).update(several)
    names: dict[tuple[str, PurePosixPath], str] = {}
    for student, several in shared.items():
        plain = [_clean(str(source)) for source in several]  # "doe/monday": doe_monday
        for source, name in zip(several, plain, strict=True):
            # not a running number: it would be another one when others hand in
            code = f"_{zlib.crc32(bytes(source)):08x}" if plain.count(name) > 1 else ""
            names[student, source] = name + code
        shown = ", ".join(f"{names[student, source]} ({source})" for source in sorted(several))
        notes.append(
            f"{student}: different works of one lesson, kept apart as different people's: {shown}. "
            "If it is one person, remove these from submitted/ and collect only the right file."
        )

    def own(work: Work) -> Work:
        around = [f for f in (work.source, *work.source.parents) if (work.student, f) in names]
        return replace(work, student=names[work.student, around[0]]) if around else work

    return [[own(work) for work in works] for works in downloads]


def _lesson(name: str, path: PurePosixPath, lessons: list[str]) -> tuple[str, str | None]:
    """Return what stands before the lesson in a name, and the lesson; else one a folder names.

    A lesson of the book that the course does not have is read too, so that a note can say so.
    """
    if found := _in_name(name, lessons):
        return found
    inside_out = (_lesson_called(folder) for folder in reversed(path.parent.parts))
    return "", next((lesson for lesson in inside_out if lesson), None)


def _in_name(name: str, lessons: list[str]) -> tuple[str, str] | None:
    return _split(name, lessons) or _split(name, order(), PATTERNS[:1])


def _lesson_called(folder: str) -> str | None:
    """Return the lesson that a folder is for; in small letters, as Bert may be a learner."""
    return next((n for n in order() if re.fullmatch(_spelled(n), folder)), None)


def _spelled(lesson: str) -> str:
    return lesson.replace("_", "[_ -]?")


def _split(
    name: str, lessons: list[str], patterns: tuple[str, ...] = PATTERNS
) -> tuple[str, str] | None:
    """Return what stands before the lesson in a name, and the lesson: the last one, as a word."""
    name = COPY.sub("", name)
    for pattern in patterns:
        found = [
            (match.end(), len(lesson), match.start(), lesson)
            for lesson in lessons
            for match in re.finditer(pattern.format(_spelled(lesson)), name, re.IGNORECASE)
        ]
        if found:
            *_, start, lesson = max(found)
            return name[:start], lesson
    return None


def _clean(name: str) -> str | None:
    """Return a name that may be a folder's."""
    return re.sub(r"[^\w@.-]+", "_", name).strip("._- ")[:100] or None
