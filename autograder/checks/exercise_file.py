"""What an exercise file names: the bodies a learner writes, the answers in words, and its lines.

The one place that reads this. It imports nothing heavy, for the wall starts before torch does.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import ReleaseError
from autograder.repository import EXERCISES


@dataclass(frozen=True)
class Body:
    """A body that the learner writes: "solutions.multi_head", "MultiHeadAttention.forward"."""

    module: str
    qualname: str

    @property
    def whole(self) -> str:
        """Return the function or class that stands in the notebook."""
        return self.qualname.partition(".")[0]


def path_of(lesson: str) -> Path:
    return EXERCISES / f"{lesson}.md"


def text_of(lesson: str) -> str:
    return path_of(lesson).read_text(encoding="utf-8")


def place(lesson: str, line: int | None = None) -> str:
    """Name a line of an exercise file as every editor does: exercises/warm_up.md:12."""
    return f"exercises/{lesson}.md" + (f":{line}" if line else "")


def bodies_in(dotted: str) -> list[Body]:
    """Read what stands behind `:solution:`, one name or several with commas between them."""
    return [_body(name.strip()) for name in dotted.split(",")]


def _body(dotted: str) -> Body:
    package, module, qualname = [*dotted.split(".", 2), "", ""][:3]
    if package != "solutions" or not all(part.isidentifier() for part in dotted.split(".")):
        qualname = ""
    if not qualname:
        raise ReleaseError(
            f"`:solution: {dotted}` names no function or class: write solutions.FILE.NAME, or "
            "solutions.FILE.CLASS.METHOD."
        )
    return Body(f"{package}.{module}", qualname)


def bodies(lesson: str) -> list[Body]:
    """Return all bodies that a lesson's learner writes, in the notebook's order."""
    found = []
    for number, line in enumerate(text_of(lesson).splitlines(), start=1):
        if line.startswith(":solution:"):
            try:
                found += bodies_in(line.removeprefix(":solution:"))
            except ReleaseError as problem:
                raise ReleaseError(f"{place(lesson, number)}: {problem}") from None
    return found


def written_answers(lesson: str) -> list[str]:
    """Return the names of the answers that a person reads."""
    return re.findall(r'^\+\+\+ \{.*"written": "(\w+)"', text_of(lesson), re.MULTILINE)
