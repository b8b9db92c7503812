"""What arrives: the files in folders and zips, each with the date it was handed in."""

import contextlib
import os
import re
import time
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from autograder.errors import CourseError

CANVAS = re.compile(r"(?P<name>.+?)(_LATE)?_(?P<user>\d{1,20})_(?P<upload>\d{1,20})_(?P<file>.+)")
AGAIN = re.compile(r"[-(](\d{1,4})\)?\.ipynb", re.IGNORECASE)  # warm_up-1.ipynb, warm_up (1).ipynb
NO_DATE = (1980, 1, 1, 0, 0, 0)  # of a zip that keeps no dates
TOP = PurePosixPath()


@dataclass(frozen=True)
class Arrival:
    """A file that was handed in: where it lay, when it was written, and how to get its bytes."""

    path: PurePosixPath
    when: float
    size: int
    read: Callable[[], bytes]
    given: PurePosixPath = TOP  # the folder that was to be collected

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
    def age(self) -> tuple:
        """Return what sorts the versions of one work: Canvas counts uploads, others keep a date."""
        upload, again = CANVAS.fullmatch(self.path.name), AGAIN.search(self.path.name)
        number = int(again[1]) if again else 0
        return int(upload["upload"]) if upload else 0, self.when, number, str(self.path)


def downloads(paths: list[Path], open_zips: contextlib.ExitStack) -> Iterator[list[Arrival]]:
    """Yield what is read together: all folders, as they lie on the disk; else each by itself."""
    folders = [path.resolve() for path in paths if path.is_dir()]
    if folders:
        above = Path(os.path.commonpath([folder.parent for folder in folders]))
        yield [arrival for folder in folders for arrival in _from_folder(folder, above)]
    for path in paths:
        if not path.is_dir():
            yield list(_arrivals(path, open_zips))


def _arrivals(path: Path, open_zips: contextlib.ExitStack) -> Iterator[Arrival]:
    """Yield the files in a zip, or the single notebook."""
    if not path.exists():
        raise CourseError(f"{path} is not there.")
    elif zipfile.is_zipfile(path):
        yield from _from_zip(path, open_zips)
    elif ".ipynb" in path.name and path.is_file():
        yield _from_file(_written(path.name), path)
    else:
        raise CourseError(f"{path} is neither a folder, nor a zip, nor a notebook.")


def _hidden(path: PurePosixPath) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in path.parts)


def _written(path: str) -> PurePosixPath:
    """Return a path with each accent inside its letter; macOS writes them one after the other."""
    return PurePosixPath(unicodedata.normalize("NFC", path))


def _from_file(path: PurePosixPath, file: Path, given: PurePosixPath = TOP) -> Arrival:
    found = file.stat()
    return Arrival(path, found.st_mtime, found.st_size, file.read_bytes, given)


def _from_folder(root: Path, above: Path) -> Iterator[Arrival]:
    given = _written(root.relative_to(above).as_posix())
    for file in sorted(f for f in root.rglob("*") if f.is_file() and not f.is_symlink()):
        path = _written(file.relative_to(root).as_posix())
        inside = file.resolve().is_relative_to(root.resolve())  # not through a linked folder
        if inside and not _hidden(path):
            yield _from_file(given / path, file, given)


def _from_zip(path: Path, open_zips: contextlib.ExitStack) -> Iterator[Arrival]:
    """Members are read into memory: a name in the zip never becomes a path on the disk."""
    try:
        archive = open_zips.enter_context(zipfile.ZipFile(path))
    except (zipfile.BadZipFile, OSError) as problem:
        raise CourseError(f"{path} is a zip that cannot be read: {problem}.") from None
    for info in archive.infolist():
        name = _written(info.filename.replace("\\", "/"))
        if info.is_dir() or _hidden(name):
            continue
        dated = info.date_time != NO_DATE
        when = time.mktime((*info.date_time, 0, 0, -1)) if dated else path.stat().st_mtime
        yield Arrival(name, when, info.file_size, lambda info=info: archive.read(info))
