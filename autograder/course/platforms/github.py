"""GitHub: a folder of checkouts, one repository a learner, called `assignment-user` by Classroom.

A checkout has `.git/config`, which no learner can put into a repository. A file's date is that of
the checkout; the date of a commit is the learner's choice.
"""

import re
from itertools import takewhile

from autograder.course.arrivals import LAID_BY_GIT
from autograder.course.lesson_names import spelled
from autograder.course.names import clean
from autograder.course.platforms.label import Label, Learner
from autograder.repository import order

ADDRESS = re.compile(
    r"^[ \t]*url[ \t]*=[ \t]*\S*[/:](?P<owner>[^/:\s]+)/(?P<name>[^/\s]+?)(\.git)?/?$",
    re.MULTILINE,
)


def labels(arrivals):
    checkouts = {
        arrival.path.parent.parent: _address(arrival)
        for arrival in arrivals
        if arrival.path.parts[-2:] == LAID_BY_GIT
    }
    common = _common([at.name for at, found in checkouts.items() if found["name"] == at.name])
    made = {}
    for at, found in checkouts.items():
        name = at.name.removeprefix(common) if common else at.name
        lesson = next((n for n in order() if re.match(spelled(n) + "-", name)), None)
        user = re.sub(f"^{spelled(lesson)}-", "", name) if lesson else name
        if key := clean(user):
            ids = tuple(dict.fromkeys((user, found["owner"], at.name)))
            learner = Learner(key, tuple(i for i in ids if i))
            made[at] = Label("GitHub", (learner,), dated=False, at=at, root=at)
    return made


def _address(arrival) -> dict[str, str]:
    try:
        found = ADDRESS.search(arrival.read()[:100_000].decode("utf-8", "replace"))
    except OSError:
        found = None
    return found.groupdict() if found else {"owner": "", "name": ""}


def _common(names: list[str]) -> str:
    """Return what Classroom puts before every user: all up to the last dash that they share."""
    if len(names) < 2:
        return ""
    alike = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    shared = "".join(letters[0] for letters in alike)
    return shared[: shared.rfind("-") + 1]
