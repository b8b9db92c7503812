"""A session, with a process that only notes what it is asked: who is asked what, and when anew.

What a real process does behind the wall is in test_wall.py.
"""

import json

import pytest

from autograder.seam.link import LinkError
from autograder.seam.probe import value
from autograder.seam.wire import Died, dumps
from autograder.wall import session as sessions
from autograder.wall.session import CRASHED, Session


class Noting:
    """Stands for a confined process: it knows the code it has run, and names it when observed."""

    def __init__(self, door: "NotingDoor"):
        self.door, self.ran, self.moments, self.closed = door, [], {}, False

    def ask(self, seconds: float, do: str, code: str = "", name: str = "", **_) -> dict:
        if do in ("cell", "source"):
            self.ran.append(code)
            return {"outputs": self.door.outputs}
        if do == "remember":
            self.moments[name] = list(self.ran)
            return {}
        if do == "return":
            self.ran = list(self.moments[name])
            return {}
        self.door.observed += 1
        if self.door.dies:
            raise LinkError("the process ended")
        return {"seen": dumps([self.door.processes.index(self), *self.ran])}

    def close(self) -> None:
        self.closed = True


class NotingDoor:
    lesson = "warm_up"

    def __init__(self):
        self.processes: list[Noting] = []
        self.outputs, self.observed, self.dies = b"[]", 0, False

    def fork(self) -> Noting:
        self.processes.append(Noting(self))
        return self.processes[-1]


@pytest.fixture
def door() -> NotingDoor:
    return NotingDoor()


@pytest.fixture
def session(door) -> Session:
    return Session(door, seconds=5, total=60)


def test_code_that_was_shown_a_secret_is_asked_nothing_public_any_more(session, door):
    session.cell("a", "first")
    assert session.observe(value, ("public",)) == [0, "first"]
    assert session.observe(value, ("hidden",), secret=True) == [0, "first"]
    assert session.observe(value, ("hidden too",), secret=True) == [0, "first"]
    assert session.observe(value, ("another public",)) == [1, "first"]  # of a fresh process
    assert door.processes[0].closed
    assert session.observe(value, ("a third",)) == [1, "first"]  # which has seen no secret


def test_what_was_seen_in_public_is_known_and_not_asked_of_code_that_saw_a_secret(session, door):
    session.cell("a", "first")
    before = session.observe(value, ("public",))
    session.observe(value, ("hidden",), secret=True)
    assert session.observe(value, ("public",)) == before
    assert door.observed == 2


def test_a_check_sees_the_names_of_its_own_place_also_in_a_renewed_process(session, door):
    session.cell("a", "first")
    session.remember("early")
    session.cell("b", "second")
    session.remember("late")
    session.return_to("late")
    session.close()  # as after a death
    assert session.observe(value, ("x",)) == [1, "first", "second"]
    session.return_to("early")  # the new process has run more than that, and remembers nothing
    assert session.observe(value, ("x",)) == [2, "first"]
    session.return_to("late")  # it has run less, and may go on
    assert session.observe(value, ("y",)) == [2, "first", "second"]


def test_the_reference_s_objects_are_gone_when_their_time_is_over(session, door):
    session.cell("warm_up-softmax", "first")
    session.remember("check")
    session.return_to("check")
    with session.replaced({}, "softmax"):
        assert session.observe(value, ("x",)) == [1, "first", "", "first"]
    assert session.observe(value, ("x",)) == [2, "first"]


def test_a_question_whose_code_died_is_given_up_and_the_next_one_is_not(session, door):
    session.cell("a", "first")
    session.remember("one")
    session.cell("b", "second")
    session.remember("two")
    session.return_to("one")
    door.dies = True
    assert session.observe(value, ("x",)) == Died("the process ended")
    asked = door.observed
    door.dies = False
    assert session.observe(value, ("another",)) == Died("the process ended")
    session.return_to("one")  # nor when marking comes back to it
    assert session.observe(value, ("a third",)) == Died("the process ended")
    assert door.observed == asked
    session.return_to("two")
    assert session.observe(value, ("x",))[1:] == ["first", "second"]


def test_outputs_larger_than_the_bound_are_not_even_read(session, door, monkeypatch):
    monkeypatch.setattr(sessions, "MAX_OUTPUTS", 1000)
    door.outputs = json.dumps([{"output_type": "stream", "text": "x" * 2000}]).encode()
    (output,) = session.cell("a", "first")
    assert output["ename"] == CRASHED and "could not be read" in output["evalue"]
    assert door.processes[0].closed and session.ran == []
