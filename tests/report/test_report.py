"""The class report says what the gradebook and the cards say, and nothing a learner smuggled in."""

import html.parser
import json
import re
from collections import Counter

import nbformat
import pytest
from submissions import LESSON, cell, honest, plain

from autograder.checks.card import MIME
from autograder.checks.question import ARGUMENTS, GRADIENT
from autograder.checks.result import NOT_ALONE, NOT_REACHED
from autograder.course.course import Course, init
from autograder.course.sample import with_slips
from autograder.grading.grade import grade
from autograder.lessons import load
from autograder.report import class_report as report
from autograder.report import class_report as writing
from autograder.report.class_report import _questions_html
from autograder.report.diagnoses import Diagnosis, _count, diagnose, slip_texts
from autograder.report.export import Row, rows
from autograder.report.svg import histogram, meter
from autograder.running.side_by_side import SideBySide

AVERAGE = load(LESSON)["weighted_average"]
SLIP = AVERAGE.slips[0]
NASTY = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Course:
    course = init(tmp_path_factory.mktemp("report") / "course", [LESSON])
    wrong = plain(with_slips(LESSON, SLIP))
    wrong_letter = plain(with_slips(LESSON, SLIP))
    cell(wrong_letter, "which_line")["source"] = 'which_line = "b"'
    forged = honest()
    forged["cells"].append({"cell_type": "code", "source": FORGED, "metadata": {}})
    works = {"ada": honest(), "bob": wrong, "cy": wrong_letter, "dan<b>": forged}
    cell(forged, "one_hot_rows")["source"] = "def one_hot_rows(ids, n)\n    return ids"
    for student, work in works.items():
        folder = course.path("submitted", student, LESSON)
        folder.mkdir(parents=True)
        (folder / f"{NASTY.replace('/', '')} {LESSON}.ipynb").write_text(json.dumps(work))
    folder = course.path("submitted", "eve", LESSON)
    folder.mkdir(parents=True)
    (folder / f"{LESSON}.ipynb").write_text("{")
    grade(course, LESSON, SideBySide())
    report.write(course)
    return course


FORGED = f"""\
from IPython.display import display
card = {{"parts": [{{"name": "{NASTY}", "passed": False}}], "slips": ["{NASTY}"]}}
display({{"{MIME}": card, "text/plain": ""}}, raw=True)
"""


def page(course: Course) -> str:
    return (course.root / "class_report.html").read_text()


def by_name(course: Course) -> dict:
    students = [row.student for row in rows(course, LESSON) if row.score is not None]
    return {d.name: d for d in diagnose(course, LESSON, students)}


def test_shares_of_points_come_from_the_gradebook(course):
    found = by_name(course)["weighted_average"]
    with course.gradebook() as gradebook:
        grades = [
            gradebook.find_grade(f"{LESSON}-weighted_average-check", LESSON, LESSON, s).score
            for s in ("ada", "bob", "cy", "dan<b>")
        ]
    assert sorted(found.shares) == sorted(score / AVERAGE.points for score in grades)
    assert found.mean < 1


def test_slips_and_wrong_letters_are_counted_once_for_each_learner(course):
    found = by_name(course)
    assert found["weighted_average"].slips == {SLIP.name: 2}
    assert found["which_line"].slips == {"which_line = b": 1}
    assert found["softmax"].slips == {}
    assert found["weighted_average"].failed["values"] == 2


def test_an_answer_that_does_not_run_is_no_part_of_the_exercise(course):
    found = by_name(course)["one_hot_rows"]
    assert (found.untried, found.failed, found.unnamed) == (1, {}, 1)
    assert "<td>no answer that runs 1</td>" in page(course)


def test_a_part_that_is_not_wrong_by_itself_is_not_counted_as_failed():
    exercise = load(LESSON)["softmax"]
    found = dict.fromkeys(exercise.parts, "") | {ARGUMENTS: NOT_ALONE, GRADIENT: NOT_REACHED}
    parts = [{"name": n, "passed": False, "found": text} for n, text in found.items()]
    diagnosis = Diagnosis("softmax", 30)
    _count(diagnosis, exercise, {"parts": parts, "slips": []})
    assert set(diagnosis.failed) == set(exercise.parts) - {ARGUMENTS, GRADIENT}
    assert diagnosis.unnamed == 1


