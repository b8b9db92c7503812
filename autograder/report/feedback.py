"""nbgrader's feedback pages, made several at a time, with nothing in them that a page could run.

A learner's text may hold HTML. What is shown of it, here and in formgrader (nbgrader_config.py
names `harmless_markdown`), is text, pictures and tables: no script, no frame, no handler.
"""

import multiprocessing
import re
from concurrent.futures import ProcessPoolExecutor
from functools import cache, lru_cache

import bleach
import nbformat
from jinja2 import pass_context
from nbconvert.exporters import HTMLExporter, TemplateExporter
from nbconvert.filters import Highlight2HTML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbconvert.filters.widgetsdatatypefilter import WidgetsDataTypeFilter
from nbconvert.writers import FilesWriter
from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import GetGrades
from traitlets.config import Config

from autograder.checks.cells import question_of
from autograder.course.course import Course
from autograder.course.gradebook import one_gradebook
from autograder.running.crew import end_with_parent

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
TAGS = {
    *HEADINGS,
    *("a", "abbr", "b", "blockquote", "br", "caption", "center", "code", "col", "colgroup", "dd"),
    *("del", "details", "div", "dl", "dt", "em", "figcaption", "figure", "hr", "i", "img", "ins"),
    *("kbd", "li", "mark", "ol", "p", "pre", "q", "s", "small", "span", "strong", "sub"),
    *("summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "u", "ul", "var"),
}
PLAIN = ("align", "alt", "class", "colspan", "height", "open", "rowspan", "title", "width")
PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,|https?://", re.IGNORECASE)
WAITING = "{:g} points wait for a human"
BY_HAND = "(given by hand; the card below shows what the machine found)"
HEAD = '<head>\n<meta name="viewport" content="width=device-width, initial-scale=1">'
LINK = re.compile(r"https?://|mailto:|#", re.IGNORECASE)


def _allowed(tag: str, name: str, value: str) -> bool:
    if name == "src":
        return tag == "img" and bool(PICTURE.match(value))
    if name == "href":
        return tag == "a" and bool(LINK.match(value))
    return name in PLAIN or (name == "id" and tag in HEADINGS)


@cache
def _cleaner() -> bleach.Cleaner:
    protocols = {"http", "https", "mailto", "data"}
    return bleach.Cleaner(TAGS, {"*": _allowed}, protocols)  # other tags are shown as text


def _rendered(source: str, attachments: dict) -> str:
    renderer = IPythonRenderer(escape=False, attachments=attachments)
    return _cleaner().clean(MarkdownWithMath(renderer=renderer).render(source))


@lru_cache(maxsize=1000)
def _rendered_once(source: str) -> str:
    """Render a cell that a whole class has in common once."""
    return _rendered(source, {})


@pass_context
def harmless_markdown(context, source: str) -> str:
    """Render Markdown as nbconvert does, then keep what only shows."""
    attachments = context.get("cell", {}).get("attachments", {})
    return _rendered(source, attachments) if attachments else _rendered_once(source)


class Grades(GetGrades):
    """nbgrader's step that reads the scores; it also remembers what each is called and if it waits.

    A grade that nobody has given yet reads as zero, and zero is a score.
    """

    def preprocess(self, nb, resources: dict):
        resources["nbgrader"]["graded"] = self.found = []
        resources["nbgrader"]["by_hand"] = self.by_hand = []
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

    def __init__(self, **settings):
        super().__init__(**settings)
        self.exclude_raw = True  # a raw cell would be copied into the page as it stands
        self.coloured = lru_cache(maxsize=1000)(self._coloured)

    def default_filters(self):
        yield from super().default_filters()
        yield "markdown2html", harmless_markdown

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
        described = '<img alt="No description has been provided for this image" src="data:'
        return html.replace('<img src="data:', described), resources

    def _coloured(self, code: str, lexer: str | None) -> str:
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

    def write(self, students: list[str]) -> None:
        """Write the pages of some; one that fails is in the log and does not stop the others."""
        folders = [self.course.path("autograded", s, self.lesson) for s in students]
        self.assignments = {str(f): [str(f / f"{self.lesson}.ipynb")] for f in folders}
        with one_gradebook(self.course):
            self.convert_notebooks()


def write_pages(course: Course, lesson: str, students: list[str], n_jobs: int) -> None:
    """Write everybody's page, in as many processes as asked for."""
    parts = [part for start in range(n_jobs) if (part := students[start::n_jobs])]
    if len(parts) <= 1:
        _write_part(course, lesson, students)
        return
    context = multiprocessing.get_context("fork")  # all is imported here, and no thread runs
    with ProcessPoolExecutor(len(parts), context, end_with_parent) as pool:
        for done in [pool.submit(_write_part, course, lesson, part) for part in parts]:
            done.result()


def _write_part(course: Course, lesson: str, students: list[str]) -> None:
    from nbgrader.converters.base import NbGraderException

    try:
        Pages(course, lesson).write(students)
    except NbGraderException:
        course.log.exception("feedback for %s", lesson)
