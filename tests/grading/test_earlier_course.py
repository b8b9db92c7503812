"""A course folder that an earlier version made goes on working: its files name our modules."""

import json

import pytest
from submissions import LESSON, honest

from autograder.__main__ import main
from autograder.course.course import CONFIG, Course, init
from autograder.course.status import STATUS_FILE
from autograder.report.export import rows
from autograder.wall.wall import why_not

# as version 0.1.0 wrote them
EARLIER_CONFIG = """\
import importlib.util
import os
from pathlib import Path

here = Path(__file__).resolve().parent
c = get_config()
c.CourseDirectory.course_id = "transformers"
c.CourseDirectory.root = str(here)
c.CourseDirectory.db_url = f"sqlite:///{here / 'gradebook.db'}?timeout=60"
c.Execute.timeout = 60  # seconds for one cell
if importlib.util.find_spec("autograder"):
    c.HTMLExporter.filters = {"markdown2html": "autograder.feedback.harmless_markdown"}
    c.HTMLExporter.exclude_raw = True
os.environ["AUTOGRADER_SEED"] = (here / "seed").read_text().strip()
"""
EARLIER_STATUS = {
    LESSON: {
        "ada": {"status": "graded", "notes": ["An old note."], "key": "0" * 64, "walled": True}
    }
}

pytestmark = pytest.mark.skipif(bool(why_not()), reason=f"no sandbox here: {why_not()}")


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Course:
    made = init(tmp_path_factory.mktemp("earlier") / "course", [LESSON])
    (made.root / CONFIG).write_text(EARLIER_CONFIG, encoding="utf-8")
    (made.root / STATUS_FILE).write_text(json.dumps(EARLIER_STATUS), encoding="utf-8")
    folder = made.path("submitted", "ada", LESSON)
    folder.mkdir(parents=True)
    (folder / f"{LESSON}.ipynb").write_text(json.dumps(honest()), encoding="utf-8")
    assert main(["grade", str(made.root)]) == 0
    return made


def test_an_earlier_course_still_grades(course):
    (row,) = rows(course, LESSON)
    assert row.score == 90 and "An old note." not in row.notes


def test_the_filter_that_an_earlier_course_names_still_cleans_its_pages(course):
    from traitlets.utils.importstring import import_item

    named = course.config.HTMLExporter.filters["markdown2html"]
    assert import_item(named)({}, "<script>1</script>").count("<script") == 0


def test_stock_nbgrader_still_writes_its_pages(course):
    (course.root / "feedback" / "ada" / LESSON / f"{LESSON}.html").unlink()
    course.convert("GenerateFeedback", LESSON)
    assert (course.root / "feedback" / "ada" / LESSON / f"{LESSON}.html").exists()
