"""The course's file of deadlines: when work is due, in which time zone, and what lateness costs."""

import tomllib
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from autograder.course.course import Course
from autograder.errors import CourseError
from autograder.repository import order

FILE = "deadlines.toml"
EXAMPLE = """\
zone = "Europe/Berlin"
grace = 15          # minutes after the deadline that cost nothing
penalty = 10        # percent of the score for each day begun
cut_off = 7         # days after which nothing counts; leave it out for none

[due]
warm_up = 2027-03-26 23:59:00

[extra_days]        # for everything, beside the roster's; or for one lesson:
doejane_12345 = 2
[extra_days.warm_up]
doejane_12345 = 5
"""


@dataclass(frozen=True)
class Deadlines:
    """When work is due; days are those of the calendar in the course's zone."""

    zone: ZoneInfo | None = None  # None: the machine's
    grace: timedelta = timedelta()
    penalty: float = 0.0  # percent of the score, for each day begun
    cut_off: float | None = None  # days
    due: dict[str, datetime] = field(default_factory=dict)  # without a zone: the course's own
    extra_days: dict[str, dict[str, float]] = field(default_factory=dict)  # by lesson; "": all

    def aware(self, when: datetime) -> datetime:
        """Read a time that has no zone as one of the course's."""
        if when.tzinfo is not None:
            return when
        return when.replace(tzinfo=self.zone) if self.zone else when.astimezone()

    def deadline(self, lesson: str, extra_days: float = 0.0) -> datetime | None:
        """Return the moment: a day more is the same time on the next day, also in March."""
        due = self.due.get(lesson)
        if due is None:
            return None
        return self._moment(due, extra_days)

    def _moment(self, due: datetime, extra_days: float) -> datetime:
        return self.aware(due + timedelta(days=extra_days)).astimezone(UTC)

    def days_late(self, lesson: str, when: datetime, extra_days: float = 0.0) -> int:
        """Count the days begun since the deadline: 0 if it was kept, or within the grace."""
        due = self.due.get(lesson)
        if due is None or when <= self._moment(due, extra_days) + self.grace:
            return 0
        days = max(1, (when - self._moment(due, extra_days)).days)
        while when > self._moment(due, extra_days + days):
            days += 1
        while days > 1 and when <= self._moment(due, extra_days + days - 1):
            days -= 1
        return days

    def taken_off(self, score: float, days: int) -> float:
        """Return the points that so many days cost."""
        if self.cut_off is not None and days > self.cut_off:
            return score
        return score * min(1.0, self.penalty * days / 100)


def read_deadlines(course: Course) -> Deadlines:
    """Read deadlines.toml; without one nothing is due, and nothing late."""
    path = course.root / FILE
    if not path.is_file():
        return Deadlines()
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        zone = ZoneInfo(data["zone"]) if "zone" in data else None
        due = {name: _moment(name, when, zone) for name, when in data.get("due", {}).items()}
        extra: dict[str, dict[str, float]] = {"": {}}
        for name, days in data.get("extra_days", {}).items():
            if isinstance(days, dict):
                extra[name] = {str(s): float(d) for s, d in days.items()}
            else:
                extra[""][name] = float(days)
        cut_off = float(data["cut_off"]) if "cut_off" in data else None
        grace = timedelta(minutes=float(data.get("grace", 0)))
        return Deadlines(zone, grace, float(data.get("penalty", 0)), cut_off, due, extra)
    except ZoneInfoNotFoundError:
        raise CourseError(
            f"{path}: {data['zone']!r} is no time zone. Write it as in Europe/Berlin."
        ) from None
    except (ValueError, TypeError, AttributeError, OverflowError) as problem:
        raise CourseError(f"{path} cannot be used: {problem}.") from None


def _moment(lesson: str, when: datetime | date, zone: ZoneInfo | None) -> datetime:
    """Return a deadline in the course's own time; a day alone means its end."""
    if lesson not in order():
        raise ValueError(f"{lesson} is no lesson")
    if isinstance(when, datetime):
        return when.astimezone(zone).replace(tzinfo=None) if when.tzinfo else when
    if isinstance(when, date):
        return datetime.combine(when, time(23, 59, 59))
    raise ValueError(f"{lesson} needs a date, as in 2027-03-26 23:59:00")
