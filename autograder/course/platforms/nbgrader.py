"""nbgrader: `submitted/user/lesson/`, and JupyterHub's exchange, `inbound/user+lesson+time+code/`.

Everybody may write into the exchange, so a folder's name counts only if its owner is that user, or
the one who collects. ngshare's collecting writes `submitted/` as nbgrader's does. `timestamp.txt`
in such a folder is nbgrader's own: it is written after the learner's files.
"""

import contextlib
import re
from dataclasses import replace
from datetime import UTC, datetime

from autograder.course.names import clean
from autograder.course.platforms.label import Label, Learner, by_name

INBOUND = re.compile(
    r"(?P<user>.+)\+(?P<lesson>[^+]+)\+"
    r"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.\d]*( [A-Za-z]+| [+-]\d{4})?)"
    r"(\+(?P<code>\w+))?"
)
TIMESTAMP = "timestamp.txt"


def labels(arrivals):
    found = by_name(arrivals, _inbound)
    for arrival in arrivals:
        parts = arrival.path.parts
        if "submitted" not in parts[:-3]:
            continue
        place = parts.index("submitted")
        user, lesson = parts[place + 1 : place + 3]
        depth = len(parts) - place - 3  # from the file up to the lesson's folder
        at, root = arrival.path.parents[depth - 1], arrival.path.parents[depth]
        if key := clean(user):
            made = Label("nbgrader", (Learner(key, (user,)),), lesson=lesson, at=at, root=root)
            found.setdefault(at, made)
    for arrival in arrivals:
        at = arrival.path.parent
        if arrival.path.name == TIMESTAMP and at in found and found[at].when is None:
            found[at] = replace(found[at], when=_stamp(arrival))
    return found


def _inbound(name: str, is_file: bool) -> Label | None:
    found = None if is_file else INBOUND.fullmatch(name)
    key = clean(found["user"]) if found else None
    if not found or not key:
        return None
    learner = Learner(key, (found["user"],))
    when, lesson, user = _utc(found["time"]), found["lesson"], found["user"]
    return Label("nbgrader", (learner,), when=when, lesson=lesson, account=user)


def _stamp(arrival) -> datetime | None:
    try:
        return _utc(arrival.read()[:100].decode("utf-8", "replace").strip())
    except Exception:  # a damaged member
        return None


def _utc(text: str) -> datetime | None:
    from nbgrader.utils import parse_utc

    with contextlib.suppress(ValueError):
        return datetime.strptime(text, "%Y-%m-%d %H:%M:%S.%f %z").astimezone(UTC)
    try:
        return parse_utc(text).replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
