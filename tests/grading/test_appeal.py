"""A mark that a human gives to a code exercise stands, and nothing says otherwise."""

import pytest
from submissions import LESSON, cell, code, hand_in, honest

from autograder.course.course import Course
from autograder.course.status import Record
from autograder.grading import grade as grading
from autograder.report.class_report import write
from autograder.report.export import rows
from autograder.running.side_by_side import SideBySide

CODE = f"{LESSON}-softmax-check"
WRONG = "def softmax(x, dim):\n    return x\n"


def row(course: Course, student: str = "ada"):
    return next(row for row in rows(course, LESSON) if row.student == student)


def page(course: Course) -> str:
    return (course.path("feedback", "ada", LESSON) / f"{LESSON}.html").read_text()


@pytest.fixture
def appealed(course) -> Course:
    """The machine gave nothing for softmax; a human gave 12 of 30, and 7 for the written answer."""
    work = honest()
    cell(work, "softmax")["source"] = WRONG
    hand_in(course, "ada", work)
    grading.grade(course, LESSON, SideBySide())
    with course.gradebook() as gradebook:
        for name, score in ((CODE, 12.0), (f"{LESSON}-why_subtract", 7.0)):
            grade = gradebook.find_grade(name, LESSON, LESSON, "ada")
            grade.manual_score, grade.needs_manual_grade = score, False
        gradebook.db.commit()
    return course


def test_an_appeal_stands_when_all_is_run_and_saved_anew(appealed):
    score = row(appealed).score
    assert row(appealed).status == "graded"
    grading.grade(appealed, LESSON, SideBySide(timeout=29))
    assert (row(appealed).score, row(appealed).status) == (score, "graded")
    assert "written answer" not in row(appealed).notes


def test_the_page_says_that_the_score_above_a_card_was_given_by_hand(appealed):
    grading.grade(appealed, LESSON, SideBySide())
    assert page(appealed).count("given by hand; the card below shows what the machine found") == 1
    assert "12.0 / 30.0 (given by hand" in page(appealed)


def test_a_changed_answer_is_told_as_what_it_is(appealed):
    work = honest()
    cell(work, "softmax")["source"] = WRONG.replace("x\n", "2 * x\n")
    hand_in(appealed, "ada", work)
    grading.grade(appealed, LESSON, SideBySide())
    found = row(appealed)
    assert found.status == "needs a human" and "written answer" not in found.notes
    assert "marked by hand and has changed since: softmax." in found.notes


def test_a_crash_and_a_timeout_do_not_hide_that_a_written_answer_waits(course):
    work = honest()
    work["cells"].append(code("import time\ntime.sleep(30)"))
    work["cells"].append(code("import os\nos._exit(3)"))
    hand_in(course, "ada", work)
    records = grading.grade(course, LESSON, SideBySide(timeout=2))
    assert set(records["ada"].status) >= {"timed out"} and "graded" not in records["ada"].status
    found = row(course)
    assert found.facts[-1] == "needs a human" and "A written answer waits" in found.notes
    assert row(course, "bob").status == "needs a human"
    report = write(course).read_text()
    assert "needs a human: 2" in report and "timed out: 1" in report


def test_a_record_holds_facts_and_reads_those_of_earlier_versions():
    assert Record("crashed").status == ("crashed",)
    assert Record(["needs a human", "crashed", "graded"]).word == "crashed, needs a human"
    assert Record("graded").word == "graded"
