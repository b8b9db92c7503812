"""Save results as `nbgrader autograde` does: its own steps, one gradebook and one pass for a class.

nbgrader opens the gradebook for each of its steps and validates the notebook after each. Here its
steps share one connection, a submission is one transaction, and the notebook stays in memory.
"""

import contextlib
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import nbgrader.preprocessors
from nbconvert.writers import FilesWriter
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SAWarning
from traitlets.config import Config

from autograder.course.course import Course
from autograder.running.runner import Ran, kept
from autograder.wall.session import error

OPENERS = (  # the modules that open a gradebook while a submission is graded or its page is made
    "nbgrader.converters.autograde",
    "nbgrader.preprocessors.getgrades",
    "nbgrader.preprocessors.latesubmissions",
    "nbgrader.preprocessors.overwritecells",
    "nbgrader.preprocessors.overwritekernelspec",
    "nbgrader.preprocessors.saveautogrades",
)


NOT_RUN = [error("NotRun", "This cell was not run.")]


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
    openers = [sys.modules[name] for name in OPENERS]
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


class Take(nbgrader.preprocessors.Execute):
    """nbgrader's step that runs a notebook, replaced: take the result of a run that is over."""

    result: Ran

    def preprocess(
        self, nb: NotebookNode, resources: dict, km: Any = None
    ) -> tuple[NotebookNode, dict]:
        for number, cell in enumerate(nb.cells):
            if cell.cell_type == "code":  # a check without any output would earn full marks
                outputs = self.result.outputs.get(str(number), NOT_RUN)
                cell.outputs = [nbformat.from_dict(output) for output in outputs]
        return nb, resources


class Saver(Autograde):
    """nbgrader's converter, told which submission to save, and where its result is kept."""

    def __init__(self, course: Course, lesson: str):
        config = Config(course.config)
        config.CourseDirectory.submitted_directory = "repaired"
        config.CourseDirectory.assignment_id = lesson
        coursedir = CourseDirectory(config=config)
        super().__init__(coursedir=coursedir, config=config, log=course.log, force=True)
        self.course, self.lesson = course, lesson
        self.executing = Take(parent=self)
        self.writer = FilesWriter(parent=self, config=self.config)
        # not its sanitising steps: repair has put all cells, metadata and locked text in place
        self.steps = [self._step(s) for s in self.autograde_preprocessors if s is not CHECK]

    def _step(self, step: type):
        if step is nbgrader.preprocessors.Execute:
            return self.executing
        return step(parent=self)

    def save(self, student: str, result: Path) -> dict[str, str]:
        """Put one result into the gradebook and autograded/; return how cells ended badly."""
        folder = self.course.path("repaired", student, self.lesson)
        self.executing.result = kept(result)
        self.assignments = {str(folder): [str(folder / f"{self.lesson}.ipynb")]}
        self.convert_notebooks()
        return self.executing.result.deaths

    def convert_single_notebook(self, notebook_filename: str) -> None:
        """Read the repaired notebook, take it through all steps, write it."""
        resources = self.init_single_notebook_resources(notebook_filename)
        resources |= {"metadata": {}, "output_extension": ".ipynb"}
        text = Path(notebook_filename).read_text(encoding="utf-8")
        notebook = nbformat.reader.reads(text)  # repair wrote it: no need to validate it again
        for step in self.steps:
            notebook, resources = step(notebook, resources)
        self.write_single_notebook(nbformat.v4.writes_json(notebook) + "\n", resources)


# all metadata is the release's, which nbgrader checked when it made the release
CHECK = nbgrader.preprocessors.CheckCellMetadata
