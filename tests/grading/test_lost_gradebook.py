"""A lost or older gradebook is filled again: from results/, with the marks a human gave."""

import json
import shutil
import sqlite3

import pytest
from submissions import LESSON, cell, hand_in, honest

from autograder.__main__ import main
from autograder.course.course import Course, init
from autograder.grading import grade as grading
from autograder.report.export import rows, write_csv
from autograder.running.side_by_side import SideBySide
from autograder.wall.wall import Wall

WRITTEN, CODE = f"{LESSON}-why_subtract", f"{LESSON}-softmax-check"


@pytest.fixture(autouse=True)
def nothing_is_run(monkeypatch):
    """What was run once is not run again, unless a test says so."""
    monkeypatch.setattr(Wall, "start", lambda self: pytest.fail("a notebook was run again"))


def table(course: Course) -> dict:
    return {row.student: (row.score, row.status) for row in rows(course, LESSON)}


def mark(course: Course, student: str, name: str, score: float, comment: str = "") -> None:
    """Give a mark as formgrader does."""
    with course.gradebook() as gradebook:
        grade = gradebook.find_grade(name, LESSON, LESSON, student)
        grade.manual_score, grade.needs_manual_grade = score, False
        if comment:
            gradebook.find_comment(name, LESSON, LESSON, student).manual_comment = comment
        gradebook.db.commit()


def test_a_gradebook_that_was_moved_away_is_filled_again_from_the_results(course):
    before = table(course)
    (course.root / "gradebook.db").rename(course.root / "elsewhere.db")
    init(course.root, [LESSON])
    assert {status for _, status in table(course).values()} <= {"not graded yet"}
    assert main(["grade", str(course.root)]) == 0
    assert table(course) == before
    assert {score for score, _ in before.values()} == {90}


def test_a_learner_removed_from_the_gradebook_gets_the_score_back(course):
    before = table(course)
    with course.gradebook() as gradebook:
        gradebook.remove_student("bob")
    assert table(course)["bob"] == (None, "not graded yet")
    grading.grade(course, LESSON, SideBySide())
    assert table(course) == before


def test_an_older_gradebook_gets_the_scores_of_the_later_attempt(course, monkeypatch):
    monkeypatch.undo()
    older = shutil.copy(course.root / "gradebook.db", course.root / "older.db")
    work = honest()
    cell(work, "which_line")["source"] = 'which_line = "a"'
    hand_in(course, "ada", work)
    grading.grade(course, LESSON, SideBySide())
    assert table(course)["ada"][0] == 80
    shutil.copy(older, course.root / "gradebook.db")
    monkeypatch.setattr(Wall, "start", lambda self: pytest.fail("a notebook was run again"))
    grading.grade(course, LESSON, SideBySide())
    assert table(course)["ada"][0] == 80


def test_rebuild_makes_the_gradebook_anew_with_marks_and_comments(course, capsys):
    mark(course, "ada", WRITTEN, 7, "Well said.")
    mark(course, "bob", CODE, 12)
    grading.grade(course, LESSON, SideBySide())
    before, csv = table(course), write_csv(course).read_text()
    assert before == {"ada": (97, "graded"), "bob": (72, "needs a human")}
    assert main(["rebuild", str(course.root)]) == 0
    assert "is kept as gradebook.20" in capsys.readouterr().out
    assert table(course) == before and write_csv(course).read_text() == csv
    with course.gradebook() as gradebook:
        assert gradebook.find_comment(WRITTEN, LESSON, LESSON, "ada").manual_comment == "Well said."
    page = (course.path("feedback", "ada", LESSON) / f"{LESSON}.html").read_text()
    assert "Well said." in page


@pytest.mark.parametrize("command", ["export", "report", "grade"])
def test_marks_survive_a_lost_gradebook_once_any_command_has_read_them(course, command):
    mark(course, "ada", WRITTEN, 7)
    assert main([command, str(course.root)]) == 0
    (course.root / "gradebook.db").write_text("no database")
    assert main(["rebuild", str(course.root)]) == 0
    assert table(course) == {"ada": (97, "graded"), "bob": (90, "needs a human")}


def test_an_older_gradebook_without_the_marks_is_told_and_forgets_none(course, capsys):
    older = shutil.copy(course.root / "gradebook.db", course.root / "older.db")
    mark(course, "ada", WRITTEN, 7)
    assert main(["grade", str(course.root)]) == 0
    capsys.readouterr()
    shutil.copy(older, course.root / "gradebook.db")
    assert main(["grade", str(course.root)]) == 0
    told = capsys.readouterr().out
    assert "lacks marks by hand that marks.json has" in told and f"rebuild {course.root}" in told
    assert "ada, why_subtract" in told
    assert main(["rebuild", str(course.root)]) == 0
    assert "marks.json" not in capsys.readouterr().out
    assert table(course)["ada"] == (97, "graded")


def test_rebuild_keeps_learners_of_whom_only_the_gradebook_knew(course):
    with course.gradebook() as gradebook:
        gradebook.add_student("zoe", first_name="Zoe")
    assert main(["rebuild", str(course.root)]) == 0
    assert table(course)["zoe"] == (None, "missing")
    with course.gradebook() as gradebook:
        assert gradebook.find_student("zoe").first_name == "Zoe"


def test_rebuild_puts_right_what_init_cannot_cells_added_after_work_was_handed_in(course, capsys):
    database = sqlite3.connect(course.root / "gradebook.db")
    database.execute("update base_cell set name = ? where name = ?", (f"{LESSON}-old-check", CODE))
    database.commit()
    database.close()
    (course.root / "source" / LESSON / f"{LESSON}.ipynb").touch()
    assert main(["grade", str(course.root)]) == 2
    assert f"python -m autograder rebuild {course.root}" in capsys.readouterr().err
    assert main(["rebuild", str(course.root)]) == 0
    assert {score for score, _ in table(course).values()} == {90}


def test_a_damaged_file_of_marks_is_not_written_over(course, capsys):
    (course.root / "marks.json").write_text("{")
    assert main(["grade", str(course.root)]) == 2
    assert "marks.json is damaged" in capsys.readouterr().err
    assert (course.root / "marks.json").read_text() == "{"


def test_the_file_of_marks_holds_no_answer_s_text(course):
    mark(course, "ada", WRITTEN, 7)
    assert main(["export", str(course.root)]) == 0
    (kept,) = json.loads((course.root / "marks.json").read_text())[LESSON]["ada"].values()
    assert kept["score"] == 7 and len(kept["answer"]) == 64
