"""The grades as a table: scores from the gradebook, statuses from grading, one row a submission."""

import csv
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from autograder.checks.cells import question_of
from autograder.course.course import Course
from autograder.course.lateness import Lateness, settle
from autograder.course.status import (
    GRADED,
    HUMAN,
    MISSING,
    NOT_YET,
    UNREADABLE,
    Record,
    in_order,
    joined,
    statuses,
)
from solutions.whole_file import whole_file


@dataclass
class Row:
    """One learner's work on one lesson; no score is not the same as a score of zero."""

    student: str
    lesson: str
    score: float | None
    max: float
    auto_score: float | None
    status: str  # facts, side by side: "timed out, needs a human"
    notes: str
    late: str = ""  # "2 days"; nothing: in time, or nothing is due

    @property
    def facts(self) -> tuple[str, ...]:
        return tuple(self.status.split(", "))


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
        if not most:  # it was not made whole: a grading was stopped in its first seconds
            return []
        settle(course, lesson, gradebook)  # scores may have changed since, by hand
        lateness = Lateness(course)
        found = {s.student.id: s for s in gradebook.assignment_submissions(lesson)}
        for student in course.students():
            page = course.path("autograded", student, lesson) / f"{lesson}.ipynb"
            submission = found.get(student) if page.exists() else None
            record = records.get(student) or _unrecorded(course, student, lesson, submission)
            row = _row(student, lesson, most, submission, record)
            row.late = lateness.late(student, lesson).text
            made.append(row)
    return made


def _unrecorded(course: Course, student: str, lesson: str, submission) -> Record:
    """Say how it stands with a work that no grading of ours has recorded."""
    if submission is not None:
        return Record((GRADED,))  # by nbgrader itself
    handed_in = any(course.path("submitted", student, lesson).glob("*.ipynb"))
    return Record((NOT_YET if handed_in else MISSING,))


def _row(student: str, lesson: str, most: float, submission, record: Record) -> Row:
    if submission is None:
        if record.content:  # it was saved once
            record = Record((NOT_YET,), ["The gradebook does not have it: grade again."])
        return Row(student, lesson, None, most, None, record.word, " ".join(record.notes))
    grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
    auto = sum(grade.auto_score or 0.0 for grade in grades)
    facts, notes = record.status, list(record.notes)
    if {MISSING, UNREADABLE} & set(facts):  # graded since, by nbgrader itself
        facts, notes = (GRADED,), []
    if waits := _waits(grades):
        facts, notes = in_order((*facts, HUMAN)), notes + waits
    score, cost = submission.score, submission.late_submission_penalty or 0.0
    if cost:
        notes.append(f"Handed in late: {cost:g} of {score:g} points taken off.")
    return Row(student, lesson, score - cost, most, auto, joined(facts), " ".join(notes))


def _waits(grades: list) -> list[str]:
    """Say what a human is waited for: a written answer, or an appeal that has to be looked at."""
    waiting = [grade for grade in grades if grade.needs_manual_grade]
    written = [grade for grade in waiting if grade.auto_score is None]
    appeals = [question_of(g.name) for g in waiting if g.auto_score is not None]
    notes = ["A written answer waits for a human."] if written else []
    if appeals:
        notes.append(
            f"The answer was marked by hand and has changed since: {', '.join(appeals)}. "
            "Look at the mark again."
        )
    return notes


def write_csv(course: Course) -> Path:
    """Write grades.csv, which a spreadsheet may open without running anything."""
    path = course.root / "grades.csv"
    with whole_file(path) as part, part.open("w", newline="", encoding="utf-8") as file:
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
