"""Deadlines hold in their zone, extensions and grace count, and lateness costs what it says."""

import csv
import json
from datetime import UTC, datetime

import nbformat
import pytest
from exported import zipped
from nbgrader.preprocessors import AssignLatePenalties
from submissions import LESSON
from traitlets.config import Config

from autograder.course.collect import collect, gather
from autograder.course.deadlines import EXAMPLE, read_deadlines
from autograder.course.lateness import Lateness
from autograder.errors import CourseError
from autograder.report import class_report
from autograder.report.export import rows, write_csv

pytestmark = pytest.mark.filterwarnings("ignore:Object of type")  # nbgrader's own
BASIC = 'zone = "Europe/Berlin"\ngrace = 15\npenalty = 10\ncut_off = 3\n[due]\nwarm_up = {}\n'


def due(course, when: str, more: str = "") -> None:
    (course.root / "deadlines.toml").write_text(BASIC.format(when) + more)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("deadline", "handed_in", "extra", "days"),
    [
        # winter: Berlin is UTC+1
        ("2027-01-15 23:59:00", "2027-01-15 22:59:00", 0, 0),
        ("2027-01-15 23:59:00", "2027-01-15 23:13:59", 0, 0),  # within the grace
        ("2027-01-15 23:59:00", "2027-01-15 23:14:01", 0, 1),
        ("2027-01-15 23:59:00", "2027-01-16 22:59:00", 0, 1),
        ("2027-01-15 23:59:00", "2027-01-16 22:59:01", 0, 2),
        # summer: UTC+2
        ("2027-07-15 23:59:00", "2027-07-15 21:59:00", 0, 0),
        ("2027-07-15 23:59:00", "2027-07-15 22:59:00", 0, 1),
        # the night of 28 March has 23 hours: a day more is the same time on the next day
        ("2027-03-27 23:59:00", "2027-03-28 21:59:00", 1, 0),
        ("2027-03-27 23:59:00", "2027-03-28 22:30:00", 1, 1),
        ("2027-03-27 23:59:00", "2027-03-28 21:59:00", 0, 1),
        ("2027-03-27 23:59:00", "2027-03-28 21:59:01", 0, 2),
        # the night of 31 October has 25 hours
        ("2027-10-30 23:59:00", "2027-10-31 22:59:00", 1, 0),
        ("2027-10-30 23:59:00", "2027-10-31 22:59:00", 0, 1),
        ("2027-10-30 23:59:00", "2027-10-31 22:59:01", 0, 2),
        # a zone of its own; a day alone is its end
        ("2027-01-15T12:00:00-08:00", "2027-01-15 20:00:00", 0, 0),
        ("2027-01-15T12:00:00-08:00", "2027-01-15 20:16:00", 0, 1),
        ("2027-01-15", "2027-01-15 22:59:59", 0, 0),
        ("2027-01-15", "2027-01-15 23:15:00", 0, 1),
    ],
)
def test_days_late_are_counted_by_the_calendar_of_the_courses_zone(
    course, deadline, handed_in, extra, days
):
    due(course, deadline)
    assert read_deadlines(course).days_late(LESSON, utc(handed_in), extra) == days


def test_the_example_can_be_used(course):
    (course.root / "deadlines.toml").write_text(EXAMPLE)
    lateness = Lateness(course)
    assert lateness.deadlines.deadline(LESSON) == utc("2027-03-26 22:59:00")
    assert lateness.extra_days("doejane_12345", LESSON) == 5
    assert lateness.extra_days("doejane_12345", "recurrence") == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('zone = "Middle/Earth"\n', "'Middle/Earth' is no time zone"),
        ("[due]\nwarmup = 2027-01-01\n", "warmup is no lesson"),
        ('[due]\nwarm_up = "soon"\n', "warm_up needs a date"),
        ("penalty = \n", "cannot be used"),
        ('penalty = "much"\n', "cannot be used"),
    ],
)
def test_a_wrong_file_of_deadlines_gets_a_sentence(course, text, message):
    (course.root / "deadlines.toml").write_text(text)
    with pytest.raises(CourseError, match=message):
        read_deadlines(course)


def graded(course, scores: dict[str, float]) -> None:
    """Put scores into the gradebook, as grading would."""
    course.prepare(LESSON)
    with course.gradebook() as gradebook:
        for student, score in scores.items():
            gradebook.update_or_create_student(student)
            submission = gradebook.update_or_create_submission(LESSON, student)
            grade = next(g for n in submission.notebooks for g in n.grades if g.max_score)
            grade.auto_score, grade.needs_manual_grade = score, False
            page = course.path("autograded", student, LESSON) / f"{LESSON}.ipynb"
            page.parent.mkdir(parents=True)
            page.write_text(nbformat.writes(nbformat.v4.new_notebook()))
        gradebook.db.commit()


@pytest.fixture
def late_class(course, tmp_path):
    """Zips of 5 March, noon in Berlin: an hour early, and some days late by extension."""
    due(course, "2027-03-05 13:00:00", "[extra_days]\ncarl = 2\n")
    when = {"ada": 5, "bob": 7, "carl": 7, "dora": 9}
    files = {f"{name}_warm_up.ipynb": name for name in when}
    late = {f"{name}_warm_up.ipynb": day for name, day in when.items()}
    collect(course, [zipped(tmp_path / "a.zip", files, late=late)])
    graded(course, dict.fromkeys(when, 8.0))
    return course


