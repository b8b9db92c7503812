"""Kill -9 at random moments of a batch with wrong, broken and hostile work in it changes nothing.

KILLS=50 kills oftener; KILL_SEED repeats the moments of a run that failed.
"""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest
from submissions import LESSON, cell, faults, forging, hand_in, honest, plain, stealing, tampering

from autograder.course.course import Course, init
from autograder.course.lock import LOCK_FILE
from autograder.course.sample import with_slips
from autograder.lessons import load
from autograder.wall.wall import why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=f"no sandbox here: {why_not()}")

KILLS = int(os.environ.get("KILLS", "5"))
SEED = int(os.environ.get("KILL_SEED", time.time_ns() % 1_000_000))
PATIENCE = 600
HOSTILE = (
    *("lying_eq", "edited_points", "same_id", "nan", "deep_answer", "answers_thirty"),
    *("gradebook", "other_submissions", "network", "writes_gradebook", "kernelspec"),
    *("os_exit", "sys_exit", "syntax_error", "missing_function"),
)
FILES = ("corrupt", "empty", "no_answer", "old_format")
# of grades and of comments, by names: ids are drawn anew in every gradebook
TABLE = """
select student_id, base_cell.name, {columns}
from {table} join base_cell on base_cell.id = {table}.cell_id
join submitted_notebook on submitted_notebook.id = {table}.notebook_id
join submitted_assignment on submitted_assignment.id = submitted_notebook.assignment_id
"""
COLUMNS = {
    "grade": "auto_score, manual_score, extra_credit, needs_manual_grade",
    "comment": "auto_comment, manual_comment",
}


def the_class() -> dict[str, dict | bytes]:
    """Return the work of 24: right, wrong, broken and hostile."""
    first, second, *_ = load(LESSON).exercises
    made: dict[str, dict | bytes] = {"right": honest()}
    for number, slip in enumerate([*first.slips[:2], *second.slips[:2]]):
        made[f"slip_{number}"] = plain(with_slips(LESSON, slip))
    groups = (forging, stealing, tampering, faults)
    cases = {case.name: case for group in groups for case in group.CASES}
    cases |= {case.name: case for group in (tampering, faults) for case in group.FILES}
    for name in (*HOSTILE, *FILES):
        made[name] = cases[name].make(honest())
    return made


def command(course: Course) -> list[str]:
    limits = ["--timeout", "20", "--jobs", "2"]
    return [sys.executable, "-m", "autograder", "grade", str(course.root), LESSON, *limits]


def start(course: Course) -> subprocess.Popen:
    return subprocess.Popen(command(course), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory) -> Course:
    """A course with a mark given by hand, and then a class that hands in."""
    course = init(tmp_path_factory.mktemp("killed") / "course", [LESSON])
    hand_in(course, "right", honest())
    assert start(course).wait(PATIENCE) == 0
    with course.gradebook() as gradebook:
        grade = gradebook.find_grade(f"{LESSON}-why_subtract", LESSON, LESSON, "right")
        grade.manual_score, grade.needs_manual_grade = 7.0, False
        gradebook.db.commit()
    for student, work in the_class().items():
        hand_in(course, student, {} if isinstance(work, bytes) else work)
        if isinstance(work, bytes):
            (course.path("submitted", student, LESSON) / f"{LESSON}.ipynb").write_bytes(work)
    again = honest()
    cell(again, "which_line")["source"] = 'which_line = "a"'
    hand_in(course, "right", again)  # another attempt; the written answer is the same
    assert len(list(course.root.glob("submitted/*/"))) == 24
    return course


def copy(course: Course, name: str) -> Course:
    return Course(shutil.copytree(course.root, course.root.parent / name, symlinks=True))


@pytest.fixture(scope="module")
def undisturbed(handed_in) -> tuple[Course, float]:
    course, begun = copy(handed_in, "undisturbed"), time.monotonic()
    assert start(course).wait(PATIENCE) == 0
    return course, time.monotonic() - begun


@pytest.fixture(scope="module")
def killed(handed_in, undisturbed) -> tuple[Course, int]:
    """The same class, with a grader killed again and again; how often it struck one at work."""
    course, draw, struck = copy(handed_in, "killed"), random.Random(SEED), 0
    (course.root / LOCK_FILE).unlink()
    for _ in range(KILLS):
        grader = start(course)
        try:
            mine, end = f"process {grader.pid} ", time.monotonic() + PATIENCE
            while grader.poll() is None and mine not in said(course):
                assert time.monotonic() < end, "waited in vain"
                time.sleep(0.01)
            time.sleep(draw.uniform(0, 2 * undisturbed[1] / KILLS))
        finally:
            struck += grader.poll() is None
            grader.send_signal(signal.SIGKILL)
            grader.wait()
    assert start(course).wait(PATIENCE) == 0
    return course, struck


def said(course: Course) -> str:
    path = course.root / LOCK_FILE
    return path.read_text() if path.exists() else ""


def gradebook(course: Course) -> list[tuple]:
    with closing(sqlite3.connect(course.root / "gradebook.db")) as database:
        asked = [TABLE.format(table=table, columns=columns) for table, columns in COLUMNS.items()]
        found = [row for text in asked for row in database.execute(text)]
    return sorted(found, key=repr)


def pages(course: Course) -> dict[str, str]:
    files = course.root.glob("feedback/*/*/*")
    return {str(p.relative_to(course.root)): p.read_text(encoding="utf-8") for p in files}


def test_it_struck_graders_at_work(killed):
    assert killed[1] >= min(3, KILLS)


def test_the_gradebook_is_that_of_an_undisturbed_run(killed, undisturbed):
    found = gradebook(undisturbed[0])
    assert len({row[0] for row in found}) == 22  # two are unreadable
    assert gradebook(killed[0]) == found, f"KILL_SEED={SEED}"


def test_the_table_of_grades_is_that_of_an_undisturbed_run(killed, undisturbed):
    tables = [(c.root / "grades.csv").read_text() for c in (killed[0], undisturbed[0])]
    assert tables[0] == tables[1], f"KILL_SEED={SEED}"
    assert "right,warm_up,87.0,100.0,80.0,graded" in tables[0]  # the mark by hand stands


def test_the_pages_are_those_of_an_undisturbed_run(killed, undisturbed):
    found = pages(undisturbed[0])
    assert len(found) == 22
    assert pages(killed[0]) == found, f"KILL_SEED={SEED}"


def test_marks_and_statuses_are_those_of_an_undisturbed_run(killed, undisturbed):
    for name in ("marks.json", "status.json", "releases.json"):
        found = [json.loads((c.root / name).read_text()) for c in (killed[0], undisturbed[0])]
        assert found[0] == found[1], f"{name}, KILL_SEED={SEED}"
