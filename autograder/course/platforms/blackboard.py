"""Blackboard, "Assignment File Download": files called `Assignment_user_attempt_time_file`.

Beside them lies `Assignment_user_attempt_time.txt`, whose first line is `Name: Full Name (user)`;
it tells where the user begins if that has a `_` in it.
"""

import re
from dataclasses import replace
from datetime import datetime

from autograder.course.names import clean
from autograder.course.platforms.label import Label, Learner, by_name

NAME = re.compile(
    r"(?P<head>.+?)_attempt_(?P<time>\d{4}(-\d\d){5})(_(?P<file>.+)|\.txt)", re.DOTALL
)
FIRST_LINE = re.compile(r"Name: (?P<name>.*) \((?P<user>[^()]+)\)")
MOST = 1_000_000  # bytes of a text that is looked at


def labels(arrivals):
    found = by_name(arrivals, _read)
    # by the head of the name, as Blackboard's own texts tell
    people: dict[str, Learner | None] = {}
    for arrival in arrivals:
        label = found.get(arrival.path)
        if label and not label.file and arrival.size < MOST:
            people.setdefault(label.number, _person(arrival, label.number))
    return {
        at: replace(label, learners=(people.get(label.number) or label.learners[0],))
        for at, label in found.items()
    }


def _read(name: str, is_file: bool) -> Label | None:
    found = NAME.fullmatch(name) if is_file else None
    user = found["head"].rpartition("_")[2] if found else ""
    if not found or not (key := clean(user)):
        return None
    try:
        when = datetime.strptime(found["time"], "%Y-%m-%d-%H-%M-%S")
    except ValueError:
        return None
    learner = Learner(key, (user,))
    return Label("Blackboard", (learner,), found["file"] or "", found["head"], when=when)


def _person(arrival, head: str) -> Learner | None:
    try:
        line = arrival.read().decode("utf-8-sig", "replace")[:500].partition("\n")[0]
    except Exception:  # a damaged member: the file's name alone has to do
        return None
    found = FIRST_LINE.fullmatch(line.strip())
    if not found or not head.endswith("_" + found["user"]) or not (key := clean(found["user"])):
        return None
    return Learner(key, (found["user"],), found["name"])
