"""Save results as `nbgrader autograde` does: its own steps, one pass for a class.

nbgrader opens the gradebook for each of its steps and validates the notebook after each. Here its
steps share one connection (course/gradebook.py), and the notebook stays in memory.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import nbgrader.preprocessors
from nbconvert.writers import FilesWriter
from nbformat import NotebookNode
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from autograder.course.course import Course
from autograder.grading.marks_by_hand import Marks
from autograder.running.runner import Ran, kept
from autograder.wall.session import error

NOT_RUN = [error("NotRun", "This cell was not run.")]


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

    def __init__(self, course: Course, lesson: str, marks: Marks):
        config = Config(course.config)
        config.CourseDirectory.submitted_directory = "repaired"
        config.CourseDirectory.assignment_id = lesson
        coursedir = CourseDirectory(config=config)
        super().__init__(coursedir=coursedir, config=config, log=course.log, force=True)
        self.course, self.lesson, self.marks = course, lesson, marks
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
        self.problem: Exception | None = None
        try:
            self.convert_notebooks()
        except NbGraderException as problem:  # which does not say what it came from
            raise problem from self.problem or problem.__context__
        return self.executing.result.deaths

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        with self._remembered():
            super().init_assignment(assignment_id, student_id)

    @contextlib.contextmanager
    def _remembered(self) -> Iterator[None]:
        """Remember the error that nbgrader is about to write into its log and forget."""
        try:
            yield
        except Exception as problem:
            self.problem = problem
            raise

    def convert_single_notebook(self, notebook_filename: str) -> None:
        """Read the repaired notebook, take it through all steps, write it."""
        with self._remembered():
            self._convert(notebook_filename)

    def _convert(self, notebook_filename: str) -> None:
        resources = self.init_single_notebook_resources(notebook_filename)
        resources |= {"metadata": {}, "output_extension": ".ipynb"}
        text = Path(notebook_filename).read_text(encoding="utf-8")
        notebook = nbformat.reader.reads(text)  # repair wrote it: no need to validate it again
        for step in self.steps:
            notebook, resources = step(notebook, resources)
        self.write_single_notebook(nbformat.v4.writes_json(notebook) + "\n", resources)


# all metadata is the release's, which nbgrader checked when it made the release
CHECK = nbgrader.preprocessors.CheckCellMetadata