def test_lateness_costs_what_the_course_says_and_is_told_in_the_tables(late_class):
    found = {row.student: row for row in rows(late_class, LESSON)}
    assert {s: (row.score, row.late) for s, row in found.items()} == {
        "ada": (8.0, ""),
        "bob": (pytest.approx(6.4), "2 days"),
        "carl": (8.0, ""),
        "dora": (0.0, "4 days"),  # beyond the cut-off
    }
    assert found["bob"].auto_score == 8.0 and "1.6 of 8 points taken off" in found["bob"].notes
    with write_csv(late_class).open(encoding="utf-8") as file:
        table = {row["student"]: row["late"] for row in csv.DictReader(file)}
    assert table == {"ada": "", "bob": "2 days", "carl": "", "dora": "4 days"}
    assert "<td>2 days</td>" in class_report.write(late_class).read_text(encoding="utf-8")


def test_the_gradebook_has_what_nbgrader_itself_would_keep(late_class):
    rows(late_class, LESSON)
    with late_class.gradebook() as gradebook:
        assert gradebook.find_assignment(LESSON).duedate == datetime(2027, 3, 5, 12)
        bob, carl = (gradebook.find_submission(LESSON, name) for name in ("bob", "carl"))
        assert bob.timestamp == datetime(2027, 3, 7, 11)
        assert bob.total_seconds_late == 47 * 3600 and carl.total_seconds_late == 0
        assert bob.late_submission_penalty == pytest.approx(1.6)
        assert carl.late_submission_penalty == 0


def test_nbgraders_own_command_takes_off_the_same(late_class):
    rows(late_class, LESSON)
    config = Config(late_class.config)
    step = AssignLatePenalties(config=config)
    resources = {
        "nbgrader": {
            "notebook": LESSON,
            "assignment": LESSON,
            "student": "bob",
            "db_url": config.CourseDirectory.db_url,
        }
    }
    step.preprocess(nbformat.v4.new_notebook(), resources)
    with late_class.gradebook() as gradebook:
        bob = gradebook.find_submission(LESSON, "bob")
        assert bob.late_submission_penalty == pytest.approx(1.6)


def test_a_later_deadline_gives_the_points_back(late_class):
    rows(late_class, LESSON)
    due(late_class, "2027-03-30 13:00:00")
    assert {row.score for row in rows(late_class, LESSON)} == {8.0}


def test_without_a_file_nbgraders_own_due_dates_stand(late_class):
    (late_class.root / "deadlines.toml").unlink()
    with late_class.gradebook() as gradebook:
        gradebook.update_or_create_assignment(LESSON, duedate="2027-03-01 00:00:00 UTC")
        bob = gradebook.find_submission(LESSON, "bob").notebooks[0]
        bob.late_submission_penalty = 3.0
        gradebook.db.commit()
    assert {row.student: row.score for row in rows(late_class, LESSON)}["bob"] == 5.0
    with late_class.gradebook() as gradebook:
        assert gradebook.find_assignment(LESSON).duedate == datetime(2027, 3, 1)


def test_canvas_says_itself_what_is_late_and_its_download_date_counts_for_nothing(course, tmp_path):
    due(course, "2027-02-01 12:00:00")
    files = {"ada_1_2_warm_up.ipynb": "in time", "bob_LATE_2_3_warm_up.ipynb": "late"}
    collect(course, [zipped(tmp_path / "c.zip", files, day=20)])
    graded(course, {"ada_1": 8.0, "bob_2": 8.0})
    found = {row.student: (row.score, row.late) for row in rows(course, LESSON)}
    assert found == {"ada_1": (8.0, ""), "bob_2": (7.2, "late, as the platform says")}


def test_where_only_a_checkouts_date_is_known_lateness_is_unknown_and_costs_nothing(
    course, tmp_path
):
    root = tmp_path / "repos"
    (root / "warm-up-ada" / ".git").mkdir(parents=True)
    (root / "warm-up-ada" / ".git" / "config").write_text("")
    (root / "warm-up-ada" / "warm_up.ipynb").write_text("ada")
    due(course, "2020-02-01 12:00:00")
    collect(course, [root])
    assert Lateness(course).late("ada", LESSON).text == "unknown"
    assert Lateness(course).late("ada", LESSON).days == 0
    due(course, "2120-02-01 12:00:00")
    assert Lateness(course).late("ada", LESSON).text == ""


def test_the_rosters_extra_days_count(course, tmp_path):
    due(course, "2027-03-05 13:00:00")
    roster = tmp_path / "class.csv"
    roster.write_text("id,name,extra days\nada,Ada,2\nbob,Bob,1\n")
    files = {"ada_warm_up.ipynb": "a", "bob_warm_up.ipynb": "b"}
    gather(course, [zipped(tmp_path / "a.zip", files, day=7)], roster)
    lateness = Lateness(course)
    assert [lateness.late(name, LESSON).days for name in ("ada", "bob")] == [0, 1]


def test_a_timestamp_that_a_learner_handed_in_counts_for_nothing(course, tmp_path):
    due(course, "2027-03-05 13:00:00")
    files = {"ada/warm_up.ipynb": "a", "ada/timestamp.txt": "2000-01-01 00:00:00.0 UTC"}
    collect(course, [zipped(tmp_path / "a.zip", files, day=9)])
    assert Lateness(course).late("ada", LESSON).days == 4
    stamp = course.path("submitted", "ada", LESSON) / "timestamp.txt"
    assert stamp.read_text() == "2027-03-09 11:00:00.000000 UTC"


def test_a_damaged_record_gets_a_sentence(course, tmp_path):
    (course.root / "collected.json").write_text(json.dumps({"ada": {"warm_up": {"no": 1}}}))
    with pytest.raises(CourseError, match=r"collected\.json is damaged"):
        collect(course, [zipped(tmp_path / "a.zip", {"ada_warm_up.ipynb": "a"})])
