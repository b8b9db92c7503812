"""What arrives: the files in folders and zips, also zips in them, each with its date."""

import contextlib
import io
import os
import pwd
import re
import time
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, partial
from pathlib import Path, PurePosixPath

from autograder.course.archives import Unlisted, opened, too_many
from autograder.course.submission import MAX_BYTES
from autograder.errors import CourseError

AGAIN = re.compile(r"[-(](\d{1,4})\)?\.ipynb", re.IGNORECASE)  # warm_up-1.ipynb, warm_up (1).ipynb
NO_DATE = (1980, 1, 1, 0, 0, 0)  # of a zip that keeps no dates
TOP = PurePosixPath()
DEPTH = 3  # zips in zips in zips
DEEPEST = 30  # folders around a file
TOLD = (".zip", ".txt", ".yml")  # what counts in a zip that was handed in, beside notebooks
LAID_BY_GIT = (".git", "config")


@dataclass(frozen=True)
class Arrival:
    """A file that was handed in: where it lay, when it was written, and how to get its bytes."""

    path: PurePosixPath
    when: float
    size: int
    read: Callable[[], bytes]
    given: PurePosixPath = TOP  # the folder that was to be collected
    zips: tuple[PurePosixPath, ...] = ()  # those around it, as far as they lay in the download
    clock: datetime | None = None  # what a zip says, in a time zone that it does not say
    owner: str = ""  # the account that wrote a file on this disk, if it is another than ours

    @property
    def outer(self) -> list[PurePosixPath]:
        """Return the folder that was given, and those around it."""
        return [self.given, *self.given.parents]

    @property
    def is_notebook(self) -> bool:
        return ".ipynb" in self.path.name.lower()

    @property
    def is_zip(self) -> bool:
        return self.path.suffix.lower() == ".zip"

    @property
    def again(self) -> int:
        """Return the number that a browser or a platform adds to a file's later versions."""
        found = AGAIN.search(self.path.name)
        return int(found[1]) if found else 0


def downloads(
    paths: list[Path], open_zips: contextlib.ExitStack, notes: list[str]
) -> Iterator[list[Arrival]]:
    """Yield what is read together: all folders, as they lie on the disk; else each by itself."""
    for path in paths:
        if not path.exists():
            raise CourseError(f"{path} is not there.")
    folders = [path.resolve() for path in paths if path.is_dir()]
    if folders:
        above = Path(os.path.commonpath([folder.parent for folder in folders]))
        files = [arrival for folder in folders for arrival in _from_folder(folder, above)]
        yield _unpacked(files, notes)
    for path in paths:
        if not path.is_dir():
            yield _unpacked(_from_path(path, open_zips, notes, len(paths) == 1), notes)


def _from_path(
    path: Path, open_zips: contextlib.ExitStack, notes: list[str], alone: bool
) -> list[Arrival]:
    """Return the files in a zip, or the single notebook."""
    if zipfile.is_zipfile(path):
        try:
            archive = opened(path, lambda text: notes.append(f"{path.name}: {text}."))
        except Unlisted as problem:
            sentence = f"{path} is a zip that cannot be read: {problem}."
            if alone:
                raise CourseError(sentence) from None
            notes.append(sentence)
            return []
        open_zips.enter_context(archive)
        members = archive.infolist()
        return list(
            _members(archive, path.stat().st_mtime, lambda place: archive.read(members[place]))
        )
    if ".ipynb" in path.name and path.is_file():
        return [_from_file(_written(path.name), path)]
    raise CourseError(f"{path} is neither a folder, nor a zip, nor a notebook.")


def _hidden(path: PurePosixPath) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in path.parts)


def _written(path: str) -> PurePosixPath:
    """Return a path with each accent inside its letter; macOS writes them one after the other."""
    return PurePosixPath(unicodedata.normalize("NFC", path))


def _flat(path: PurePosixPath) -> PurePosixPath:
    """Leave folders out in the middle of a path that nobody would make: a name has 65,535 bytes."""
    parts = path.parts
    return path if len(parts) <= DEEPEST else PurePosixPath(*parts[:DEEPEST], parts[-1])


def _from_file(path: PurePosixPath, file: Path, given: PurePosixPath = TOP) -> Arrival:
    found = file.stat()
    owner = _account(found.st_uid)
    return Arrival(path, found.st_mtime, found.st_size, file.read_bytes, given, owner=owner)


@cache
def _account(number: int) -> str:
    """Return the name of an account that is neither ours nor the system's."""
    try:
        return pwd.getpwuid(number).pw_name if number not in (0, os.getuid()) else ""
    except KeyError:
        return ""


def _from_folder(root: Path, above: Path) -> Iterator[Arrival]:
    given = _written(root.relative_to(above).as_posix())
    for file in sorted(f for f in root.rglob("*") if f.is_file() and not f.is_symlink()):
        path = _written(file.relative_to(root).as_posix())
        inside = file.resolve().is_relative_to(root.resolve())  # not through a linked folder
        checkout = path.parts[-2:] == LAID_BY_GIT and not _hidden(path.parent.parent)
        if inside and (checkout or not _hidden(path)):
            yield _from_file(given / path, file, given)


def _members(archive: zipfile.ZipFile, undated: float, read: Callable) -> Iterator[Arrival]:
    """Members are read into memory: a name in the zip never becomes a path on the disk."""
    for place, info in enumerate(archive.infolist()):
        name = _flat(_written(info.filename.replace("\\", "/")))
        if not info.is_dir() and not _hidden(name):
            when, clock = _when(info, undated)
            yield Arrival(name, when, info.file_size, partial(read, place), clock=clock)


def _when(info: zipfile.ZipInfo, undated: float) -> tuple[float, datetime | None]:
    """Return when a member was written: in this machine's time zone, and as the zip has it."""
    if info.date_time != NO_DATE:
        with contextlib.suppress(ValueError, OverflowError):  # the 31st of the 15th month
            clock = datetime(*info.date_time)
            return time.mktime(clock.timetuple()), clock
    return undated, None


def _unpacked(arrivals: list[Arrival], notes: list[str], depth: int = DEPTH) -> list[Arrival]:
    """Put the files of a zip in the place of the zip, as if it were a folder."""
    made: list[Arrival] = []
    for arrival in arrivals:
        inner = _inside(arrival, notes) if arrival.is_zip and depth else None
        made += [arrival] if inner is None else _unpacked(inner, notes, depth - 1)
    return made


def _inside(box: Arrival, notes: list[str]) -> list[Arrival] | None:
    """Return the files of a zip that was handed in; none, if it is too large or damaged."""
    if box.size > MAX_BYTES:
        return None

    def again(note: Callable[[str], None] = lambda _: None) -> zipfile.ZipFile:
        data = box.read()
        if too_many(data):
            raise Unlisted("it holds too many files")
        return opened(io.BytesIO(data), note)

    def read(place: int) -> bytes:  # opened again when its turn comes: a class has many zips
        with again() as archive:
            return archive.read(archive.infolist()[place])

    try:
        with again(lambda text: notes.append(f"{box.path}: {text}.")) as archive:
            found = list(_members(archive, box.when, read))
    except Exception as problem:  # one bad zip must not stop the others, whatever it raises
        notes.append(f"{box.path}: left out, it cannot be read ({problem}).")
        return None
    zips = (*box.zips, box.path)
    # not each file of the packages that somebody zipped with the notebook
    found = [a for a in found if a.is_notebook or a.path.suffix.lower() in TOLD] or found[:3]
    return [
        replace(a, path=box.path / a.path.as_posix().lstrip("/"), given=box.given, zips=zips)
        for a in found
    ]
