"""One folder per lesson, one file per question: the cases, and the slips that are known."""

import difflib
import importlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import UnknownLesson

if TYPE_CHECKING:  # it imports torch
    from autograder.checks.question import Lesson

HERE = Path(__file__).parent


def names() -> list[str]:
    """Return the lessons that have checks, in alphabetical order."""
    return sorted(path.parent.name for path in HERE.glob("*/__init__.py"))


def files(lesson: str) -> list[Path]:
    """Return the files in which a lesson's checks are written."""
    return sorted((HERE / lesson).glob("*.py"))


def must_exist(lesson: str) -> None:
    """Complain, and suggest another name, if there is no such lesson."""
    if lesson not in names():
        raise UnknownLesson(f"There is no lesson {lesson!r}. {nearest(lesson, names())}")


@cache
def load(lesson: str) -> "Lesson":
    """Return one lesson's questions."""
    from autograder.checks.question import Lesson

    must_exist(lesson)
    return Lesson(lesson, importlib.import_module(f"autograder.lessons.{lesson}").QUESTIONS)


def find_question(name: str) -> tuple[str, str]:
    """Split "lesson.question" and make sure that both exist."""
    lesson, _, question = str(name).partition(".")
    return lesson, load(lesson)[question].name


def nearest(name: str, known: list[str]) -> str:
    """Suggest the name that was meant, or list them all."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"Did you mean {close[0]!r}?" if close else f"There are: {', '.join(known)}."
