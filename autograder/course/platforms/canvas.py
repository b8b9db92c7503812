"""Canvas, "Download submissions": files called `name[_LATE]_user_upload_file`, in no folders.

Canvas takes `_1_` out of names itself, so that the first two numbers are its own. A file's date is
that of the download; whether it came late is in its name.
"""

import re

from autograder.course.names import clean
from autograder.course.platforms.label import Label, Learner, by_name

NAME = re.compile(
    r"(?P<name>.+?)(?P<late>_LATE)?_(?P<user>\d{1,20})_(?P<upload>\d{1,20})_(?P<file>.+)"
)


def labels(arrivals):
    return by_name(arrivals, _read)


def _read(name: str, is_file: bool) -> Label | None:
    found = NAME.fullmatch(name) if is_file else None
    key = clean(f"{found['name']}_{found['user']}") if found else None
    if not found or not key:
        return None
    learner = Learner(key, (found["user"],), found["name"])
    return Label(
        "Canvas",
        (learner,),
        found["file"],
        upload=int(found["upload"]),
        late=bool(found["late"]),
        dated=False,
    )
