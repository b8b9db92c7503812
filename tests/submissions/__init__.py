"""Submissions for the tests, made by code from the released notebook: honest, wrong and broken."""

import atexit
import json
from functools import cache

import nbformat
from nbgrader.utils import determine_grade

from autograder.checks.cells import is_check, question_of
from autograder.course.course import Course
from autograder.course.sample import answered
from autograder.release.notebooks import author, release
from autograder.running.runner import Settings
from autograder.running.unprotected import Open
from autograder.running.walled import run

LESSON = "warm_up"


def plain(notebook) -> dict:
    """Return a notebook as a file holds it: nothing but JSON."""
    return json.loads(json.dumps(notebook))


def honest() -> dict:
    return plain(answered(LESSON))


def hand_in(course: Course, student: str, content: dict) -> None:
    """Put a notebook where `collect` would."""
    folder = course.path("submitted", student, LESSON)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{LESSON}.ipynb").write_text(json.dumps(content), encoding="utf-8")


def released():
    return release(author(LESSON))


def cell(notebook: dict, name: str) -> dict:
    """Return the cell of that name, without the lesson: "softmax", "softmax-check"."""
    return next(c for c in notebook["cells"] if c.get("id") == f"{LESSON}-{name}")


def place(notebook: dict, name: str) -> int:
    return notebook["cells"].index(cell(notebook, name))


def code(source: str) -> dict:
    """Return a cell of the learner's own."""
    return {"cell_type": "code", "source": source, "metadata": {}, "outputs": []}


@cache  # one for all tests of a process
def _open() -> Open:
    wall = Open(LESSON).__enter__()
    atexit.register(wall.close)
    return wall


def points(notebook, timeout: float = 30, total: float = 120) -> dict[str, float]:
    """Run a repaired notebook as the grader does; return the points of each check."""
    settings = Settings("a seed for tests", timeout, total, skip=False, walled=False)
    ran = run(notebook.cells, _open(), settings)
    earned = {}
    for number, made in enumerate(notebook.cells):
        if is_check(made):
            made.outputs = nbformat.from_dict(ran.outputs[str(number)])
            name = question_of(made.id)
            earned[name] = determine_grade(made)[0]  # as nbgrader reads it
    return earned
