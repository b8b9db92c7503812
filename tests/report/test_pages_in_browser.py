"""A page made from a hostile notebook asks for nothing, runs nothing, and draws its formulas."""

import json

import pytest
from submissions import LESSON, cell, honest

from autograder.course.course import Course, init
from autograder.grading.grade import grade
from autograder.report import feedback
from autograder.running.side_by_side import SideBySide
from autograder.wall.wall import why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=f"no sandbox here: {why_not()}")
HOSTILE = """\
<a class="modal-backdrop" style="position:fixed;inset:0" href="https://learner.invalid/">x</a>

<img src="https://learner.invalid/a.png"> ![p](https://learner.invalid/b.png)
![gone](attachment:gone.png)

<script>document.title = "ran-in-a-page"</script>
<img src=x onerror="document.title = 'ran-in-a-page'">
<div title="

$\\text{"><img src=x onerror=document.title='ran-in-a-page'>}$

"> <style>@import "https://learner.invalid/c.css";</style>
<link rel=stylesheet href="https://learner.invalid/d.css">

Because $\\frac{e^{x_i}}{\\sum_j e^{x_j}}$ and $$\\sqrt{d}$$ and $\\frac{$ end.

```python
x = 1
```
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Course:
    course = init(tmp_path_factory.mktemp("pages") / "course", [LESSON])
    hostile = honest()
    cell(hostile, "why_subtract")["source"] = HOSTILE
    for student, work in {"ada": honest(), "eve": hostile}.items():
        folder = course.path("submitted", student, LESSON)
        folder.mkdir(parents=True)
        (folder / f"{LESSON}.ipynb").write_text(json.dumps(work))
    grade(course, LESSON, SideBySide())
    return course


def path(course: Course, student: str):
    return course.path("feedback", student, LESSON) / f"{LESSON}.html"


@pytest.mark.parametrize("student", ["ada", "eve"])
def test_a_page_asks_for_nothing_and_runs_nothing(course, browser, student):
    page = path(course, student)
    browser.open(page)
    assert [r for r in browser.requests if not r.startswith("data:")] == [page.resolve().as_uri()]
    assert browser.evaluate("document.title") == LESSON
    assert browser.evaluate("document.scripts.length") == 0
    assert not browser.errors


def test_what_a_policy_must_stop_is_stopped(course, browser, tmp_path):
    """The page's policy holds even where something slips through the cleaning."""
    text = path(course, "ada").read_text(encoding="utf-8")
    for slipped in ("<script>document.title = 'ran'</script>", "<img src='https://x.invalid/a'>"):
        page = tmp_path / "page.html"
        page.write_text(text.replace("</body>", slipped + "</body>"), encoding="utf-8")
        browser.open(page)
        assert browser.evaluate("document.title") == LESSON
        assert not [
            r for r in browser.requests if "x.invalid" in r and r not in str(browser.failures)
        ]


def test_formulas_are_drawn_and_what_is_none_is_shown(course, browser):
    browser.open(path(course, "eve"))
    sizes = browser.evaluate(
        "[...document.querySelectorAll('mfrac, msqrt')].map(m => m.getBoundingClientRect().height)"
    )
    assert len(sizes) >= 2 and min(sizes) > 5
    assert "$\\frac{$" in browser.evaluate("document.body.innerText")


def test_no_link_covers_the_page_and_the_code_is_coloured(course, browser):
    browser.open(path(course, "eve"))
    assert browser.evaluate("document.querySelectorAll('.modal-backdrop').length") == 0
    assert not browser.evaluate("!!document.elementFromPoint(5, 300)?.closest('a[href^=http]')")
    assert browser.evaluate("document.querySelectorAll('.rendered_html .highlight').length") >= 1


def test_a_picture_that_is_missing_is_said_to_be(course):
    assert "The picture gone.png is missing" in path(course, "eve").read_text(encoding="utf-8")


@pytest.mark.parametrize("how", ["slow", "fails", "dies"])
def test_everybody_gets_a_page_whatever_becomes_of_its_drawing(course, monkeypatch, how):
    import os
    import time

    convert = feedback.Pages.convert_notebooks

    def harder(self):
        mine = "eve" in str(self.assignments)
        if mine and (how == "dies" or not self.exporter.simpler):
            if how == "dies":
                os._exit(1)
            if how == "fails":
                raise ValueError("no such thing")
            time.sleep(60)
        convert(self)

    monkeypatch.setattr(feedback, "SECONDS", 4.0)
    monkeypatch.setattr(feedback.Pages, "convert_notebooks", harder)
    for student in ("ada", "eve"):
        path(course, student).unlink(missing_ok=True)
    told = feedback.write_pages(course, LESSON, ["ada", "eve"], 2)
    assert list(told) == ["eve"]
    assert "could not be drawn" not in path(course, "ada").read_text(encoding="utf-8")
    text = path(course, "eve").read_text(encoding="utf-8")
    assert ("could not be drawn" if how == "dies" else "as they were written") in text
    assert "softmax" in text
