"""Pieces of a page count what is there."""

import re

import pytest

from autograder.checks.question import Exercise, Lesson
from autograder.lessons import load
from autograder.release import pieces
from autograder.repository import order
from solutions.warm_up import softmax


@pytest.fixture
def practice(monkeypatch):
    """Say what is said of a lesson with so many questions and so many written answers."""

    def said(questions: int, written: int) -> str:
        exercise = Exercise(softmax, {"values": 30}, [])
        monkeypatch.setattr(pieces, "load", lambda name: Lesson(name, [exercise] * questions))
        monkeypatch.setattr(pieces, "written_answers", lambda _: ["why"] * written)
        return re.sub("<[^>]+>", "", pieces.practice("made").text).partition(":")[0]

    return said


@pytest.mark.parametrize(
    ("questions", "written", "sentence"),
    [
        (5, 1, "Practice. 5 checked exercises worth 150 points and one written answer"),
        (5, 2, "Practice. 5 checked exercises worth 150 points and 2 written answers"),
        (1, 0, "Practice. One checked exercise worth 30 points"),
    ],
)
def test_the_link_to_the_notebook_says_how_many_questions_there_are(
    practice, questions, written, sentence
):
    assert practice(questions, written) == sentence


@pytest.mark.parametrize("lesson", order())
def test_every_page_says_how_many_points_are_checked_and_that_one_answer_is_written(lesson):
    text = re.sub("<[^>]+>", "", pieces.practice(lesson).text)
    said = re.search(r"(\d+) checked exercises worth (\d+) points and one written answer", text)
    questions = load(lesson).questions
    assert (int(said[1]), int(said[2])) == (len(questions), sum(q.points for q in questions))


def test_one_slip_is_said_to_be_one(monkeypatch):
    exercise = load("warm_up").exercises[0]
    made = Exercise(softmax, exercise.parts, exercise.cases, exercise.slips[:1])
    monkeypatch.setattr(pieces, "load", lambda name: Lesson(name, [made]))
    assert "softmax</code>: one known slip</summary>" in pieces.common_slips("made").text
