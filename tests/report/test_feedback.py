"""What a learner wrote is shown in pages, and nothing of it is run there."""

import json
import re

import pytest
from submissions import LESSON, cell, honest, plain, released

from autograder.course.course import Course, init
from autograder.grading.grade import grade
from autograder.lessons import load
from autograder.report.written import rendered
from autograder.running.side_by_side import SideBySide

WRITTEN = "why_subtract"
RAW = "<script>alert('raw')</script>"  # a raw cell goes into a page as it stands


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Course:
    """A class whose answers are right, not there, and not even Python."""
    course = init(tmp_path_factory.mktemp("pages") / "course", [LESSON])
    broken = honest()
    cell(broken, "softmax")["source"] = "def softmax(x, dim)\n    return x"
    cell(broken, "which_line")["source"] = "which_line = c"
    broken["cells"].append({"cell_type": "raw", "source": RAW, "metadata": {}})
    for student, work in {"ada": honest(), "bob": broken, "cy": plain(released())}.items():
        folder = course.path("submitted", student, LESSON)
        folder.mkdir(parents=True)
        (folder / f"{LESSON}.ipynb").write_text(json.dumps(work))
    grade(course, LESSON, SideBySide())
    return course


def page(course: Course, student: str) -> str:
    return (course.path("feedback", student, LESSON) / f"{LESSON}.html").read_text()


def index(course: Course, student: str) -> dict[str, str]:
    """Return what a page lists at its top: each question's name, and what is said of it."""
    listed = re.findall(r'<li><a href="#[^"]*">([^<]*)</a> \((.*)\)</li>', page(course, student))
    return dict(listed)


def test_the_index_calls_every_question_by_its_name(course):
    assert list(index(course, "ada")) == [*load(LESSON).names, WRITTEN]
    assert index(course, "ada")["softmax"] == "Score: 30.0 / 30.0"
    assert index(course, "bob")["softmax"] == "Score: 0.0 / 30.0"
    assert "comment on softmax</a>" in page(course, "cy")


def test_a_written_answer_nobody_has_read_is_not_shown_as_zero(course):
    text = page(course, "ada")
    assert index(course, "ada")[WRITTEN] == "10 points wait for a human"
    assert "Score: 0.0" not in text and text.count("10 points wait for a human") == 3
    assert f"<h4>{LESSON} (Score: 90.0 / 100.0, and 10 points wait for a human)</h4>" in text
    assert index(course, "cy")[WRITTEN] == "Score: 0.0 / 10.0"  # left empty: nothing to read
    assert "wait for a human" not in page(course, "cy")


def test_grading_again_puts_a_human_s_mark_and_comment_into_the_page(course):
    with course.gradebook() as gradebook:
        place = (f"{LESSON}-{WRITTEN}", LESSON, LESSON, "ada")
        mark, comment = gradebook.find_grade(*place), gradebook.find_comment(*place)
        before = mark.manual_score, mark.needs_manual_grade, comment.manual_comment
        mark.manual_score, mark.needs_manual_grade = 7.0, False
        comment.manual_comment = "Well put."
        gradebook.db.commit()
    grade(course, LESSON, SideBySide())
    text, listed = page(course, "ada"), index(course, "ada")
    with course.gradebook() as gradebook:
        mark, comment = gradebook.find_grade(*place), gradebook.find_comment(*place)
        mark.manual_score, mark.needs_manual_grade, comment.manual_comment = before
        gradebook.db.commit()
    assert listed[WRITTEN] == "Score: 7.0 / 10.0" and "(Score: 97.0 / 100.0)</h4>" in text
    assert "Well put." in text and "wait for a human" not in text


def test_a_cell_that_did_not_run_is_told_with_its_error(course):
    text = page(course, "bob")
    assert "did not run to its end. SyntaxError, line 1: expected &#x27;:&#x27;" in text
    assert "did not run to its end. NameError, line 1: name &#x27;c&#x27; is not defined" in text
    assert page(course, "cy").count("not answered yet") == len(load(LESSON).exercises)


def test_a_raw_cell_is_left_out_of_the_page(course):
    assert RAW in course.path("autograded", "bob", LESSON).joinpath(f"{LESSON}.ipynb").read_text()
    assert "alert('raw')" not in page(course, "bob")


@pytest.mark.parametrize(
    "source",
    [
        "<script>alert(1)</script>",
        "a <img src=x onerror=alert(1)> b",
        "<b onclick='alert(1)'>b</b>",
        "[a](javascript:alert(1))",
        "[a](&#106;avascript:alert(1))",
        "[a](data:text/html,<script>alert(1)</script>)",
        "<a href=' java\tscript:alert(1)'>a</a>",
        "<svg onload=alert(1)><animate onbegin=alert(1)></svg>",
        "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
        "<form action='javascript:alert(1)'><input type=submit></form>",
        "<details open ontoggle=alert(1)>x</details>",
        "<style>body { display: none }</style>",
        "<base href='//elsewhere'><meta http-equiv=refresh content='0;url=//elsewhere'>",
        "```html\n<script>alert(1)</script>\n```",
    ],
)
def test_nothing_that_runs_is_left(source):
    from bs4 import BeautifulSoup

    page = BeautifulSoup(rendered(source, {}), "html.parser")
    kinds = {tag.name for tag in page.find_all(True)}
    assert not kinds & {"script", "style", "iframe", "svg", "form", "input", "base", "meta"}
    for tag in page.find_all(True):
        for name, value in tag.attrs.items():
            assert not name.startswith("on")
            assert "script:" not in str(value) and "data:text" not in str(value)


def test_text_tables_code_and_pictures_stay():
    shown = rendered(
        "# Why\n\n*It* is `<pad>`, $a < b$.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "![p](attachment:p.png) [source](https://example.org)\n\n```python\nx = 1\n```\n",
        {"p.png": {"image/png": "AAAA"}},
    )
    for wanted in (
        *("Why", "<em>It</em>", "<code>&lt;pad&gt;</code>", "<mo>&lt;</mo>", "<td>1</td>"),
        *('src="data:image/png;base64,AAAA"', 'href="https://example.org"', 'class="highlight"'),
    ):
        assert wanted in shown


def test_a_token_in_angle_brackets_is_shown_as_it_was_written():
    assert "the &lt;pad&gt; token" in rendered("the <pad> token", {})
