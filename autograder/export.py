"""The grades as a table: scores from the gradebook, statuses from grading, one row a submission."""

import csv
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from autograder.course import Course
from autograder.status import GRADED, HUMAN, MISSING, UNREADABLE, Record, statuses


@dataclass
class Row:
    """One learner's work on one lesson; no score is not the same as a score of zero."""

    student: str
    lesson: str
    score: float | None
    max: float
    auto_score: float | None
    status: str
    notes: str


def rows(course: Course, lesson: str) -> list[Row]:
    """Return a row for everybody in the course."""
    from nbgrader.api import MissingEntry

    records = statuses(course).get(lesson, {})
    made = []
    with course.gradebook() as gradebook:
        try:
            most = gradebook.find_assignment(lesson).max_score
        except MissingEntry:
            return []
        found = {s.student.id: s for s in gradebook.assignment_submissions(lesson)}
        for student in course.students():
            page = course.path("autograded", student, lesson) / f"{lesson}.ipynb"
            submission = found.get(student) if page.exists() else None
            made.append(_row(student, lesson, most, submission, records.get(student)))
    return made


def _row(student: str, lesson: str, most: float, submission, record: Record | None) -> Row:
    record = record or Record(MISSING if submission is None else GRADED)
    if submission is None:
        return Row(student, lesson, None, most, None, record.status, " ".join(record.notes))
    grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
    auto = sum(grade.auto_score or 0.0 for grade in grades)
    status, notes = record.status, list(record.notes)
    if status in (MISSING, UNREADABLE):  # graded since, by nbgrader itself
        status, notes = GRADED, []
    if submission.needs_manual_grade:
        notes.append("A written answer waits for a human.")
        status = HUMAN if status == GRADED else status
    return Row(student, lesson, submission.score, most, auto, status, " ".join(notes))


def write_csv(course: Course) -> Path:
    """Write grades.csv, which a spreadsheet may open without running anything."""
    path = course.root / "grades.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow([field.name.replace("_", " ") for field in fields(Row)])
        for lesson in course.lessons:
            table.writerows([_safe(v) for v in astuple(row)] for row in rows(course, lesson))
    return path


def _safe(value: str | float | None) -> str | float:
    """Take the power from a text that a spreadsheet would read as a formula."""
    if value is None:
        return ""
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r", "\n")):
        return "'" + value
    return value
