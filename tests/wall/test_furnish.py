"""What lies behind the wall: the course without its answers."""

import pytest

from autograder.errors import WallError
from autograder.lessons import load
from autograder.repository import order
from autograder.wall import furnish
from autograder.wall.furnish import CARRIED, hidden_modules


@pytest.mark.parametrize("lesson", order())
def test_no_answer_of_this_or_a_later_lesson_lies_behind_the_wall(lesson, tmp_path):
    inside = tmp_path / "inside"
    furnish.furnish(inside, lesson)
    assert hidden_modules(lesson)
    for module in hidden_modules(lesson):
        assert not list((inside / "solutions").rglob(f"{module}.py")), module
    assert not (inside / "solutions" / "experiments").exists()


@pytest.mark.parametrize("lesson", order())
def test_the_modules_that_this_and_later_lessons_are_checked_against_are_hidden(lesson):
    """Told by the checks' own references, not by the exercise files that hiding goes by."""
    at = order().index(lesson)
    earlier = set().union(*map(checked_against, order()[:at]))
    for later in order()[at:]:
        assert checked_against(later) - earlier <= hidden_modules(lesson), later


def checked_against(lesson: str) -> set[str]:
    return {e.module.__name__.removeprefix("solutions.") for e in load(lesson).exercises}


def test_no_check_lies_behind_the_wall(tmp_path):
    furnish.furnish(tmp_path / "inside", "warm_up")
    rooms = {path.name for path in (tmp_path / "inside" / "autograder").iterdir() if path.is_dir()}
    assert rooms == {name.partition("/")[0] for name in CARRIED}


def test_a_file_of_answers_that_is_not_where_it_is_hidden_fails_aloud(tmp_path, monkeypatch):
    monkeypatch.setattr(furnish, "hidden_modules", lambda lesson: {"moved_elsewhere"})
    with pytest.raises(WallError, match=r"moved_elsewhere\.py was to be hidden and is not there"):
        furnish.furnish(tmp_path / "inside", "warm_up")
