"""What the gradebook itself says of a lesson: the only one to ask what has been saved.

Each question is one query for a whole class; nbgrader's own objects would ask for every learner.
"""

import hashlib
import json
from typing import Any

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    SubmittedAssignment,
    SubmittedNotebook,
)


def saved_scores(gradebook: Gradebook, lesson: str, student: str | None = None) -> dict[str, str]:
    """Return a digest of everybody's automatic scores, cell by cell; a lost one is not there."""
    asked = _of_lesson(gradebook, lesson, Grade, Grade.auto_score)
    if student is not None:
        asked = asked.filter(SubmittedAssignment.student_id == student)
    scores: dict[str, dict[str, float | None]] = {}
    for name, cell, score in asked:
        scores.setdefault(name, {})[cell] = score
    return {name: _digest(found) for name, found in scores.items()}


def marks_given(gradebook: Gradebook, lesson: str) -> Any:
    """Return (learner, cell, score, extra credit, whether it waits) of all marks by a human."""
    columns = (Grade.manual_score, Grade.extra_credit, Grade.needs_manual_grade)
    return _of_lesson(gradebook, lesson, Grade, *columns).filter(Grade.manual_score.isnot(None))


def comments_given(gradebook: Gradebook, lesson: str) -> Any:
    """Return (learner, cell, comment) of all comments by a human."""
    asked = _of_lesson(gradebook, lesson, Comment, Comment.manual_comment)
    return asked.filter(Comment.manual_comment.isnot(None), Comment.manual_comment != "")


def _of_lesson(gradebook: Gradebook, lesson: str, table: Any, *columns: Any) -> Any:
    return (
        gradebook.db.query(SubmittedAssignment.student_id, BaseCell.name, *columns)
        .select_from(table)
        .join(BaseCell, table.cell_id == BaseCell.id)
        .join(SubmittedNotebook, table.notebook_id == SubmittedNotebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .filter(Assignment.name == lesson)
    )


def _digest(scores: dict[str, float | None]) -> str:
    return hashlib.sha256(json.dumps(scores, sort_keys=True).encode()).hexdigest()[:16]
