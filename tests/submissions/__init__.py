"""Submissions for the tests, made by code from the released notebook: honest, wrong and broken."""

import json
import os

from nbgrader.utils import determine_grade

from autograder.checks.cells import is_check, question_of
from autograder.course.sample import answered
from autograder.release.notebooks import author, release
from autograder.running import unprotected as execute

LESSON = "warm_up"


def plain(notebook) -> dict:
    """Return a notebook as a file holds it: nothing but JSON."""
    return json.loads(json.dumps(notebook))


def honest() -> dict:
    return plain(answered(LESSON))


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


def points(notebook, monkeypatch, timeout: float = 30, total: float = 120) -> dict[str, float]:
    """Run a repaired notebook as the grader does; return the points of each check."""
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    monkeypatch.setenv("AUTOGRADER_SEED", os.environ.get("AUTOGRADER_SEED", "a seed for tests"))
    execute.warm()
    outcome = execute.run(notebook.cells, timeout, total)
    earned = {}
    for number, made in enumerate(notebook.cells):
        if is_check(made):
            made.outputs = execute._outputs(outcome, number, made)
            name = question_of(made.id)
            earned[name] = determine_grade(made)[0]  # as nbgrader reads it
    return earned
