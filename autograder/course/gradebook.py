"""One connection to the gradebook for all of nbgrader's steps; a submission, one transaction."""

import contextlib
import importlib
import warnings
from collections.abc import Iterator
from typing import Any

from nbgrader.api import Gradebook
from sqlalchemy.exc import SAWarning

from autograder.course.course import Course

OPENERS = (  # the modules that open a gradebook while a submission is graded or its page is made
    "nbgrader.converters.autograde",
    "nbgrader.preprocessors.getgrades",
    "nbgrader.preprocessors.latesubmissions",
    "nbgrader.preprocessors.overwritecells",
    "nbgrader.preprocessors.overwritekernelspec",
    "nbgrader.preprocessors.saveautogrades",
)


class OneGradebook(Gradebook):
    """A gradebook that stays open and keeps changes together until `commit` or `rollback`."""

    def __init__(self, course: Course):
        settings = course.config.CourseDirectory
        super().__init__(settings.db_url, settings.course_id)
        self.db.commit = self.db.flush  # what nbgrader's steps call after every cell

    def commit(self) -> None:
        self.db().commit()

    def rollback(self) -> None:
        self.db().rollback()

    def close(self) -> None:
        """Stay open: nbgrader's steps close what they think is theirs."""

    def end(self) -> None:
        super().close()


@contextlib.contextmanager
def one_gradebook(course: Course) -> Iterator[OneGradebook]:
    """Have nbgrader's steps use one gradebook for as long as this lasts."""
    gradebook = OneGradebook(course)
    openers: list[Any] = [importlib.import_module(name) for name in OPENERS]
    try:
        for module in openers:
            module.Gradebook = lambda *_, **__: gradebook
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)  # nbgrader's own, about autoflush
            yield gradebook
    finally:
        for module in openers:
            module.Gradebook = Gradebook
        gradebook.end()
