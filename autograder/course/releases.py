"""Know every version of a lesson that may have been handed out, by the checksums of its cells.

A learner may work on the notebook of last month. What differs from today's because the course has
changed is no edit of theirs.
"""

import hashlib
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from autograder.errors import CourseError
from solutions.whole_file import whole_file

if TYPE_CHECKING:
    from autograder.course.course import Course

RELEASES_FILE = "releases.json"
FLAGS = ("grade", "solution", "locked", "points")


@dataclass
class Known:
    """The released versions of a lesson's cells; `whole` if there can have been no others."""

    flags: dict[str, set[str]] = field(default_factory=dict)
    texts: dict[str, set[str]] = field(default_factory=dict)
    whole: bool = True

    def had_flags(self, cell: str, metadata: dict) -> bool:
        """Say whether a cell was once released with these points and flags."""
        return _flags(metadata) in self.flags.get(cell, ())

    def had_text(self, cell: str, text: str) -> bool:
        return _text(text) in self.texts.get(cell, ())


def known_releases(course: "Course", lesson: str) -> Known:
    """Return what is known of a lesson's releases."""
    kept = _everything(course).get(lesson)
    if not kept:
        return Known(whole=False)
    known = Known(whole=kept["whole"])
    for release in kept["releases"]:
        for cell, (flags, text) in release["cells"].items():
            known.flags.setdefault(cell, set()).add(flags)
            known.texts.setdefault(cell, set()).add(text)
    return known


def remember(course: "Course", lesson: str, first: bool = False) -> None:
    """Keep the checksums of a lesson's source, if they are new; `first`: nothing came before."""
    everything = _everything(course)
    kept = everything.setdefault(lesson, {"whole": first, "releases": []})
    path = course.source(lesson)
    if path.exists():
        cells = _checksums(path.read_text(encoding="utf-8"))
        if not cells or any(release["cells"] == cells for release in kept["releases"]):
            return
        kept["releases"].append({"since": time.strftime("%Y-%m-%d"), "cells": cells})
    with whole_file(course.root / RELEASES_FILE) as part:
        part.write_text(json.dumps(everything, indent=1), encoding="utf-8")


def _everything(course: "Course") -> dict[str, Any]:
    path = course.root / RELEASES_FILE
    if not path.exists():
        return {}
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise CourseError(
            f"{path} is damaged. Put back a copy; or remove it: then nobody is said to have edited "
            "locked cells, since earlier versions are unknown."
        ) from None


def _checksums(text: str) -> dict[str, list[str]]:
    """Return points and flags, and the text, of the cells that belong to nbgrader; by their ids."""
    try:
        cells = json.loads(text)["cells"]
        found = [(c["id"], c["metadata"].get("nbgrader"), c["source"]) for c in cells]
    except (ValueError, KeyError, TypeError):
        return {}  # nbgrader will say what is wrong with it
    return {name: [_flags(role), _text("".join(source))] for name, role, source in found if role}


def _flags(metadata: dict) -> str:
    return json.dumps([metadata.get(key) for key in FLAGS])


def _text(text: str) -> str:
    """Return a checksum of a text, whatever its spaces."""
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "replace")).hexdigest()[:16]
