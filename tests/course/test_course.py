"""A course directory is made once, graded often, and never shows a score that was not earned."""

import copy
import csv
import json
import os
import shutil
import stat
import subprocess
import sys

import pytest
from submissions import LESSON, cell, code, honest, place, released

from autograder.__main__ import main
from autograder.course.course import CONFIG, Course, init
from autograder.course.sample import fresh_course, learners, pair_of_slips
from autograder.errors import CourseError, ReleaseError
from autograder.grading import grade as grading
from autograder.lessons import load
from autograder.release import notebooks
from autograder.report.export import _safe, rows, write_csv
from autograder.running.side_by_side import SideBySide

HONEST, RELEASED = honest(), released()
END_PROCESS = "import os\nos._exit(3)"
WAIT = "import time\nstart = time.monotonic()\nwhile time.monotonic() - start < 20:\n    pass"


@pytest.fixture
def work() -> dict:
    return copy.deepcopy(HONEST)


@pytest.fixture(scope="module")
def made_once(tmp_path_factory) -> Course:
    return init(tmp_path_factory.mktemp("made") / "course", [LESSON])


@pytest.fixture
def course(made_once, tmp_path) -> Course:
    """A course of one's own; a copy, since making the gradebook takes seconds."""
    return Course(shutil.copytree(made_once.root, tmp_path / "course"))


def hand_in(course: Course, student: str, content: dict | bytes, name: str = f"{LESSON}.ipynb"):
    folder = course.path("submitted", student, LESSON)
    folder.mkdir(parents=True, exist_ok=True)
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    (folder / name).write_bytes(data)


def table(course: Course) -> dict:
    return {row.student: row for row in rows(course, LESSON)}


def test_init_makes_what_nbgrader_expects_and_a_secret_seed(course):
    for name in (
        "source",
        "release",
        "submitted",
        "autograded",
        "feedback",
        "gradebook.db",
        CONFIG,
    ):
        assert (course.root / name).exists()
    seed = course.root / "seed"
    assert stat.S_IMODE(seed.stat().st_mode) == 0o600
    assert len(seed.read_text().strip()) == 64


def test_the_configuration_sets_the_seed_and_waits_for_locks(course, monkeypatch):
    monkeypatch.delenv("AUTOGRADER_SEED", raising=False)
    assert course.config.CourseDirectory.db_url.endswith("gradebook.db?timeout=60")
    assert os.environ["AUTOGRADER_SEED"] == (course.root / "seed").read_text().strip()


def test_a_second_init_keeps_seed_configuration_and_work_and_refreshes_sources(course):
    seed = (course.root / "seed").read_text()
    hand_in(course, "ada", b"her work")
    source = course.root / "source" / LESSON / f"{LESSON}.ipynb"
    source.write_text("stale")
    (course.root / CONFIG).write_text((course.root / CONFIG).read_text() + "# own line\n")
    init(course.root, [LESSON])
    assert (course.root / "seed").read_text() == seed
    assert (course.path("submitted", "ada", LESSON) / f"{LESSON}.ipynb").read_bytes() == b"her work"
    assert "BEGIN SOLUTION" in source.read_text()
    assert "# own line" in (course.root / CONFIG).read_text()


def test_init_refuses_a_folder_with_other_things_in_it(tmp_path):
    (tmp_path / "letters.txt").write_text("dear ...")
    with pytest.raises(CourseError, match="no course"):
        init(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["letters.txt"]


def test_init_on_a_broken_exercise_file_leaves_nothing_behind(tmp_path, monkeypatch, capsys):
    def broken(lesson):
        raise ReleaseError("exercises/recurrence.md, line 7: this is broken")

    monkeypatch.setattr(notebooks, "author", broken)
    assert main(["init", str(tmp_path / "course"), LESSON]) == 2
    assert "line 7: this is broken" in capsys.readouterr().err
    assert not (tmp_path / "course").exists()
    monkeypatch.undo()
    assert main(["init", str(tmp_path / "course"), LESSON]) == 0


@pytest.mark.parametrize("stopped_at", ["_make_seed", "remember"])
def test_an_init_that_was_stopped_is_completed_by_the_next(tmp_path, monkeypatch, stopped_at):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"autograder.course.course.{stopped_at}", stopped)
    assert main(["init", str(tmp_path / "course"), LESSON]) == 130
    monkeypatch.undo()
    assert main(["init", str(tmp_path / "course"), LESSON]) == 0
    assert Course(tmp_path / "course").lessons == [LESSON]


