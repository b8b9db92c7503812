"""Say for which lesson a file is, by its name or the folders around it."""

import re
from pathlib import PurePosixPath

from autograder.repository import order

COPY = re.compile(r"^(copy of|copie de|kopie von) ", re.IGNORECASE)
PATTERNS = (r"(?<![^\W\d_]){}(?![^\W\d_])", "{}")  # a word first: Robert's gpt is no bert


def lesson_of(
    name: str, path: PurePosixPath, lessons: list[str], zips: tuple[PurePosixPath, ...] = ()
) -> tuple[str, str | None]:
    """Return what stands before the lesson in a name, and the lesson; else one a folder names.

    A lesson of the book that the course does not have is read too, so that a note can say so.
    """
    if found := in_name(name, lessons):
        return found
    for folder in path.parents:
        if lesson := called(folder.name):
            return "", lesson
        if folder in zips and (found := in_name(folder.stem, lessons)):
            return "", found[1]
    return "", None


def in_name(name: str, lessons: list[str]) -> tuple[str, str] | None:
    return split(name, lessons) or split(name, order(), PATTERNS[:1])


def called(folder: str) -> str | None:
    """Return the lesson that a folder is for; in small letters, as Bert may be a learner."""
    return next((n for n in order() if re.fullmatch(spelled(n), folder)), None)


def spelled(lesson: str) -> str:
    return lesson.replace("_", "[_ -]?")


def split(
    name: str, lessons: list[str], patterns: tuple[str, ...] = PATTERNS
) -> tuple[str, str] | None:
    """Return what stands before the lesson in a name, and the lesson: the last one, as a word."""
    name = COPY.sub("", name)
    for pattern in patterns:
        found = [
            (match.end(), len(lesson), match.start(), lesson)
            for lesson in lessons
            for match in re.finditer(pattern.format(spelled(lesson)), name, re.IGNORECASE)
        ]
        if found:
            *_, start, lesson = max(found)
            return name[:start], lesson
    return None
