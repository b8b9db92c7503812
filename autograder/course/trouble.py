"""Troubles that are no submission's: a full disk, a locked gradebook. They stop the command."""

import errno
from collections.abc import Iterator

from autograder.errors import CourseError

AGAIN = "Nothing is lost: what was run is kept in results/, and the same command goes on from there"
FULL = (errno.ENOSPC, errno.EDQUOT)


def stop_at(problem: BaseException, place: object) -> None:
    """Raise a sentence if the machine, and not one submission, is the cause."""
    if sentence := trouble(problem, place):
        raise CourseError(sentence) from None


def trouble(problem: BaseException, place: object) -> str | None:
    """Say what is wrong with the disk or the gradebook, if that is the cause of an error."""
    from sqlalchemy.exc import DBAPIError

    for cause in _causes(problem):
        if isinstance(cause, OSError) and cause.errno in FULL:
            return f"The disk that holds {place} is full. Make room. {AGAIN}."
        if isinstance(cause, OSError) and cause.errno == errno.EROFS:
            return f"The disk that holds {place} can only be read. {AGAIN} when it can be written."
        if isinstance(cause, DBAPIError):
            said = str(cause.orig)
            if "disk is full" in said or "disk I/O" in said:
                return f"The disk that holds {place}/gradebook.db is full. Make room. {AGAIN}."
            if "locked" in said:
                return (
                    f"{place}/gradebook.db is locked by another program. Close formgrader, or wait "
                    f"until it has saved. {AGAIN}."
                )
            if "readonly" in said:
                return f"{place}/gradebook.db can only be read. Give yourself the right. {AGAIN}."
    return None


def _causes(problem: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and those it came from: nbgrader puts its own around them."""
    seen: set[int] = set()
    while problem is not None and id(problem) not in seen:
        seen.add(id(problem))
        yield problem
        problem = problem.__cause__ or problem.__context__