def test_equal_counts_stand_in_one_order_on_every_run():
    def shown(*names: str) -> str:
        return _questions_html([Diagnosis("softmax", 30, [0.5], Counter(names))])

    assert shown("values", "mask", "mask", "gradient") == shown(
        "mask", "gradient", "values", "mask"
    )
    assert "<td>mask 2, gradient 1, values 1</td>" in shown("values", "gradient", "mask", "mask")


def test_several_lessons_are_linked_from_the_top_and_one_is_not(course, tmp_path, monkeypatch):
    monkeypatch.setattr(course, "root", tmp_path)
    monkeypatch.setattr(
        writing, "rows", lambda *_: [Row("ada", "", 90.0, 100.0, 90.0, "graded", "")]
    )
    monkeypatch.setattr(writing, "_lesson_html", lambda _, name, __: f'<section id="{name}">')
    for lessons in (["warm_up"], ["warm_up", "recurrence"]):
        monkeypatch.setattr(Course, "lessons", lessons)
        links = re.findall(r'href="#(\w+)"', report.write(course).read_text())
        assert links == (lessons if len(lessons) > 1 else [])


def test_the_page_names_the_slip_says_what_it_is_and_how_many_made_it(course):
    text = page(course)
    assert SLIP.name in text
    assert "row t of <code>weights</code>" in text
    assert "2 of 4 learners" in text
    assert "4 of 5 have a score" in text


def test_learners_are_listed_with_score_status_and_a_link_to_their_page(course):
    links = re.findall(r'href="([^"]+)"', page(course))
    assert f"feedback/ada/{LESSON}/{LESSON}.html" in links
    assert len(links) == 4
    assert (course.root / links[0]).exists()
    assert "unreadable" in page(course)


def test_nothing_a_learner_wrote_becomes_markup(course):
    text = page(course)
    assert "<script" not in text
    assert "<b>" not in text
    assert "dan&lt;b&gt;" in text


def test_a_card_with_unknown_names_is_not_counted(course):
    path = course.path("autograded", "ada", LESSON) / f"{LESSON}.ipynb"
    path.chmod(0o644)
    before = path.read_text()
    graded = nbformat.reads(before, as_version=4)
    for output in cell(graded, "softmax-check")["outputs"]:
        if MIME in output.get("data", {}):
            output["data"][MIME] = {"parts": [{"name": NASTY}, 3], "slips": [NASTY, {}]}
    path.write_text(nbformat.writes(graded))
    try:
        found = by_name(course)["softmax"]
    finally:
        path.write_text(before)
    assert (found.slips, found.failed, found.unnamed) == ({}, {}, 1)


def test_the_page_is_one_well_formed_file_that_loads_nothing(course):
    class Tags(html.parser.HTMLParser):
        open: list[str]

        def handle_starttag(self, tag, attributes):
            assert tag not in ("script", "link", "img", "iframe")
            assert all("://" not in (v or "") for _, v in attributes)
            if tag not in ("meta", "br", "rect", "line"):
                self.open.append(tag)

        def handle_startendtag(self, tag, attributes):
            pass

        def handle_endtag(self, tag):
            if tag not in ("rect", "line"):
                assert self.open.pop() == tag

    parser = Tags()
    parser.open = []
    parser.feed(page(course))
    assert parser.open == []
    assert "url(" not in page(course)
    assert "@import" not in page(course)


def test_a_course_without_grades_has_a_report_that_says_so(course, tmp_path, monkeypatch):
    monkeypatch.setattr(Course, "lessons", [])
    monkeypatch.setattr(course, "root", tmp_path)
    assert "Nothing has been graded yet" in report.write(course).read_text()


def test_every_share_falls_into_a_bar():
    drawn = histogram([0.0, 0.05, 0.5, 0.95, 1.0], "scores")
    assert re.findall(r"<title>(\d) with", drawn) == list("2000010002")
    assert 'width="100.0"' in meter(1.7, "too much")


def test_every_known_mistake_has_a_text():
    for question in load(LESSON).questions:
        assert all("{" not in text and text for text in slip_texts(question).values())
