"""nbgrader's feedback pages, made several at a time, with nothing in them that a page could run.

A learner's text may hold HTML. What is shown of it, here and in formgrader (nbgrader_config.py
names `harmless_markdown`), is text, pictures and tables: no script, no frame, no handler.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from html import escape

import nbformat
from jinja2 import DictLoader
from nbconvert.exporters import HTMLExporter, TemplateExporter
from nbconvert.filters import Highlight2HTML, strip_ansi
from nbconvert.filters.widgetsdatatypefilter import WidgetsDataTypeFilter
from nbconvert.writers import FilesWriter
from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import GetGrades
from traitlets.config import Config

from autograder.checks.cells import question_of
from autograder.course.course import Course
from autograder.course.gradebook import one_gradebook
from autograder.report.written import as_written, harmless_markdown
from autograder.running.in_time import each_in_time

WAITING = "{:g} points wait for a human"
# nothing is run or asked for, whatever got into a page
POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'"
)
HEAD = f'''<head>
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">'''
FONT = re.compile(r"@font-face\s*\{[^}]*\}")  # of icons that no page shows
NO_MATHJAX = DictLoader({"mathjax.html.j2": "{% macro mathjax() %}{% endmacro %}"})
MAX_COLOURED = 100_000  # characters of a code cell that are coloured
SECONDS = 30.0  # for a page; an honest one takes a tenth of a second
SIMPLER = "Drawing this page in full failed ({}): text and code are shown as they were written."
SHORT = "This page could not be drawn ({}). The scores below are what was recorded."
BY_HAND = "(given by hand; the card below shows what the machine found)"


class Grades(GetGrades):
    """nbgrader's step that reads the scores; it also remembers what each is called and if it waits.

    A grade that nobody has given yet reads as zero, and zero is a score.
    """

    def preprocess(self, nb, resources: dict):
        self.found: list[tuple[str, float | None]] = []
        resources["nbgrader"]["graded"] = self.found
        self.by_hand: list[str] = []
        resources["nbgrader"]["by_hand"] = self.by_hand
        return super().preprocess(nb, resources)

    def _get_score(self, cell, resources: dict) -> None:
        name = cell.metadata.nbgrader.grade_id
        place = (self.notebook_id, self.assignment_id, self.student_id)
        grade = self.gradebook.find_grade(name, *place)
        cell.metadata.nbgrader.update(score=grade.score, points=grade.max_score)
        # a mark of an earlier attempt counts until a human has looked again
        waits = grade.needs_manual_grade and grade.manual_score is None
        self.found.append((name, grade.max_score if waits else None))
        if grade.manual_score is not None and grade.auto_score is not None:
            self.by_hand.append(name)


def _told_apart(html: str, about: dict) -> str:
    """Call questions by their names in nbgrader's page, and say which wait for a human."""
    lesson, open_points = about["assignment"], 0.0
    comment = rf'(<a href="#comment-{lesson}-([\w-]+)">)Comment</a>'
    html = re.sub(comment, r"\g<1>comment on \g<2></a>", html)
    for name, waiting in about["graded"]:
        short = question_of(name)
        told = r"\g<3>" if waiting is None else f"({WAITING.format(waiting)})"
        entry = rf'(<a href="#{name}">)[^<]*(</a> )(\(Score: [^)]*\))'
        html = re.sub(entry, rf"\g<1>{short}\g<2>{told}", html, count=1)
        if waiting is not None:
            heading = rf'(<a name="{name}"></a>.*?)Score: \S+ / \S+'
            html = re.sub(heading, rf"\g<1>{told}", html, count=1, flags=re.DOTALL)
            open_points += waiting
    html = _given_by_hand(html, about["by_hand"])
    if open_points:
        total = r"(<h4>[^<]*)\)</h4>"
        html = re.sub(total, rf"\g<1>, and {WAITING.format(open_points)})</h4>", html, count=1)
    return html


def _given_by_hand(html: str, names: list[str]) -> str:
    """Say whose the score is where a human overrode the machine's, which the card still shows."""
    for name in names:
        heading = rf'(<a name="{name}"></a>.*?Score: [\d.]+ / [\d.]+)'
        html = re.sub(heading, rf"\g<1> {BY_HAND}", html, count=1, flags=re.DOTALL)
    return html


