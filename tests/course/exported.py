"""Write zips and folders as platforms and people lay them out, and read what was collected."""

import io
import os
import zipfile
from pathlib import Path

from autograder.course.course import Course


def zipped(path, files: dict[str, str | bytes], day: int = 1, late: dict[str, int] | None = None):
    """Write a zip whose members have the date of one day, but for those that `late` dates."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            of = (late or {}).get(name, day)
            archive.writestr(zipfile.ZipInfo(name, date_time=(2027, 3, of, 12, 0, 0)), text)
    return path


def packed(files: dict[str, str | bytes], day: int = 1) -> bytes:
    """Return a zip as bytes, to be put into another."""
    made = io.BytesIO()
    zipped(made, files, day)
    return made.getvalue()


def laid(root: Path, files: dict[str, str | bytes], when: float = 1_800_000_000) -> Path:
    """Write a folder whose files all have the same date, so that none is older."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        os.utime(path, (when, when))
    return root


def handed_in(course: Course) -> dict[tuple[str, str], str]:
    found = (course.root / "submitted").glob("*/*/*.ipynb")
    return {(p.parts[-3], p.parts[-2]): p.read_text() for p in found}
