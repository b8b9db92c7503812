"""A course of one lesson, made once and copied: making the gradebook takes seconds."""

import shutil

import pytest
from submissions import LESSON

from autograder.course.course import Course, init


@pytest.fixture(scope="session")
def made_once(tmp_path_factory) -> Course:
    return init(tmp_path_factory.mktemp("made") / "course", [LESSON])


@pytest.fixture
def course(made_once, tmp_path) -> Course:
    """A course of one's own."""
    return Course(shutil.copytree(made_once.root, tmp_path / "course"))
