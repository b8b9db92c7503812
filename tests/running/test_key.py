"""What names a result: everything it depends on, and nothing else."""

import json

import pytest

from autograder.course.sample import answered
from autograder.running import runner
from autograder.running.runner import Job, Settings

NOTEBOOK = json.loads(json.dumps(answered("warm_up")))
SEED = Settings("a seed")


def key(notebook: dict = NOTEBOOK, settings: Settings = SEED) -> str:
    return Job("warm_up", json.dumps(notebook), settings).key


def with_text(cell_type: str, text: str) -> dict:
    changed = json.loads(json.dumps(NOTEBOOK))
    first = next(c for c in changed["cells"] if c["cell_type"] == cell_type)
    first["source"] = text
    return changed


def test_the_same_work_has_the_same_name():
    assert key() == key()


def test_a_changed_check_gives_every_result_of_its_lesson_another_name(monkeypatch):
    before = key()
    monkeypatch.setattr(runner, "checks_digest", lambda lesson: f"another check of {lesson}")
    assert key() != before


def test_the_digest_of_the_checks_is_that_of_their_files(monkeypatch, tmp_path):
    file = tmp_path / "check.py"
    monkeypatch.setattr(runner, "checks_files", lambda lesson: {file})
    digests = []
    for text in ("CASES = 1\n", "CASES = 2\n"):
        file.write_text(text)
        digests.append(runner.checks_digest.__wrapped__("warm_up"))
    assert digests[0] != digests[1]


@pytest.mark.parametrize(
    "settings",
    [
        Settings("another"),
        Settings("a seed", timeout=29),
        Settings("a seed", total=299),
        Settings("a seed", skip=False),
        Settings("a seed", walled=False),
    ],
)
def test_seed_limits_and_wall_have_a_say(settings):
    assert key(settings=settings) != key()


def test_code_has_a_say_and_prose_has_none():
    assert key(with_text("code", "1 + 1")) != key()
    assert key(with_text("markdown", "A reworded note.")) == key()


def test_a_cell_s_place_has_a_say():
    moved = {**NOTEBOOK, "cells": [*NOTEBOOK["cells"][1:], NOTEBOOK["cells"][0]]}
    assert key(moved) != key()


def test_a_reworded_note_in_repair_has_no_say_and_the_way_answers_are_compared_has_one():
    files = {path.relative_to(runner.ROOT).as_posix() for path in runner.checks_files("warm_up")}
    assert "autograder/course/repair.py" not in files
    assert {"autograder/checks/compare.py", "autograder/seam/probe.py"} <= files
    assert {"autograder/wall/session.py", "autograder/running/walled.py"} <= files
