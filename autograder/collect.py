"""Take submissions from folders and LMS zips into a course's submitted/ folder.

Whose a file is: Canvas writes `name[_LATE]_user_upload_file`; name and user are taken. Moodle
writes `Full Name_number_assignsubmission_file_`; the number is new in every assignment, so the
name alone is taken, unless two people share it. Elsewhere it is what stands before the lesson in
the file's name, or else the folder's name.
"""

import contextlib
import os
import re
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from autograder.course import Course, CourseError
from autograder.submission import MAX_BYTES

CANVAS = re.compile(r"(?P<name>.+?)(_LATE)?_(?P<user>\d{1,20})_(?P<upload>\d{1,20})_(?P<file>.+)")
MOODLE = re.compile(r"(?P<name>.+)_(?P<number>\d{1,20})_assignsubmission_[a-z]+_?(?P<file>.*)")
COPY = re.compile(r"^(copy of|copie de|kopie von) ", re.IGNORECASE)
AGAIN = re.compile(r"[-(](\d{1,4})\)?\.ipynb", re.IGNORECASE)  # warm_up-1.ipynb, warm_up (1).ipynb
NO_DATE = (1980, 1, 1, 0, 0, 0)  # of a zip that keeps no dates
GRAIN = 2.0  # seconds: a zip counts in twos
TOP = PurePosixPath()


@dataclass(frozen=True)
class Arrival:
    """A file that was handed in: where it lay, when it was written, and how to get its bytes."""

    path: PurePosixPath
    when: float
    size: int
    read: Callable[[], bytes]

    @property
    def is_notebook(self) -> bool:
        return ".ipynb" in self.path.name.lower()

    @property
    def age(self) -> tuple:
        """Return what sorts the versions of one work: Canvas counts uploads, others keep a date."""
        upload, again = CANVAS.fullmatch(self.path.name), AGAIN.search(self.path.name)
        number = int(again[1]) if again else 0
        return int(upload["upload"]) if upload else 0, self.when, number, str(self.path)


@dataclass(frozen=True)
class Work:
    """An arrival, and as far as its name tells: whose it is, and for which lesson."""

    arrival: Arrival
    student: str | None
    lesson: str | None
    folder: PurePosixPath | None = None  # which gave the name; None: a file's name or a platform
    number: str = ""  # Moodle's
    among: PurePosixPath = TOP  # where the folders of this download lie


def collect(course: Course, paths: list[Path]) -> tuple[dict[tuple[str, str], str], list[str]]:
    """Copy every notebook that can be told apart; return {(student, lesson): from} and notes."""
    taken: dict[tuple[str, str], str] = {}
    notes: list[str] = []
    versions: dict[tuple[str, str], list[Arrival]] = {}
    with contextlib.ExitStack() as open_zips:
        for path in paths:
            works = _labelled(_arrivals(path, open_zips), course.lessons, notes)
            for work in works:
                if work.arrival.is_notebook and work.student and work.lesson:
                    versions.setdefault((work.student, work.lesson), []).append(work.arrival)
            _note_the_rest(course, works, notes)
        for (student, lesson), arrivals in versions.items():
            _register(course, student)
            if newest := _take(course, student, lesson, arrivals, notes):
                taken[student, lesson] = str(newest.path)
    return taken, notes


def _register(course: Course, student: str) -> None:
    """Give a learner a row in every table, with or without a notebook."""
    (course.root / "submitted" / student).mkdir(exist_ok=True)


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
    notebooks = [w for w in works if w.arrival.is_notebook]
    places = {w.arrival.path.parent for w in notebooks}
    around = {folder for place in places for folder in (place, *place.parents)}
    for work in notebooks:
        if not (work.student and work.lesson):
            missing = "whose it is" if work.lesson else "which lesson it is"
            notes.append(f"{work.arrival.path}: left out, the name does not say {missing}.")
            if work.student:
                _register(course, work.student)
    has = {(w.student, w.lesson) for w in notebooks} | {(w.student, None) for w in notebooks}
    others: dict[str, list[str]] = {}
    for work in works:
        if work.arrival.is_notebook or (work.student and (work.student, work.lesson) in has):
            continue
        # a folder with notebooks in it, below it or around it is no learner's own
        beside = work.folder and (work.folder in around or {*work.folder.parents} & places - {TOP})
        if not beside:
            others.setdefault(work.student or "", []).append(work.arrival.path.name)
    for student, names in others.items():
        shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
        if student:
            _register(course, student)
        notes.append(f"{student}: no notebook, only {shown}." if student else f"Left out: {shown}.")