class Page(HTMLExporter):
    """nbconvert's page, which need not validate or parse again what we have written ourselves."""

    simpler = ""  # why text and code are to be shown as they were written

    def __init__(self, **settings):
        super().__init__(extra_loaders=[NO_MATHJAX], **settings)
        self.exclude_raw = True  # a raw cell would be copied into the page as it stands
        self.coloured: Callable[[str, str | None], str] = lru_cache(maxsize=1000)(self._coloured)

    def default_filters(self):
        yield from super().default_filters()
        yield "markdown2html", harmless_markdown

    def simplify(self, why: str) -> None:
        """Show text and code as they were written, and say so: nothing of it can be slow then."""
        self.simpler = SIMPLER.format(why)
        for name in ("markdown2html", "ansi2html"):
            self.register_filter(name, lambda text: as_written(strip_ansi(text)))
        self.coloured = lambda code, _: as_written(code)

    def from_file(self, file_stream, resources: dict | None = None, **more):
        notebook = nbformat.reader.reads(file_stream.read())
        return self.from_notebook_node(notebook, resources=resources, **more)

    def from_notebook_node(self, nb, resources: dict | None = None, **more):
        info = nb.metadata.get("language_info", {})
        lexer = info.get("pygments_lexer", info.get("name"))
        resources = self._init_resources(resources)
        self._nb_metadata.clear()
        kind = WidgetsDataTypeFilter(
            notebook_metadata=self._nb_metadata, parent=self, resources=resources
        )
        self.register_filter("filter_data_type", kind)
        self.register_filter("highlight_code", lambda code, **_: self.coloured(code, lexer))
        html, resources = TemplateExporter.from_notebook_node(self, nb, resources, **more)
        html = _told_apart(html, resources["nbgrader"]).replace("<head>", HEAD, 1)
        head, end, body = html.partition("</head>")  # our own up to here
        html = FONT.sub("", head) + end + body
        described = '<img alt="No description has been provided for this image" src="data:'
        html = html.replace('<img src="data:', described)
        if self.simpler:
            top = '<a name="top"></a>'
            html = html.replace(top, f"{top}\n<p><strong>{escape(self.simpler)}</strong></p>", 1)
        return html, resources

    def _coloured(self, code: str, lexer: str | None) -> str:
        if len(code) > MAX_COLOURED:
            return as_written(code)
        return Highlight2HTML(pygments_lexer=lexer, parent=self)(code)

    def _preprocess(self, nb, resources: dict):
        for step in self._preprocessors:
            nb, resources = step(nb, resources)
        return nb, resources


class Pages(GenerateFeedback):
    """nbgrader's converter, told whose pages to write."""

    def __init__(self, course: Course, lesson: str):
        config = Config(course.config)
        config.CourseDirectory.assignment_id = lesson
        coursedir = CourseDirectory(config=config)
        super().__init__(coursedir=coursedir, config=config, log=course.log, force=True)
        self.course, self.lesson = course, lesson
        self.writer = FilesWriter(parent=self, config=self.config)
        self.exporter = Page(parent=self, config=self.config)
        for step in self.preprocessors:
            self.exporter.register_preprocessor(Grades if step is GetGrades else step)

    def write(self, student: str) -> None:
        """Write the page of one; raise what it failed of."""
        from nbgrader.converters.base import NbGraderException

        folder = self.course.path("autograded", student, self.lesson)
        self.assignments = {str(folder): [str(folder / f"{self.lesson}.ipynb")]}
        with one_gradebook(self.course):
            try:
                self.convert_notebooks()
            except NbGraderException:
                raise ValueError("an error that nbgrader.log has") from None


def write_pages(course: Course, lesson: str, students: list[str], n_jobs: int) -> dict[str, str]:
    """Write everybody's page, several at a time; return whose shows less than it should, and why.

    A page that fails or takes too long is made again in a simpler way, then in the simplest.
    """
    pages = Pages(course, lesson)  # before the processes are forked, so that each has it
    failed = _try(pages, students, n_jobs)
    if not failed:
        return {}

    def simple(student: str) -> None:
        pages.exporter.simplify(failed[student])
        pages.write(student)

    worse = _try(pages, list(failed), n_jobs, simple)
    for student, why in worse.items():
        course.log.error("feedback of %s for %s: %s", student, lesson, why)
        _write_scores(course, lesson, student, why)
    told = {s: SIMPLER if s not in worse else SHORT for s in failed}
    return {s: text.format(failed[s]) for s, text in told.items()}


def _try(pages: Pages, students: list[str], n_jobs: int, work=None) -> dict[str, str]:
    done = each_in_time(work or pages.write, students, n_jobs, SECONDS)
    return {student: _why(problem) for student, _, problem in done if problem is not None}


def _why(problem: BaseException) -> str:
    return str(problem) or type(problem).__name__


def _write_scores(course: Course, lesson: str, student: str, why: str) -> None:
    """Write the simplest page: each question and its score."""
    with course.gradebook() as gradebook:
        found = gradebook.find_submission_notebook(lesson, lesson, student)
        rows = [(question_of(g.name), g.score, g.max_score) for g in found.grades]
        total = f"{found.score:g} / {found.max_score:g}"
    lines = [f"<li>{escape(name)}: {score:g} / {most:g}</li>" for name, score, most in rows]
    folder = course.path("feedback", student, lesson)
    folder.mkdir(parents=True, exist_ok=True)
    text = f"""<!DOCTYPE html>
<html>
{HEAD}
<meta charset="utf-8"><title>{escape(lesson)}</title></head>
<body><h4>{escape(lesson)} (Score: {total})</h4>
<p>{escape(SHORT.format(why))}</p>
<ul>{"".join(lines)}</ul></body>
</html>
"""
    (folder / f"{lesson}.html").write_text(text, encoding="utf-8")
