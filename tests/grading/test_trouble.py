"""A full disk, a locked gradebook, other people's eyes: a sentence, and nothing is lost."""

import errno
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from submissions import LESSON, cell, hand_in, honest

from autograder.__main__ import main
from autograder.course.course import CONFIG, Course
from autograder.grading import grade as grading
from autograder.report.export import rows


def table(course: Course) -> dict:
    return {row.student: (row.score, row.status) for row in rows(course, LESSON)}


def changed() -> dict:
    work = honest()
    cell(work, "which_line")["source"] = 'which_line = "a"'
    return work


def full(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("step", ["repairing", "keeping", "saving", "status", "pages"])
def test_a_full_disk_gets_a_sentence_and_the_same_command_goes_on(
    course, capsys, monkeypatch, step
):
    hand_in(course, "ada", changed())
    with monkeypatch.context() as patch:
        if step == "repairing":
            patch.setattr(grading, "repair", full)
        elif step == "keeping":
            patch.setattr("autograder.running.batch.keep", full)
        elif step == "saving":
            patch.setattr(grading.Saver, "write_single_notebook", full)
        elif step == "status":
            patch.setattr("autograder.course.status.whole_file", full)
        else:
            patch.setattr("autograder.report.export.whole_file", full)
        assert main(["grade", str(course.root)]) == 2
    told = capsys.readouterr().err
    assert "is full. Make room. Nothing is lost" in told and "Traceback" not in told
    assert table(course)["bob"] == (90, "needs a human")
    assert "crashed" not in str(table(course)["ada"])
    assert main(["grade", str(course.root)]) == 0
    assert table(course)["ada"] == (80, "needs a human")


def test_a_disk_that_is_really_full_gets_the_sentence(course, tmp_path):
    """The course lies on a small disk of its own, made for this process only."""
    small = tmp_path / "small"
    small.mkdir()
    hand_in(course, "ada", changed())
    script = f"""
cp -r {course.root} {small}/course
dd if=/dev/zero of={small}/filler bs=4k 2>/dev/null
{sys.executable} -m autograder grade {small}/course 2>&1 >/dev/null; echo "code $?"
rm {small}/filler
{sys.executable} -m autograder grade {small}/course >/dev/null 2>&1; echo "code $?"
cat {small}/course/grades.csv
"""
    size = ["--size", str(60_000_000), "--tmpfs", str(small)]
    inside = ["bwrap", "--dev-bind", "/", "/", *size, "sh", "-c", script]
    ran = subprocess.run(inside, capture_output=True, text=True, timeout=300)
    if ran.returncode and "bwrap" in ran.stderr:
        pytest.skip(f"no small disk can be made here: {ran.stderr.strip()}")
    first, _, second = ran.stdout.partition("code 2")
    assert "is full. Make room. Nothing is lost" in first, ran.stdout + ran.stderr
    assert "Traceback" not in first
    assert "code 0" in second and "ada,warm_up,80.0" in second


def test_a_locked_gradebook_gets_a_sentence(course, capsys):
    config = course.root / CONFIG
    config.write_text(config.read_text().replace("timeout=60", "timeout=1"))
    hand_in(course, "ada", changed())
    holder = sqlite3.connect(course.root / "gradebook.db")
    try:
        for begin in ("begin exclusive", "begin immediate"):
            holder.execute(begin)
            assert main(["grade", str(course.root)]) == 2
            told = capsys.readouterr().err
            assert "gradebook.db is locked by another program" in told
            assert "Nothing is lost" in told and "remove" not in told
            holder.rollback()
    finally:
        holder.close()
    assert main(["grade", str(course.root)]) == 0
    assert table(course) == {"ada": (80, "needs a human"), "bob": (90, "needs a human")}


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode) & 0o077


@pytest.mark.parametrize("name", ["gradebook.db", "submitted", "results", "repaired", "autograded"])
def test_what_learners_handed_in_and_got_is_for_the_owner_only(course, name):
    (course.root / name).chmod(0o755)  # as an earlier version made it
    assert main(["grade", str(course.root)]) == 0
    assert rights(course.root / name) == 0


def test_a_new_course_is_private_from_the_first(graded_once):
    for name in ("gradebook.db", "submitted", "results", "autograded"):
        assert rights(graded_once.root / name) == 0


def test_a_group_that_shares_a_course_keeps_its_rights(course):
    config = course.root / CONFIG
    config.write_text(config.read_text() + "\nc.CourseDirectory.groupshared = True\n")
    (course.root / "submitted").chmod(0o2775)
    assert main(["export", str(course.root)]) == 0
    grading.make_private(course.root, course.is_shared)
    assert stat.S_IMODE((course.root / "submitted").stat().st_mode) == 0o2770


def test_a_table_is_never_half_written(course, monkeypatch):
    assert main(["export", str(course.root)]) == 0
    before = (course.root / "grades.csv").read_text()
    monkeypatch.setattr("autograder.report.export._safe", full)
    assert main(["export", str(course.root)]) == 2
    assert (course.root / "grades.csv").read_text() == before