def test_every_submission_ends_with_a_status_and_the_batch_goes_on(course, work):
    wrong = copy.deepcopy(work)
    cell(wrong, "which_line")["source"] = 'which_line = "a"'
    crashing = copy.deepcopy(work)
    crashing["cells"].insert(place(crashing, "one_hot_rows") + 1, code(END_PROCESS))
    hand_in(course, "ada", work)
    hand_in(course, "bob", wrong, f"{LESSON} (1).ipynb")
    hand_in(course, "cy", {**RELEASED, "cells": copy.deepcopy(RELEASED.cells)})
    hand_in(course, "dan", b'{"cells": [')
    hand_in(course, "eve", b"")
    hand_in(course, "fay", crashing)
    hand_in(course, "guy[1]", work)
    with course.gradebook() as gradebook:
        gradebook.add_student("hal")
    grading.grade(course, LESSON, SideBySide())
    found = table(course)
    assert {name: row.status for name, row in found.items()} == {
        "ada": "needs a human",
        "bob": "needs a human",
        "cy": "graded",
        "dan": "unreadable",
        "eve": "unreadable",
        "fay": "crashed, needs a human",
        "guy[1]": "unreadable",
        "hal": "missing",
    }
    scores = {name: row.score for name, row in found.items()}
    assert scores == {
        **{"ada": 90, "bob": 80, "cy": 0, "fay": 90},
        **dict.fromkeys(["dan", "eve", "guy[1]", "hal"]),
    }
    assert "warm_up (1).ipynb" in found["bob"].notes
    assert "damaged" in found["dan"].notes
    assert (course.path("feedback", "ada", LESSON) / f"{LESSON}.html").exists()
    written = list(csv.DictReader(write_csv(course).open()))
    assert [row["score"] for row in written] == ["90.0", "80.0", "0.0", "", "", "90.0", "", ""]


