"""Take submissions from folders and LMS zips into a course's submitted/ folder."""

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from autograder.course import Course, CourseError
from autograder.submission import MAX_BYTES

# what learning platforms put around a name
DECORATION = re.compile(r"_assignsubmission_file_?|^copy of |^copie de |^kopie von ", re.IGNORECASE)


@dataclass
class Arrival:
    """A file that was handed in: where it lay, when it was written, and its bytes."""

    path: PurePosixPath
    when: float | tuple
    data: bytes


def collect(course: Course, paths: list[Path]) -> tuple[dict[tuple[str, str], str], list[str]]:
    """Copy every notebook that can be told apart; return {(student, lesson): from} and notes."""
    taken: dict[tuple[str, str], str] = {}
    notes: list[str] = []
    for path in paths:
        for arrival in _arrivals(path, notes):
            lesson = _lesson(arrival.path, course.lessons)
            student = _student(arrival.path, lesson) if lesson else None
            if not student:
                missing = "which lesson it is" if not lesson else "whose it is"
                notes.append(f"{arrival.path}: left out, the name does not say {missing}.")
                continue
            if (student, lesson) in taken:
                before = taken[student, lesson]
                notes.append(f"{student}, {lesson}: {arrival.path} replaces the older {before}.")
            folder = course.path("submitted", student, lesson)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{lesson}.ipynb").write_bytes(arrival.data)
            taken[student, lesson] = str(arrival.path)
    return taken, notes


def _arrivals(path: Path, notes: list[str]) -> Iterator[Arrival]:
    """Yield the notebooks in a folder, a zip or a single file, oldest first."""
    if path.is_dir():
        yield from _from_folder(path)
    elif zipfile.is_zipfile(path):
        yield from _from_zip(path, notes)
    elif ".ipynb" in path.name and path.is_file():
        yield Arrival(PurePosixPath(path.name), 0.0, path.read_bytes())
    else:
        raise CourseError(f"{path} is neither a folder, nor a zip, nor a notebook.")


def _wanted(path: PurePosixPath) -> bool:
    hidden = any(part.startswith((".", "__MACOSX")) for part in path.parts)
    return ".ipynb" in path.name.lower() and not hidden


def _from_folder(root: Path) -> Iterator[Arrival]:
    files = [f for f in root.rglob("*") if f.is_file() and not f.is_symlink()]
    found = [(f.stat().st_mtime, PurePosixPath(f.relative_to(root).as_posix()), f) for f in files]
    for when, path, file in sorted(found):
        inside = file.resolve().is_relative_to(root.resolve())  # not through a linked folder
        if _wanted(path) and inside and file.stat().st_size <= MAX_BYTES:
            yield Arrival(path, when, file.read_bytes())


def _from_zip(path: Path, notes: list[str]) -> Iterator[Arrival]:
    """Read members into memory: a name in the zip never becomes a path on the disk."""
    with zipfile.ZipFile(path) as archive:
        for info in sorted(archive.infolist(), key=lambda i: (i.date_time, i.filename)):
            name = PurePosixPath(info.filename.replace("\\", "/"))
            if info.is_dir() or not _wanted(name):
                continue
            if info.file_size > MAX_BYTES:
                notes.append(f"{name}: left out, it is larger than {MAX_BYTES // 1_000_000} MB.")
                continue
            try:
                with archive.open(info) as member:
                    yield Arrival(name, info.date_time, member.read(MAX_BYTES + 1)[:MAX_BYTES])
            except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError) as problem:
                notes.append(f"{name}: left out, it cannot be unpacked ({problem}).")


def _lesson(path: PurePosixPath, lessons: list[str]) -> str | None:
    """Return the lesson that the file's name holds, else the one its folder is called."""
    named = [n for n in lessons if n in _underscored(path.name)]
    named = named or [n for n in lessons if n in path.parent.parts]
    return max(named, key=len, default=None)


def _underscored(name: str) -> str:
    return re.sub(r"[ -]", "_", name.lower())


def _student(path: PurePosixPath, lesson: str) -> str | None:
    """Return what stands before the lesson in the file's name, else the nearest folder's name."""
    stem = DECORATION.sub("", path.name)
    before = stem[: _underscored(stem).find(lesson)] if lesson in _underscored(stem) else ""
    folders = [part for part in reversed(path.parent.parts) if part not in (lesson, "/")]
    own_name = "" if before or lesson in _underscored(stem) else stem.partition(".ipynb")[0]
    for candidate in (before, *folders, own_name):
        cleaned = re.sub(r"[^\w@.-]+", "_", DECORATION.sub("", candidate)).strip("._- ")
        if cleaned:
            return cleaned[:100]
    return None
