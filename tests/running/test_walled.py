"""One submission, run and marked: what is said of it stays within bounds."""

import json

import nbformat
import pytest
from submissions import LESSON

from autograder.checks.cells import Check, check_text
from autograder.errors import WallError
from autograder.running import walled
from autograder.running.walled import MAX_CARD, UNMARKED, checked
from autograder.wall.session import CRASHED


class Quiet:
    """Stands for a session in which nothing happens."""

    death = ""


def check_cell() -> nbformat.NotebookNode:
    return nbformat.v4.new_code_cell(check_text(Check(LESSON, "softmax", 30)))


def card_of(size: int):
    class Card:
        def __init__(self, *_, **__):
            pass

        def _repr_mimebundle_(self):
            return {"text/plain": "x" * size}

    return Card


@pytest.fixture
def marked(monkeypatch):
    class Marks:
        score, points = 30.0, 30.0

    monkeypatch.setattr(walled, "mark", lambda *_: Marks())


def test_a_card_of_ordinary_size_comes_with_its_points(marked, monkeypatch):
    monkeypatch.setattr(walled, "Card", card_of(1000))
    card, points = checked(check_cell(), Quiet(), LESSON, "seed")
    assert len(card["data"]["text/plain"]) == 1000
    assert points["data"]["text/plain"] == "30.0"


def test_a_card_that_quotes_far_too_much_is_not_shown_and_gives_nothing(marked, monkeypatch):
    monkeypatch.setattr(walled, "Card", card_of(MAX_CARD))
    session = Quiet()
    shown, points = checked(check_cell(), session, LESSON, "seed")
    assert shown["text"] == UNMARKED and points["data"]["text/plain"] == "0.0"
    assert session.death == CRASHED
    assert len(json.dumps(shown)) < 1000


def test_a_wall_that_breaks_while_marking_is_no_wrong_answer(monkeypatch):
    def gone(*_):
        raise WallError("The process behind the wall is gone.")

    monkeypatch.setattr(walled, "mark", gone)
    with pytest.raises(WallError):  # whoever runs the job builds another, and marks again
        checked(check_cell(), Quiet(), LESSON, "seed")


def test_a_check_of_another_lesson_gives_nothing(marked):
    cell = nbformat.v4.new_code_cell(check_text(Check("multi_head", "split_heads", 15)))
    shown, points = checked(cell, Quiet(), LESSON, "seed")
    assert shown["text"] == "This check was not understood."
    assert points["data"]["text/plain"] == "0.0"
