"""A class of two, graded once; every test gets a copy of its own."""

import shutil

import pytest
from submissions import LESSON, hand_in, honest

from autograder.course.course import Course, init
from autograder.grading import grade as grading
from autograder.running.side_by_side import SideBySide


@pytest.fixture(scope="session")
def graded_once(tmp_path_factory) -> Course:
    course = init(tmp_path_factory.mktemp("graded") / "course", [LESSON])
    for student in ("ada", "bob"):
        hand_in(course, student, honest())
    grading.grade(course, LESSON, SideBySide())
    return course


@pytest.fixture
def course(graded_once, tmp_path) -> Course:
    return Course(shutil.copytree(graded_once.root, tmp_path / "course"))
