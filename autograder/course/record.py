"""What was collected before: from where, by whose word, and when it was handed in."""

import json
from dataclasses import asdict, dataclass

from autograder.course.course import Course
from autograder.errors import CourseError
from solutions.whole_file import whole_file

RECORD = "collected.json"


@dataclass
class Taken:
    """Where a collected notebook came from."""

    path: str
    origin: str = ""  # the platform that said whose it is, and its number; nothing: people's names
    when: str | None = None  # the time of handing in, in UTC, where it is known
    before: str | None = None  # else the file's date, which is that of the download
    late: bool | None = None  # the platform's word


Record = dict[str, dict[str, Taken]]  # by learner and lesson


def read_record(course: Course) -> Record:
    path = course.root / RECORD
    if not path.exists():
        return {}
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return {s: {n: Taken(**t) for n, t in of.items()} for s, of in data.items()}
    except (ValueError, TypeError, AttributeError):
        raise CourseError(
            f"{path} is damaged. Remove it and collect again: no notebook is in it."
        ) from None


def write_record(course: Course, record: Record) -> None:
    """Write the record; the file is whole or the one before, whenever we are killed."""
    data = {s: {n: asdict(t) for n, t in of.items()} for s, of in record.items()}
    with whole_file(course.root / RECORD) as part:
        part.write_text(json.dumps(data, indent=1, ensure_ascii=False), encoding="utf-8")
        part.chmod(0o600)  # names and times are nobody else's business
