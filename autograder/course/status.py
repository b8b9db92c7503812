"""How each submission's grading went, kept beside the gradebook in status.json.

A status is some facts that can stand side by side: a cell crashed, and a written answer waits.
"""

import json
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields

from autograder.course.course import Course
from autograder.errors import CourseError
from solutions.whole_file import whole_file

GRADED, HUMAN = "graded", "needs a human"
OUT_OF_TIME, BROKEN, UNREADABLE, MISSING = "timed out", "crashed", "unreadable", "missing"
NOT_YET = "not graded yet"
ALL = (GRADED, OUT_OF_TIME, BROKEN, HUMAN, UNREADABLE, NOT_YET, MISSING)
STATUS_FILE = "status.json"
PAUSE = 2.0  # seconds between two writings: the file grows with the class


def in_order(facts: Iterable[str]) -> tuple[str, ...]:
    """Return facts once each; that all is graded is said only where nothing else is."""
    found = [fact for fact in dict.fromkeys(facts) if fact != GRADED] or [GRADED]
    return tuple(sorted(found, key=lambda fact: ALL.index(fact) if fact in ALL else len(ALL)))


def joined(facts: Iterable[str]) -> str:
    """Return facts as tables show them: "timed out, needs a human"."""
    return ", ".join(facts)


@dataclass
class Record:
    """How one submission's grading went; the scores themselves are in the gradebook."""

    status: tuple[str, ...]  # facts, in the order of ALL; one may be given as a word
    notes: list[str] = field(default_factory=list)
    content: str = ""  # names what was saved: the result and all that the notebook says
    walled: bool = True  # False: the learner's code ran with the grader's rights
    capped: bool = True  # False: no cap on the memory of all its processes together
    saved: str = ""  # a digest of the scores as the gradebook had them then

    def __post_init__(self):
        facts = (self.status,) if isinstance(self.status, str) else tuple(self.status)
        self.status = in_order(facts)

    @property
    def word(self) -> str:
        return joined(self.status)


def statuses(course: Course) -> dict[str, dict[str, Record]]:
    """Return what was recorded when grading, by lesson and learner."""
    path = course.root / STATUS_FILE
    if not path.exists():
        return {}
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise CourseError(
            f"{path} is damaged. Remove it and grade again: no score is in it."
        ) from None
    return {name: {s: _record(r) for s, r in found.items()} for name, found in data.items()}


def _record(data: dict) -> Record:
    """Read one record; what an earlier version wrote under other names is made anew."""
    known = {f.name for f in fields(Record)}
    return Record(**{name: value for name, value in data.items() if name in known})


def write(course: Course, lesson: str, records: dict[str, Record]) -> None:
    """Write a lesson's records; the file is whole or the one before, whenever we are killed."""
    everything = statuses(course)
    everything[lesson] = records
    data = {name: {s: asdict(r) for s, r in found.items()} for name, found in everything.items()}
    with whole_file(course.root / STATUS_FILE) as part:
        part.write_text(json.dumps(data, indent=1), encoding="utf-8")


class Diary:
    """Records that are written now and then while grading; after a kill the last few are made anew.

    A submission that is in the gradebook but not in here is saved again: nothing else is lost.
    What was recorded `before` stands for those whose turn has not come.
    """

    def __init__(self, course: Course, lesson: str, before: dict[str, Record]):
        self.course, self.lesson, self.before = course, lesson, before
        self.records: dict[str, Record] = {}
        self.next = time.monotonic() + PAUSE

    def note(self, student: str, record: Record) -> None:
        self.records[student] = record
        if time.monotonic() >= self.next:
            self.write()

    def complete(self) -> None:
        """Write the records of all; who was recorded before and is no longer here is dropped."""
        self.before = {}
        self.write()

    def write(self) -> None:
        start = time.monotonic()
        write(self.course, self.lesson, {**self.before, **self.records})
        # a long file is written less often, so that writing stays a small share of the time
        self.next = time.monotonic() + max(PAUSE, 50 * (time.monotonic() - start))
