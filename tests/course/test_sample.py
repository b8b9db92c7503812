"""The made-up class can be made from every lesson, however few exercises and slips it has."""

import ast
import dataclasses

import nbformat
import pytest

from autograder import lessons
from autograder.checks.question import Lesson
from autograder.course import sample
from autograder.course.sample import endless, learners


@pytest.fixture
def fewer(monkeypatch):
    """Let a lesson have only some of its exercises, each with only some of its slips."""

    def leave(name: str, exercises: list[int], slips: int) -> str:
        whole = lessons.load(name)
        left = [
            dataclasses.replace(whole.exercises[n], slips=whole.exercises[n].slips[:slips])
            for n in exercises
        ]
        monkeypatch.setattr(sample, "load", lambda _: Lesson(name, left))
        return name

    return leave


@pytest.mark.parametrize(
    ("name", "exercises"),
    [("warm_up", [0]), ("warm_up", [0, 1]), ("multi_head", [2])],
    ids=["one function", "two functions", "one class"],
)
@pytest.mark.parametrize("slips", [1, 2])
def test_a_class_is_made_of_a_lesson_with_few_exercises_and_slips(fewer, name, exercises, slips):
    handed_in = [make() for make in learners(fewer(name, exercises, slips))]
    assert len(handed_in) == 15
    assert sum(isinstance(work, nbformat.NotebookNode) for work in handed_in) == 13
    right, _, wrong, *_ = handed_in
    assert right != wrong


@pytest.mark.parametrize("exercises", [[0, 1], [2]], ids=["a function", "a method"])
def test_a_learner_who_waits_still_hands_in_python(fewer, exercises):
    made = endless(fewer("multi_head", exercises, 2))
    (cell,) = (c for c in made.cells if "time.monotonic" in c.source)
    ast.parse(cell.source)
