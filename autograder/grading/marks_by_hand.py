"""Let the marks that a human gave to a written answer stand for as long as the answer does.

nbgrader asks for a new look whenever a submission is saved again, also where a check was corrected,
a limit changed, or the learner's new attempt has the same written answer.
"""

from collections.abc import Iterator

import nbformat

from autograder.checks.cells import is_graded, is_solution
from autograder.course.course import Course


def marked_answers(course: Course, lesson: str, student: str, gradebook) -> dict[str, str]:
    """Return the written answers that have been marked, by the names of their cells."""
    final = {
        grade.name
        for grade in _grades(lesson, student, gradebook)
        if grade.manual_score is not None and not grade.needs_manual_grade
    }
    return {name: text for name, text in _written(course, lesson, student) if name in final}


def let_stand(course: Course, lesson: str, student: str, gradebook, marked: dict[str, str]) -> None:
    """Ask nobody to mark again what has been marked and is still the same."""
    same = dict(_written(course, lesson, student)).items() & marked.items()
    for grade in _grades(lesson, student, gradebook):
        if grade.name in dict(same):
            grade.needs_manual_grade = False


def _grades(lesson: str, student: str, gradebook) -> Iterator:
    from nbgrader.api import MissingEntry

    try:
        submission = gradebook.find_submission(lesson, student)
    except MissingEntry:
        return
    for notebook in submission.notebooks:
        yield from notebook.grades


def _written(course: Course, lesson: str, student: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of the written answers in a graded notebook: these cells have points."""
    path = course.path("autograded", student, lesson) / f"{lesson}.ipynb"
    if not path.exists():
        return
    for cell in nbformat.reader.reads(path.read_text(encoding="utf-8")).cells:  # we wrote it
        if is_graded(cell) and is_solution(cell):
            yield cell.metadata.nbgrader.grade_id, cell.source