def test_an_assignment_of_the_instructor_s_own_is_left_to_nbgrader(course, work, capsys):
    own = course.root / "source" / "poetry" / "poetry.ipynb"
    own.parent.mkdir()
    own.write_text(json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    hand_in(course, "ada", work)
    theirs = course.path("submitted", "ada", "poetry")
    theirs.mkdir(parents=True)
    shutil.copy(own, theirs)
    assert main(["grade", str(course.root)]) == 0
    assert "nbgrader autograde poetry" in capsys.readouterr().out
    with (course.root / "grades.csv").open() as file:
        assert [row["lesson"] for row in csv.DictReader(file)] == [LESSON]


def test_several_lessons_are_graded_and_what_is_missing_is_counted(course, work, capsys):
    init(course.root, ["recurrence", "alignment"])
    hand_in(course, "ada", work, f"{LESSON} (1).ipynb")
    hand_in(course, "bob", b"{")
    hand_in(course, "cy", b"%PDF", "scan.pdf")
    with course.gradebook() as gradebook:
        for number in range(30):
            gradebook.add_student(f"absent_{number}")
    assert main(["grade", str(course.root), "recurrence", LESSON]) == 0
    first, *lines = capsys.readouterr().out.splitlines()[:6]
    assert first.startswith(f"{LESSON}: 2 submissions in ")  # in the order of the book
    assert [line.split(":")[0] for line in lines[:2]] == ["  bob, unreadable", "  cy, missing"]
    assert "Found: scan.pdf." in lines[1]
    assert lines[2] == (
        "  needs a human 1, unreadable 1, missing 31; "
        "mended before grading 1 (grades.csv has the notes)."
    )
    assert lines[3].startswith("recurrence: 0 submissions in ") and lines[4] == "  missing 33."


def test_a_failed_regrade_leaves_no_old_score_and_keeps_a_human_s_marks(course, work, monkeypatch):
    hand_in(course, "ada", work)
    grading.grade(course, LESSON, SideBySide())
    with course.gradebook() as gradebook:
        grade = gradebook.find_grade(f"{LESSON}-why_subtract", LESSON, LESSON, "ada")
        grade.manual_score, grade.needs_manual_grade = 7.0, False
        gradebook.db.commit()
    assert table(course)["ada"].score == 97
    assert table(course)["ada"].status == "graded"

    def breaks(*_):
        raise RuntimeError("the disk is full")

    monkeypatch.setattr(grading, "repair", breaks)
    grading.grade(course, LESSON, SideBySide())
    row = table(course)["ada"]
    assert (row.score, row.status) == (None, "crashed")
    assert "the disk is full" in (course.root / "nbgrader.log").read_text()
    assert not course.path("feedback", "ada", LESSON).exists()
    with course.gradebook() as gradebook:
        assert gradebook.find_submission(LESSON, "ada").score == 7  # the human's part only
    monkeypatch.undo()
    grading.grade(course, LESSON, SideBySide())
    assert table(course)["ada"].score == 97
    hand_in(course, "ada", b"{")
    grading.grade(course, LESSON, SideBySide())
    assert (table(course)["ada"].score, table(course)["ada"].status) == (None, "unreadable")
    with course.gradebook() as gradebook:
        assert gradebook.find_submission(LESSON, "ada").score == 7


def test_a_human_s_mark_stands_for_as_long_as_the_written_answer_does(course, work):
    hand_in(course, "ada", work)
    grading.grade(course, LESSON, SideBySide())
    with course.gradebook() as gradebook:
        grade = gradebook.find_grade(f"{LESSON}-why_subtract", LESSON, LESSON, "ada")
        grade.manual_score, grade.needs_manual_grade = 7.0, False
        gradebook.db.commit()
    grading.grade(course, LESSON, SideBySide(timeout=29))  # all is run and saved anew
    assert (table(course)["ada"].score, table(course)["ada"].status) == (97, "graded")
    cell(work, "which_line")["source"] = 'which_line = "a"'
    hand_in(course, "ada", work)
    grading.grade(course, LESSON, SideBySide())
    assert (table(course)["ada"].score, table(course)["ada"].status) == (87, "graded")
    cell(work, "why_subtract")["source"] = "Something else."
    hand_in(course, "ada", work)
    grading.grade(course, LESSON, SideBySide())
    assert table(course)["ada"].status == "needs a human"
    page = course.path("feedback", "ada", LESSON) / f"{LESSON}.html"
    assert "(Score: 87.0 / 100.0)</h4>" in page.read_text()  # the old mark is not counted twice


def test_work_that_waits_for_grading_is_not_missing(course, work):
    course.prepare(LESSON)
    hand_in(course, "ada", work)
    course.path("submitted", "bob", LESSON).mkdir(parents=True)
    assert {s: row.status for s, row in table(course).items()} == {
        "ada": "not graded yet",
        "bob": "missing",
    }


def test_a_stopped_regrade_keeps_what_was_recorded_of_the_others(course, work, monkeypatch):
    hand_in(course, "ada", work)
    hand_in(course, "bob", work, f"{LESSON} (1).ipynb")
    grading.grade(course, LESSON, SideBySide())
    before = table(course)
    assert "(1)" in before["bob"].notes

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(grading, "_save_one", stopped)
    with pytest.raises(KeyboardInterrupt):
        grading.grade(course, LESSON, SideBySide(timeout=29))
    assert table(course) == before
    monkeypatch.undo()
    shutil.rmtree(course.root / "submitted" / "bob")
    with course.gradebook() as gradebook:
        gradebook.remove_student("bob")
    grading.grade(course, LESSON, SideBySide())
    assert list(grading.statuses(course)[LESSON]) == ["ada"]


def test_only_lessons_that_were_handed_in_are_graded_unless_named(tmp_path, work, capsys):
    course = init(tmp_path / "course", [LESSON, "recurrence"])
    assert main(["grade", str(course.root)]) == 0
    assert "Nobody has handed in anything yet" in capsys.readouterr().out
    hand_in(course, "ada", work)
    assert main(["grade", str(course.root)]) == 0
    assert "recurrence" not in capsys.readouterr().out
    with (course.root / "grades.csv").open() as file:
        assert [row["lesson"] for row in csv.DictReader(file)] == [LESSON]


def test_a_name_that_looks_like_a_formula_is_made_harmless():
    assert _safe("=HYPERLINK(1)") == "'=HYPERLINK(1)"
    assert [_safe(v)[0] for v in ("+1", "-1", "@a", "\t=1")] == ["'"] * 4
    assert _safe("ada") == "ada"
    assert _safe(90.0) == 90.0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["grade", "{empty}"], "is no course"),
        (["grade", "{course}", "warm_upp"], "Did you mean 'warm_up'?"),
        (["init", "{full}"], "no course"),
        (["collect", "{course}", "{full}/letters.txt"], "neither a folder, nor a zip"),
        (["collect", "{course}", "{full}/absent.zip"], "absent.zip is not there."),
        (["demo", "{full}"], "not made by the demo"),
        (["report", "{full}"], "is no course"),
    ],
)
def test_a_mistake_gets_a_sentence_and_exit_code_2(course, tmp_path, capsys, arguments, sentence):
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letters.txt").write_text("dear ...")
    places = {"course": course.root, "empty": tmp_path / "empty", "full": tmp_path / "full"}
    assert main([a.format(**places) for a in arguments]) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("seed", "", "is missing or empty"),
        ("seed", None, "is missing or empty"),
        ("status.json", "{", "is damaged"),
        ("gradebook.db", "no database", "cannot be opened"),
    ],
)
def test_a_damaged_course_gets_a_sentence(course, capsys, name, content, sentence):
    path = course.root / name
    path.unlink(missing_ok=True)
    if content is not None:
        path.write_text(content)
    course.path("submitted", "ada", LESSON).mkdir(parents=True)
    assert main(["grade", str(course.root)]) == 2
    told = capsys.readouterr().err
    assert name in told and sentence in told and "Traceback" not in told


