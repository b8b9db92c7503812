"""Moodle, "Download all submissions": `Full Name_number_assignsubmission_file_`, mostly a folder.

Moodle turns `_` in names into blanks, so that the first number is its own. The number is another
one in every assignment: the name alone is the learner's, unless two people share it.
"""

import re

from autograder.course.names import clean
from autograder.course.platforms.label import Label, Learner, by_name

NAME = re.compile(r"(?P<name>[^_]+)_(?P<number>\d{1,20})_assignsubmission_[a-z]+_?(?P<file>.*)")


def labels(arrivals):
    return by_name(arrivals, _read)


def _read(name: str, is_file: bool) -> Label | None:
    found = NAME.fullmatch(name)
    if not found or not (key := clean(found["name"])):
        return None
    number = found["number"]
    learner = Learner(key, (f"participant {number}",), found["name"])
    return Label("Moodle", (learner,), found["file"] if is_file else "", number)
