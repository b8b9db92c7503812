"""Make the gradebook anew: set the old one aside, so that grading fills a new one.

Scores come from results/, marks by hand from marks.json; no notebook is run whose result is kept.
"""

import time
from pathlib import Path

from autograder.course.course import Course
from autograder.course.status import statuses
from autograder.errors import CourseError
from autograder.grading.agreement import agree
from autograder.grading.marks_by_hand import keep_marks

ABOUT = ("first_name", "last_name", "email", "lms_user_id")


def set_aside(course: Course, lessons: list[str]) -> Path | None:
    """Rename the gradebook and begin another with the same learners; return where it went."""
    for lesson in lessons:
        agree(course, lesson)  # or nothing could be graded into the new one
    path = course.root / "gradebook.db"
    learners = _learners(course, path) if path.exists() else {}
    aside = None
    if path.exists():
        aside = path.with_name(f"gradebook.{time.strftime('%Y-%m-%d_%H-%M-%S')}.db")
        path.rename(aside)
        aside.chmod(0o600)
    recorded = {name for found in statuses(course).values() for name in found}
    with course.gradebook() as gradebook:
        for name in sorted(recorded | set(learners)):
            gradebook.update_or_create_student(name, **learners.get(name, {}))
    return aside


def _learners(course: Course, path: Path) -> dict[str, dict[str, str]]:
    """Return what the old gradebook knows of the learners; its marks are kept in a file first."""
    try:
        keep_marks(course)
        with course.gradebook() as gradebook:
            students = gradebook.students
            return {s.id: {key: getattr(s, key) for key in ABOUT} for s in students}
    except CourseError:
        print(f"{path} cannot be read. Marks by hand are taken from marks.json alone.")
        return {}
