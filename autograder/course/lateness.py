"""How late each work came, and what that costs: told in tables, saved where nbgrader keeps it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

from autograder.course.course import Course
from autograder.course.deadlines import Deadlines, read_deadlines
from autograder.course.record import Taken, read_record
from autograder.course.roster import kept_roster

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Late:
    """How late a work came: the days begun, and the same in words, with who says so."""

    days: int = 0
    text: str = ""


class Lateness:
    """Deadlines, extensions and times of handing in, of one course."""

    def __init__(self, course: Course):
        self.course = course

    @cached_property
    def deadlines(self) -> Deadlines:
        return read_deadlines(self.course)

    @cached_property
    def _record(self) -> dict:
        return read_record(self.course)

    @cached_property
    def _granted(self) -> dict[str, float]:
        roster = kept_roster(self.course)
        return {p.key: p.extra_days for p in roster.people} if roster else {}

    def extra_days(self, student: str, lesson: str) -> float:
        """Return what a learner was granted: for the lesson, else for all, else by the roster."""
        extra = self.deadlines.extra_days
        for granted in (extra.get(lesson, {}), extra.get("", {}), self._granted):
            if student in granted:
                return granted[student]
        return 0.0

    def taken(self, student: str, lesson: str) -> Taken | None:
        return self._record.get(student, {}).get(lesson)

    def late(self, student: str, lesson: str) -> Late:
        """Say how late a work came, as far as it is known."""
        taken, extra = self.taken(student, lesson), self.extra_days(student, lesson)
        due = self.deadlines.deadline(lesson, extra)
        if taken is None:
            return Late()
        if taken.when and due:
            return _days(
                self.deadlines.days_late(lesson, datetime.fromisoformat(taken.when), extra)
            )
        if taken.when or taken.late is not None:
            return Late(1, "late, as the platform says") if taken.late else Late()
        if due and taken.before and datetime.fromisoformat(taken.before) > due:
            return Late(0, UNKNOWN)  # only the date of the download is known
        return Late()


def _days(days: int) -> Late:
    return Late(days, f"{days} day{'s' if days > 1 else ''}" if days else "")


def settle(course: Course, lesson: str, gradebook) -> None:
    """Save deadline, extensions, times and penalties in the gradebook, for the scores it has now.

    Without a file of deadlines nothing is touched: nbgrader's own due dates stand.
    """
    lateness = Lateness(course)
    due = lateness.deadlines.deadline(lesson)
    if due is None:
        return
    plain = due.astimezone(UTC).replace(tzinfo=None)  # as nbgrader keeps times
    gradebook.find_assignment(lesson).duedate = plain
    for submission in gradebook.assignment_submissions(lesson):
        student = submission.student.id
        taken = lateness.taken(student, lesson)
        if taken and taken.when:
            when = datetime.fromisoformat(taken.when)
            submission.timestamp = when.astimezone(UTC).replace(tzinfo=None)
        extra = lateness.extra_days(student, lesson)
        own = lateness.deadlines.deadline(lesson, extra)
        submission.extension = own - due if own and extra else None
        days = lateness.late(student, lesson).days
        for notebook in submission.notebooks:
            cost = lateness.deadlines.taken_off(notebook.score or 0.0, days)
            notebook.late_submission_penalty = cost or None
    gradebook.db.commit()
