"""The cells of a lesson's notebook: the role each plays, and the question it belongs to.

A cell's id is the lesson's name, a dash and the question's name: `warm_up-softmax` holds the
answer, `warm_up-softmax-check` the check.
"""

import re
from typing import Any, NamedTuple

from nbformat import NotebookNode

DEMONSTRATION = "demonstration"  # the tag of a cell that only shows something
CHECK = "-check"
_CHECK_LINE = re.compile(r'check\("(\w+)\.(\w+)", points=(\d+)\)')


class Check(NamedTuple):
    """What a check cell asks for."""

    lesson: str
    question: str
    points: float


def role(cell: Any, name: str) -> bool:
    """Say whether nbgrader's metadata gives a cell this role: "grade", "solution" or "locked"."""
    return bool(cell["metadata"].get("nbgrader", {}).get(name))


def is_graded(cell: NotebookNode) -> bool:
    return role(cell, "grade")


def is_solution(cell: NotebookNode) -> bool:
    return role(cell, "solution")


def is_written(cell: NotebookNode) -> bool:
    return is_solution(cell) and cell.cell_type == "markdown"


def is_check(cell: NotebookNode) -> bool:
    return is_graded(cell) and not is_solution(cell)


def is_demonstration(cell: NotebookNode) -> bool:
    return DEMONSTRATION in cell.metadata.get("tags", [])


def short(cell_id: str) -> str:
    """Return a cell's name without the lesson: "softmax-check" of "warm_up-softmax-check"."""
    return cell_id.partition("-")[2] or cell_id


def question_of(cell_id: str) -> str:
    """Return the question a cell belongs to: "softmax" of "warm_up-softmax-check"."""
    return short(cell_id).removesuffix(CHECK)


def check_id(lesson: str, question: str) -> str:
    return f"{lesson}-{question}{CHECK}"


def check_text(check: Check) -> str:
    """Return the two lines of a graded cell."""
    lesson, question, points = check
    return f'from autograder import check\ncheck("{lesson}.{question}", points={points})'


def check_of(source: str) -> Check | None:
    """Read what a check cell asks for; None where it is none of ours."""
    found = _CHECK_LINE.search(source)
    return Check(found[1], found[2], float(found[3])) if found else None
