"""Copy one work into the course: the newest version that can be read, with its time."""

import os
from datetime import UTC, datetime

from autograder.course.arrivals import Arrival
from autograder.course.course import Course
from autograder.course.deadlines import Deadlines
from autograder.course.names import shown
from autograder.course.record import Taken
from autograder.course.submission import MAX_BYTES
from autograder.course.work import Work

GRAIN = 2.0  # seconds: a zip counts in twos
STAMP = "%Y-%m-%d %H:%M:%S.%f UTC"  # as nbgrader writes timestamp.txt


def newest(
    course: Course, works: list[Work], before: Taken | None, notes: list[str]
) -> tuple[Work, bytes] | None:
    """Return the newest version and its bytes, unless what was collected before has to stay."""
    *older, work = sorted(works, key=lambda w: w.age)
    student, lesson, path = work.student, work.lesson, work.arrival.path
    data = _data(work.arrival, notes)
    if data is None:
        return newest(course, older, before, notes) if older else None
    for other in older:
        notes.append(f"{student}, {lesson}: {path} replaces the older {other.arrival.path}.")
    target, when = notebook(course, work), work.when
    if not target.is_file() or target.read_bytes() == data:
        return work, data
    if reason := _refused(work, before):
        notes.append(reason)
        return None
    kept = target.stat().st_mtime
    if kept > when + GRAIN:
        notes.append(
            f"{student}, {lesson}: {path} is older than what was collected before, and "
            f"is left out. To take it all the same, remove {target} first."
        )
        return None
    if abs(when - kept) <= GRAIN:
        notes.append(
            f"{student}, {lesson}: {path} replaces another file of the same date, which "
            "was collected before. If that was somebody else's, give each a name of its own."
        )
    return work, data


def notebook(course: Course, work: Work):
    """Return where a work's notebook lies in the course."""
    assert work.student and work.lesson  # only such works are taken
    return course.path("submitted", work.student, work.lesson) / f"{work.lesson}.ipynb"


def put(course: Course, work: Work, data: bytes, deadlines: Deadlines) -> Taken:
    """Write the notebook and nbgrader's timestamp.txt; return what to remember."""
    target, when = notebook(course, work), work.when
    if target.is_file():
        when = max(when, target.stat().st_mtime)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    os.utime(target, (when, when))
    handed_in = _handed_in(work, deadlines)
    stamp = target.parent / "timestamp.txt"
    stamp.unlink(missing_ok=True)
    if handed_in:
        stamp.write_text(handed_in.strftime(STAMP), encoding="utf-8")
    return Taken(
        shown(str(work.arrival.path)),
        work.origin,
        handed_in.isoformat() if handed_in else None,
        None if handed_in else datetime.fromtimestamp(work.arrival.when, UTC).isoformat(),
        work.label.late if work.label else None,
    )


def _handed_in(work: Work, deadlines: Deadlines) -> datetime | None:
    """Return the platform's time, else the zip's or the file's; none, if that is the download's."""
    label, arrival = work.label, work.arrival
    if label and label.when:
        return deadlines.aware(label.when).astimezone(UTC)
    if label and not label.dated:
        return None
    if arrival.clock:
        return deadlines.aware(arrival.clock).astimezone(UTC)
    return datetime.fromtimestamp(arrival.when, UTC)


def weaker(work: Work) -> str:
    return (
        f"{work.arrival.path}: left out, only a name that somebody wrote makes it {work.student}'s "
        f"{work.lesson}; what is there was handed in under the platform's own name."
    )


def _refused(work: Work, before: Taken | None) -> str | None:
    """Say why a work must not replace what was collected before under another outer name."""
    if not before or not before.origin or work.origin == before.origin:
        return None
    if not work.by:
        return weaker(work)
    platform = before.origin.partition(" ")[0]
    if work.by == platform:
        return (
            f"{work.arrival.path}: left out, {platform} has it under another number than what was "
            f"collected as {work.student}'s {work.lesson}: another person of that name? A roster "
            "would know them: --roster."
        )
    return None


def _data(arrival: Arrival, notes: list[str]) -> bytes | None:
    if arrival.size > MAX_BYTES:
        notes.append(f"{arrival.path}: left out, it is larger than {MAX_BYTES // 1_000_000} MB.")
        return None
    try:
        return arrival.read()
    except Exception as problem:  # one bad member costs one note, whatever its damage raises
        notes.append(f"{arrival.path}: left out, it cannot be read ({problem}).")
        return None
