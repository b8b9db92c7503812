"""A result is saved whole or not at all, and a check that did not run earns nothing."""

import copy
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Student
from nbgrader.utils import determine_grade
from submissions import LESSON, released

from autograder.checks.cells import is_check
from autograder.course.course import Course, init
from autograder.course.gradebook import one_gradebook
from autograder.course.status import BROKEN
from autograder.grading.grade import Ready, _save_one
from autograder.grading.saving import Take
from autograder.running.runner import Ran


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Course:
    return init(tmp_path_factory.mktemp("saving") / "course", [LESSON])


def test_a_check_that_the_result_says_nothing_of_earns_nothing():
    notebook = nbformat.from_dict(copy.deepcopy(released()))
    checks = [cell for cell in notebook.cells if is_check(cell)]
    assert determine_grade(checks[0])[0] > 0  # what nbgrader gives where nothing was put out
    take = Take()
    take.result = Ran()
    take.preprocess(notebook, {})
    assert [determine_grade(cell)[0] for cell in checks] == [0] * len(checks)


class Refused:
    """Stands for a saver in whose middle the database refuses a row."""

    lesson = LESSON

    def __init__(self, gradebook):
        self.gradebook = gradebook

    def save(self, student: str, result: Path) -> dict[str, str]:
        self.gradebook.db.add(Student(id="half saved"))
        self.gradebook.db.flush()
        self.gradebook.db.expunge_all()
        self.gradebook.db.add(Student(id="half saved"))
        self.gradebook.db.flush()
        raise AssertionError("the database takes the same row twice")


def test_what_the_database_refuses_leaves_no_half_and_does_not_stop_the_next(course):
    work = Ready([], course.root / "repaired" / "ada" / LESSON / "x.ipynb", "key", "content")
    with one_gradebook(course) as gradebook:
        record = _save_one(course, "ada", work, True, Refused(gradebook), gradebook)
        assert record.status == (BROKEN,) and "IntegrityError" in record.notes[0]
        gradebook.db.add(Student(id="bob"))
        gradebook.commit()
    assert course.students() == ["bob"]
