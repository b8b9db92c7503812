"""The table of a collecting: taken, doubtful, missing, and why."""

from autograder.course.collect import Harvest
from autograder.course.names import shown
from autograder.course.work import ROSTER, Work


def lines(harvest: Harvest, everything: bool = True) -> list[str]:
    """Return a line for each work, and for each that is missing; or only for what needs a look."""
    rows = [("", "learner", "lesson", "file", "why")]
    for (student, lesson), work in sorted(harvest.taken.items()):
        if everything:
            kind = "doubtful" if work.doubt else "taken"
            rows.append((kind, student, lesson, str(work.arrival.path), why(work)))
    for work in _one_each(harvest.doubtful):
        path = str(work.arrival.path)
        rows.append(("doubtful", work.student or "?", work.lesson or "?", path, work.doubt))
    for student, lesson in harvest.missing:
        rows.append(("missing", student, lesson, "", "in the roster, and nothing came"))
    cells = [[shown(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(4)]
    return ["  ".join(_padded(row, widths)).rstrip() for row in cells]


def _padded(row: list[str], widths: list[int]) -> list[str]:
    return [*(cell.ljust(width) for cell, width in zip(row[:4], widths, strict=True)), row[4]]


def why(work: Work) -> str:
    """Say by what a work was taken to be a learner's."""
    if work.doubt:
        return work.doubt
    if work.by == ROSTER:
        return f"the roster, by {work.label.platform}'s name" if work.label else "the roster"
    if work.by:
        return f"{work.by}'s name"
    return "the folder's name" if work.folder else "the file's name"


def _one_each(works: list[Work]) -> list[Work]:
    """Return the notebooks; of somebody who sent none, one other file."""
    notebooks = [w for w in works if w.arrival.is_notebook]
    others = {w.student: w for w in works if not w.arrival.is_notebook}
    sent = {w.student for w in notebooks}
    return [*notebooks, *(w for student, w in others.items() if student not in sent)]