def _arrivals(path: Path, open_zips: contextlib.ExitStack) -> Iterator[Arrival]:
    """Yield the files in a folder or a zip, or the single notebook."""
    if path.is_dir():
        yield from _from_folder(path)
    elif not path.exists():
        raise CourseError(f"{path} is not there.")
    elif zipfile.is_zipfile(path):
        yield from _from_zip(path, open_zips)
    elif ".ipynb" in path.name and path.is_file():
        yield _from_file(PurePosixPath(path.name), path)
    else:
        raise CourseError(f"{path} is neither a folder, nor a zip, nor a notebook.")


def _hidden(path: PurePosixPath) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in path.parts)


def _from_file(path: PurePosixPath, file: Path) -> Arrival:
    found = file.stat()
    return Arrival(path, found.st_mtime, found.st_size, file.read_bytes)


def _from_folder(root: Path) -> Iterator[Arrival]:
    for file in sorted(f for f in root.rglob("*") if f.is_file() and not f.is_symlink()):
        path = PurePosixPath(file.relative_to(root).as_posix())
        inside = file.resolve().is_relative_to(root.resolve())  # not through a linked folder
        if inside and not _hidden(path):
            yield _from_file(path, file)


def _from_zip(path: Path, open_zips: contextlib.ExitStack) -> Iterator[Arrival]:
    """Members are read into memory: a name in the zip never becomes a path on the disk."""
    try:
        archive = open_zips.enter_context(zipfile.ZipFile(path))
    except (zipfile.BadZipFile, OSError) as problem:
        raise CourseError(f"{path} is a zip that cannot be read: {problem}.") from None
    for info in archive.infolist():
        name = PurePosixPath(info.filename.replace("\\", "/"))
        if info.is_dir() or _hidden(name):
            continue
        dated = info.date_time != NO_DATE
        when = time.mktime((*info.date_time, 0, 0, -1)) if dated else path.stat().st_mtime
        yield Arrival(name, when, info.file_size, lambda info=info: archive.read(info))


def _labelled(arrivals: Iterator[Arrival], lessons: list[str], notes: list[str]) -> list[Work]:
    """Say of every file whose it is; people of one name keep Moodle's numbers."""
    works = [_label(arrival, lessons) for arrival in arrivals]
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


def _label(arrival: Arrival, lessons: list[str]) -> Work:
    """Read a file's name and its folders', as a platform or a person wrote them."""
    path = arrival.path
    for depth, part in enumerate([path.name, *reversed(path.parent.parts)]):
        if found := MOODLE.fullmatch(part):
            lesson = _lesson(found["file"] or path.name, path, lessons)[1]
            among = path.parents[depth]
            return Work(arrival, _clean(found["name"]), lesson, None, found["number"], among)
    if found := CANVAS.fullmatch(path.name):
        lesson = _lesson(found["file"], path, lessons)[1]
        return Work(arrival, _clean(f"{found['name']}_{found['user']}"), lesson)
    before, lesson = _lesson(path.name, path, lessons)
    folder = next((f for f in path.parents if _clean(f.name) and f.name not in lessons), None)
    if _clean(before) and (arrival.is_notebook or not folder):
        return Work(arrival, _clean(before), lesson)
    if folder:
        return Work(arrival, _clean(folder.name), lesson, folder)
    is_name = arrival.is_notebook and lesson and not _split(path.name, lessons)  # warm_up/ada.ipynb
    return Work(arrival, _clean(path.name.partition(".ipynb")[0]) if is_name else None, lesson)


def _lesson(name: str, path: PurePosixPath, lessons: list[str]) -> tuple[str, str | None]:
    """Return what stands before the lesson in a name, and the lesson; else one a folder names."""
    if found := _split(name, lessons):
        return found
    return "", max((n for n in lessons if n in path.parent.parts), key=len, default=None)


def _split(name: str, lessons: list[str]) -> tuple[str, str] | None:
    """Return what stands before the lesson in a name, and the lesson: the last one, as a word."""
    name = COPY.sub("", name)
    for pattern in (r"(?<![^\W\d_]){}(?![^\W\d_])", "{}"):  # Robert's gpt is no bert
        found = [
            (match.end(), len(lesson), match.start(), lesson)
            for lesson in lessons
            for match in re.finditer(
                pattern.format(lesson.replace("_", "[_ -]")), name, re.IGNORECASE
            )
        ]
        if found:
            *_, start, lesson = max(found)
            return name[:start], lesson
    return None


def _clean(name: str) -> str | None:
    """Return a name that may be a folder's."""
    return re.sub(r"[^\w@.-]+", "_", name).strip("._- ")[:100] or None
