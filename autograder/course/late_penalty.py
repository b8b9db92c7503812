"""nbgrader's own commands take off for lateness what deadlines.toml says, through its plugin."""

from pathlib import Path

from nbgrader.plugins import LateSubmissionPlugin

from autograder.course.course import Course
from autograder.course.lateness import Lateness


class LatePenalty(LateSubmissionPlugin):
    """nbgrader's plugin, for its own commands: penalties as deadlines.toml has them."""

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float | None:
        lateness = Lateness(Course(Path(self.config.CourseDirectory.root)))
        days = lateness.late(student_id, self.parent.assignment_id).days
        return lateness.deadlines.taken_off(score, days) or None
