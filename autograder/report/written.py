"""A learner's Markdown as it may stand in a page: text, tables, code, pasted pictures, formulas.

No script, frame or handler; no class of the page's own, with which a link could cover it; nothing
that is loaded from elsewhere. Formulas and coloured code are made here and set in after cleaning.
"""

import re
import secrets
from collections.abc import Callable
from functools import cache, lru_cache
from html import escape

import bleach
from jinja2 import pass_context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from autograder.report.formulas import as_mathml

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
TAGS = {
    *HEADINGS,
    *("a", "abbr", "b", "blockquote", "br", "caption", "center", "code", "col", "colgroup", "dd"),
    *("del", "details", "div", "dl", "dt", "em", "figcaption", "figure", "hr", "i", "img", "ins"),
    *("kbd", "li", "mark", "ol", "p", "pre", "q", "s", "small", "span", "strong", "sub"),
    *("summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "u", "ul", "var"),
}
PLAIN = ("align", "alt", "colspan", "height", "open", "rowspan", "title", "width")
PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,", re.IGNORECASE)
LINK = re.compile(r"https?://|mailto:|#", re.IGNORECASE)
TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)")
ALONE = {"br", "hr", "img", "col", "input", "link", "meta", "wbr"}  # tags that nothing closes
MAX_TEXT = 50_000  # characters of a cell that are drawn; a longer one is shown as it was written
OPENS = ("\\begin{", "\\\\[", "\\\\(")  # each is searched for its end up to the end of the text
MAX_OPEN = 200
MAX_DEPTH = 200  # tags inside tags: the cleaner goes through all open ones at each
LONG = "This text is too long or too deeply nested to be drawn; here it is as it was written."
BROKEN = "This text could not be drawn; here it is as it was written."


def _allowed(tag: str, name: str, value: str) -> bool:
    if name == "src":
        return tag == "img" and bool(PICTURE.match(value))
    if name == "href":
        return tag == "a" and bool(LINK.match(value))
    return name in PLAIN


@cache
def _cleaner() -> bleach.Cleaner:
    protocols = {"http", "https", "mailto", "data"}
    attributes: dict[str, Callable[[str, str, str], bool]] = {"*": _allowed}
    return bleach.Cleaner(TAGS, attributes, protocols)  # other tags are shown as text


class Renderer(IPythonRenderer):
    """nbconvert's, which sets our own markup aside until the learner's has been cleaned.

    What stands for it bears a name that nobody can guess. The cleaner writes no `<` into an
    attribute, so that it is found again only where it is an element.
    """

    def __init__(self, attachments: dict):
        super().__init__(escape=False, attachments=attachments, exclude_anchor_links=True)
        self.secret = secrets.token_hex(16)
        self.kept: list[str] = []

    def _keep(self, html: str) -> str:
        self.kept.append(html)
        return f'<var title="{self.secret}-{len(self.kept) - 1}"></var>'

    def put_back(self, html: str) -> str:
        mark = re.compile(rf'<var title="{self.secret}-(\d+)"></var>')
        return mark.sub(lambda found: self.kept[int(found[1])], html)

    def inline_math(self, body: str) -> str:
        return self._keep(as_mathml(body, display=False))

    def block_math(self, body: str) -> str:
        return self._keep(as_mathml(body, display=True))

    def latex_environment(self, name: str, body: str) -> str:
        return self._keep(as_mathml(f"\\begin{{{name}}}{body}\\end{{{name}}}", display=True))

    def block_code(self, code: str, info: str | None = None) -> str:
        return self._keep(super().block_code(code, info)) if info else super().block_code(code)

    def block_mermaidjs(self, code: str) -> str:
        return f"<pre><code>{escape(code)}</code></pre>"

    def image(self, text: str, url: str, title: str | None = None) -> str:
        name = url.removeprefix("attachment:")
        if name != url and not self.attachments.get(name):
            return _note(f"The picture {name} is missing: it was not pasted into this cell.")
        if name == url and not PICTURE.match(url):
            return _note(f"A picture from elsewhere is not shown: {url}")
        return super().image(text, url, title)


def _note(text: str) -> str:
    return f"<em>[{escape(text)}]</em>"


def rendered(source: str, attachments: dict) -> str:
    """Return a cell's text as markup; where that cannot be made, its own text and a note."""
    if len(source) > MAX_TEXT or any(source.count(sign) > MAX_OPEN for sign in OPENS):
        return as_written(source, LONG)
    try:
        renderer = Renderer(attachments)
        html = MarkdownWithMath(renderer=renderer).render(source)
        if _depth(html) > MAX_DEPTH:
            return as_written(source, LONG)
        return renderer.put_back(_cleaner().clean(html))
    except Exception:  # a reader of Markdown meets all that people and programs write
        return as_written(source, BROKEN)


def as_written(source: str, note: str = "") -> str:
    return (_note(note) if note else "") + f"<pre>{escape(source)}</pre>"


def _depth(html: str) -> int:
    """Return how many tags are open at once, at most."""
    deep = most = 0
    for closing, name in TAG.findall(html):
        if name.lower() not in ALONE:
            deep = max(0, deep - 1) if closing else deep + 1
            most = max(most, deep)
    return most


@lru_cache(maxsize=1000)
def _rendered_once(source: str) -> str:
    """Render a cell that a whole class has in common once."""
    return rendered(source, {})


@pass_context
def harmless_markdown(context, source: str) -> str:
    """Render Markdown as nbconvert does, then keep what only shows."""
    attachments = context.get("cell", {}).get("attachments", {})
    return rendered(source, attachments) if attachments else _rendered_once(source)
