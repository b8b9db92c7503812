"""Brightspace (D2L), "Download": folders called `12-345 - Full Name - Sep 24, 2024 926 PM`.

Where it makes no folders, ` - file` follows. A learner has one folder for each time of handing in.
"""

import re
from datetime import datetime

from autograder.course.names import clean
from autograder.course.platforms.label import Label, Learner, by_name

NAME = re.compile(
    r"(?P<number>\d{1,20}-\d{1,20}) - (?P<name>.+?) ?- "
    r"(?P<date>[A-Z][a-z]{2,8} \d{1,2}, \d{4}) (?P<time>\d{3,4})(?P<half> [AP]M)?"
    r"( - (?P<file>.+))?"
)


def labels(arrivals):
    return by_name(arrivals, _read)


def _read(name: str, is_file: bool) -> Label | None:
    found = NAME.fullmatch(name)
    if not found or not (key := clean(found["name"])):
        return None
    number, person = found["number"], found["name"]
    learner = Learner(key, (number.partition("-")[0], number), person)
    return Label("Brightspace", (learner,), found["file"] or "", number, when=_when(found))


def _when(found: re.Match) -> datetime | None:
    text = f"{found['date']} {found['time']:0>4}{found['half'] or ''}"
    for month in ("%b", "%B"):
        try:
            hour = "%I%M %p" if found["half"] else "%H%M"
            return datetime.strptime(text, f"{month} %d, %Y {hour}")
        except ValueError:
            continue
    return None
