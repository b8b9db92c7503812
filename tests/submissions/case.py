"""What a fixture is, and the few ways to make one from the answered notebook of `warm_up`."""

from collections.abc import Callable
from dataclasses import dataclass

from . import cell, code, place, plain, released

ALL = 90  # what machine-marked questions are worth: 30 + 20 + 15 + 10 + 15
GRADED, TIMED_OUT, CRASHED = "graded", "timed out", "crashed"
UNREADABLE, MISSING = "unreadable", "missing"

# Hostile code says so when it got where it must not. In two halves: a traceback shows source.
REACHED = 'print("REA" + "CHED")'
# Stand for what the test made: a folder with a course in it, a listening port and socket.
COURSE, PORT, SOCKET = "@COURSE@", "@PORT@", "@SOCKET@"

Make = Callable[[dict], dict | bytes | None]


@dataclass(frozen=True)
class Case:
    """A submission, a sentence on what it tries, and what it deserves."""

    name: str
    about: str
    make: Make  # takes the answered notebook; bytes for a file that is none, None for no file
    score: float | None = ALL
    status: str = GRADED
    file: str = "warm_up.ipynb"  # for those handed in as files
    beside: tuple[str, ...] = ()  # other files in the same folder


def own(source: str) -> Make:
    """Put a cell of the learner's own before the first answer."""

    def make(work: dict) -> dict:
        work["cells"].insert(place(work, "softmax"), code(source))
        return work

    return make


def last(source: str) -> Make:
    """Put a cell of the learner's own at the end."""

    def make(work: dict) -> dict:
        work["cells"].append(code(source))
        return work

    return make


def instead(**answers: str) -> Make:
    """Write something else in place of some answers."""

    def make(work: dict) -> dict:
        for name, source in answers.items():
            cell(work, name)["source"] = source
        return work

    return make


def softmax(body: str, before: str = "") -> Make:
    """Answer the first exercise with these lines in the function, and lines before it."""
    lines = "\n".join("    " + line for line in body.splitlines())
    return instead(softmax=f"{before}\ndef softmax(x, dim):\n{lines}\n")


def unanswered(source: str) -> Make:
    """Answer nothing, and put a cell of the learner's own first."""

    def make(_: dict) -> dict:
        work = plain(released())
        work["cells"].insert(place(work, "softmax"), code(source))
        return work

    return make
