"""No sandbox, no silence; and an ordinary user has one too."""

import json
import os
import subprocess
import sys

import pytest
from ordinary_user import as_user, ordinary_user  # noqa: F401 - a fixture
from submissions import LESSON, honest

from autograder.__main__ import main
from autograder.course.course import Course, init
from autograder.course.status import statuses
from autograder.grading.grade import grade
from autograder.report.export import rows
from autograder.repository import ROOT
from autograder.running.side_by_side import SideBySide
from autograder.running.unprotected import UNPROTECTED
from autograder.wall.wall import why_not

TINY = """\
import os
from autograder.wall.session import Session
from autograder.wall.wall import Wall
with Wall("warm_up") as wall:
    session = Session(wall, seconds=60, total=120)
    code = "import os; print(os.getuid(), os.getpid(), os.path.exists('/home'))"
    print(os.getuid(), session.cell("a", code)[0]["text"].strip())
    session.close()
"""


@pytest.fixture
def course(tmp_path) -> Course:
    made = init(tmp_path / "course", [LESSON])
    folder = made.path("submitted", "ada", LESSON)
    folder.mkdir(parents=True)
    (folder / f"{LESSON}.ipynb").write_text(json.dumps(honest()))
    return made


def test_without_bubblewrap_the_command_refuses_and_says_why(course, tmp_path):
    (tmp_path / "bin").mkdir()
    ran = subprocess.run(
        [sys.executable, "-m", "autograder", "grade", str(course.root), LESSON],
        env={**os.environ, "PATH": str(tmp_path / "bin")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 2
    assert "bubblewrap is not installed" in ran.stderr and "--no-sandbox" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert statuses(course) == {}  # nothing was graded


def test_grading_unprotected_works_and_is_marked_until_it_is_done_behind_the_wall(course, capsys):
    assert main(["grade", str(course.root), LESSON, "--no-sandbox"]) == 0
    assert UNPROTECTED in capsys.readouterr().out
    assert rows(course, LESSON)[0].score == 90
    report = course.root / "class_report.html"
    assert "No sandbox: learners&#x27; code ran with your rights." in report.read_text()
    if why_not():
        return
    grade(course, LESSON, SideBySide())  # is not satisfied with the unprotected result
    assert main(["report", str(course.root)]) == 0
    assert "No sandbox" not in report.read_text()
    assert rows(course, LESSON)[0].score == 90


@pytest.mark.skipif(bool(why_not()), reason=f"no sandbox here: {why_not()}")
def test_an_ordinary_user_can_build_the_wall(ordinary_user, tmp_path_factory):  # noqa: F811
    ran = subprocess.run(
        [*as_user(ordinary_user), sys.executable, "-c", TINY],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "HOME": "/", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.stdout.split() == [str(ordinary_user.pw_uid), "65534", "2", "False"], ran.stderr