def test_a_place_that_cannot_be_used_gets_a_sentence(course, tmp_path, capsys):
    (tmp_path / "file").write_text("x")
    assert main(["init", str(tmp_path / "file" / "course")]) == 2
    assert "file/course" in capsys.readouterr().err
    (course.root / "grades.csv").mkdir()
    assert main(["export", str(course.root)]) == 2
    assert "grades.csv cannot be used: Is a directory." in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--jobs", "--timeout", "--total"])
@pytest.mark.parametrize("number", ["-1", "0", "two"])
def test_a_limit_is_a_whole_number_from_1_on(course, capsys, option, number):
    with pytest.raises(SystemExit, match="2"):
        main(["grade", str(course.root), f"{option}={number}"])
    assert f"{number!r} is no whole number from 1 on" in capsys.readouterr().err


def test_help_lists_every_command():
    ran = subprocess.run(
        [sys.executable, "-m", "autograder", "--help"], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0
    for name in [
        "init",
        "collect",
        "grade",
        "rebuild",
        "report",
        "export",
        "demo",
        "release",
        "verify",
    ]:
        assert f"    {name}" in ran.stdout


def test_verify_calls_itself_by_the_name_it_is_called_by(capsys):
    with pytest.raises(SystemExit):
        main(["verify", "--help"])
    assert capsys.readouterr().out.startswith("usage: python -m autograder verify ")


def test_the_sample_class_is_made_afresh_and_only_where_the_demo_was(tmp_path):
    first = fresh_course(tmp_path / "demo", [LESSON])
    (first.root / "leftover").write_text("x")
    again = fresh_course(tmp_path / "demo", [LESSON])
    assert not (again.root / "leftover").exists()
    assert len(again.students()) == len(learners(LESSON))
    assert len(pair_of_slips(load(LESSON).exercises[0])) == 2
