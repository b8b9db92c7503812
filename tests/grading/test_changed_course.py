"""When the course changes nobody is accused; a source that the checks do not know is not graded."""

import json

import pytest
from submissions import LESSON, cell, hand_in, honest

from autograder.__main__ import main
from autograder.course.course import Course
from autograder.report.export import rows


def edit(course: Course, change) -> None:
    """Change the course's source, as an update or its owner does."""
    path = course.root / "source" / LESSON / f"{LESSON}.ipynb"
    notebook = json.loads(path.read_text())
    change(notebook)
    path.write_text(json.dumps(notebook))


def move_points(notebook: dict) -> None:
    for name, points in (("softmax-check", 20), ("weighted_average-check", 30)):
        check = cell(notebook, name)
        old = check["metadata"]["nbgrader"]["points"]
        check["metadata"]["nbgrader"]["points"] = points
        text = "".join(check["source"])
        check["source"] = text.replace(f"points={old}", f"points={points}")


def comment_in_locked(notebook: dict) -> None:
    setup = cell(notebook, "setup")
    setup["source"] = "# a remark\n" + "".join(setup["source"])


def notes(course: Course) -> dict[str, str]:
    return {row.student: row.notes for row in rows(course, LESSON)}


@pytest.mark.parametrize("change", [move_points, comment_in_locked])
def test_a_changed_course_accuses_nobody(course, change):
    edit(course, change)
    assert main(["grade", str(course.root)]) == 0
    found = notes(course)
    assert set(found) == {"ada", "bob"}
    for note in found.values():
        assert "The course has changed since it was handed out" in note
        assert "edited" not in note
    page = (course.path("feedback", "ada", LESSON) / f"{LESSON}.html").read_text()
    assert "had been edited" not in page


def test_whoever_edits_points_and_locked_cells_is_still_named(course):
    work = honest()
    cell(work, "softmax-check")["metadata"]["nbgrader"]["points"] = 90
    comment_in_locked(work)
    hand_in(course, "ada", work)
    assert main(["grade", str(course.root)]) == 0
    assert "Points or flags had been edited and were reset: softmax-check." in notes(course)["ada"]
    assert "Locked cells had been edited and were restored: setup." in notes(course)["ada"]
    assert notes(course)["bob"] == "A written answer waits for a human."


def test_without_a_record_of_releases_the_doubt_is_to_the_learner_s_benefit(course):
    (course.root / "releases.json").unlink()
    work = honest()
    cell(work, "softmax-check")["metadata"]["nbgrader"]["points"] = 90
    hand_in(course, "ada", work)
    assert main(["grade", str(course.root)]) == 0
    assert (
        "differ from the course's present ones, which count: softmax-check."
        in (notes(course)["ada"])
    )
    assert "edited" not in notes(course)["ada"]


def test_init_remembers_the_source_it_replaces(course):
    edit(course, comment_in_locked)  # this version was handed out
    assert main(["grade", str(course.root)]) == 0
    work = honest()
    comment_in_locked(work)
    hand_in(course, "bob", work)
    assert main(["init", str(course.root), LESSON]) == 0
    assert main(["grade", str(course.root)]) == 0
    assert "The course has changed since it was handed out" in notes(course)["bob"]
    assert "edited" not in notes(course)["bob"]


def drop(notebook: dict) -> None:
    notebook["cells"].remove(cell(notebook, "one_hot_rows-check"))


def rename(notebook: dict) -> None:
    check = cell(notebook, "one_hot_rows-check")
    check["source"] = "".join(check["source"]).replace("one_hot_rows", "two_hot_rows")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (drop, "there is no cell for one_hot_rows."),
        (rename, "there is no check for two_hot_rows and no cell for one_hot_rows."),
    ],
)
def test_source_and_checks_that_disagree_stop_the_grader(course, capsys, change, said):
    before = notes(course)
    edit(course, change)
    assert main(["grade", str(course.root)]) == 2
    told = capsys.readouterr().err
    assert said in told and f"python -m autograder init {course.root} {LESSON}" in told
    assert notes(course) == before  # nothing was taken back
    assert main(["rebuild", str(course.root)]) == 2
    assert notes(course) == before  # nor was the gradebook set aside
    assert main(["init", str(course.root), LESSON]) == 0
    assert main(["grade", str(course.root)]) == 0
    assert {row.score for row in rows(course, LESSON)} == {90}
