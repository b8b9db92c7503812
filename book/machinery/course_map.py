"""Put the map of the course on the index and, folded, below the title of every lesson.

The map is drawn by solutions/diagrams/course_map.py; titles and addresses are those of the pages.
This file is a Sphinx extension (see _config.yml): the map is no cell of a page, so that a changed
title does not make every page run again.
"""

import html
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from autograder.repository import order
from solutions.diagrams import course_map as drawn
from solutions.diagrams.diagram import STYLE

MAP_STYLE = (Path(drawn.__file__).parent / "map.css").read_text(encoding="utf-8")


class CourseMap(nodes.General, nodes.Element):
    """Stand for the map in a page; `here` names the lesson, empty on the index."""


class CourseMapDirective(SphinxDirective):
    """Show the whole map: {course_map}."""

    def run(self) -> list[nodes.Node]:
        return [CourseMap(here="")]


def lessons(app, docname: str) -> dict[str, drawn.Lesson]:
    """Return what the map says of every lesson, with addresses as seen from a page."""
    titles = {name: app.env.titles[name].astext() for name in order()}
    return {
        name: drawn.Lesson(n, title.split(":")[0], app.builder.get_relative_uri(docname, name))
        for n, (name, title) in enumerate(titles.items(), 1)
    }


def whole(found: dict[str, drawn.Lesson], here: str = "") -> str:
    """Write the map, wide and narrow; its parts are links, so it is no mere picture."""
    said = drawn.description(found)
    wide = drawn.wide_map(found, here).svg(drawn.NAME, said, "wide", "group")
    narrow = drawn.narrow_map(found, here).svg(drawn.NAME, said, "narrow", "group")
    return f'<div class="course-diagram"><style>{STYLE}</style>{wide}{narrow}</div>'


def folded(found: dict[str, drawn.Lesson], here: str) -> str:
    """Write the line that says where a lesson stands, with the map folded below it."""
    small = drawn.wide_map(found, here, labels=False).svg("", "", "thumbnail-map")
    small = small.replace('role="img" aria-label=""', 'aria-hidden="true"').replace(
        "<desc></desc>", ""
    )
    lesson = found[here]
    line = f"lesson {lesson.number} of {len(found)}, {drawn.group(here)}."
    return (
        f'<details class="course-here"><style>{MAP_STYLE}</style>'
        f'<summary><span class="course-diagram thumbnail">{small}</span>'
        f"<span><strong>You are here:</strong> {html.escape(line)}</span></summary>"
        f"{whole(found, here)}</details>"
    )


def place_maps(app, doctree: nodes.document, docname: str) -> None:
    """Give every lesson its line below the title, and every map its drawing."""
    if docname in order():
        title = next(doctree.findall(nodes.title))
        title.parent.insert(title.parent.index(title) + 1, CourseMap(here=docname))
    for node in doctree.findall(CourseMap):
        found = lessons(app, docname)
        node["html"] = folded(found, node["here"]) if node["here"] else whole(found)


def rewrite_all(app, env) -> list[str]:
    """Write every page that shows the map again when a lesson's title has changed."""
    titles = [(name, env.titles[name].astext()) for name in order()]
    changed = getattr(env, "course_map_titles", None) != titles
    env.course_map_titles = titles
    return [*order(), "index"] if changed else []


def write_map(writer, node: CourseMap) -> None:
    writer.body.append(node["html"])
    raise nodes.SkipNode


def leave_out(writer, node: CourseMap) -> None:
    raise nodes.SkipNode


def setup(app) -> dict:
    """Hook the map into Sphinx."""
    app.add_node(CourseMap, html=(write_map, None), latex=(leave_out, None), text=(leave_out, None))
    app.add_directive("course_map", CourseMapDirective)
    app.connect("doctree-resolved", place_maps)
    app.connect("env-updated", rewrite_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
