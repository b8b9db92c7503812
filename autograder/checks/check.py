"""`check`: the one line of a graded cell, the same for the learner and for every grader."""

import contextlib
import hashlib
import os
import sys

from autograder.checks.card import MIME, Card, as_text
from autograder.checks.marking import mark
from autograder.checks.result import Result
from autograder.errors import UnknownLesson
from autograder.lessons import find_question, load

SEED = "AUTOGRADER_SEED"  # set by the course's nbgrader_config.py, from the instructor's file


class CheckFailed(AssertionError):
    """Stops "Run all" at an answer that is not right yet; shows a sentence, no traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def check(name: str, points: float) -> float | None:
    """Check an answer: `check("multi_head.split_heads", points=15)`.

    In a notebook: run the visible cases, show a card, raise when the answer is not right.
    Under `nbgrader autograde`: run all cases, show the card, return the points earned.
    """
    own = sys._getframe(1).f_globals
    graded = os.environ.get("NBGRADER_EXECUTION") == "autograde"
    try:
        lesson_name, question_name = find_question(name)
    except UnknownLesson as problem:
        if graded:
            print(problem)
            return 0.0
        raise CheckFailed(str(problem)) from None
    seed = os.environ.get(SEED, "") if graded else None
    result = mark(load(lesson_name), question_name, own, seed, public=_public(own))
    show(result, graded)
    if graded:
        return scaled(result, points)
    if not result.passed:
        raise CheckFailed(f"{name}: not yet. The card above says what was found.")
    return None


def _public(own: dict) -> str:
    """Return a seed for examples: a hash of the cells that were run."""
    cells = own.get("In")
    return hashlib.sha256(repr(cells).encode("utf-8", "replace")).hexdigest() if cells else ""


def scaled(result: Result, points: float) -> float:
    """Return the points earned as a plain float: nbgrader reads other numbers as full marks."""
    return float(points * result.score / result.points)


def show(result: Result, graded: bool) -> None:
    """Show a card in a notebook, print plain text elsewhere; never write to stderr."""
    if "IPython" in sys.modules:
        from IPython import get_ipython
        from IPython.display import display

        if get_ipython() is not None:
            with contextlib.suppress(Exception):  # a card that cannot be drawn must not cost points
                display(Card(result, graded), include=["text/plain", "text/html", MIME])
                return
    print(as_text(result, graded))
