"""Plots as part of the page: drawn as SVG in one style, set in the page's font and colours.

The kernels that run the pages draw SVG with solutions/figures/course.mplstyle. A plot is then put
into the page itself rather than into a file beside it, so that its letters are the page's and its
ink follows the theme; a plot with an image in it, such as a heat-map, keeps its own light ground,
for its colours mean something. This file is a Sphinx extension (see _config.yml).
"""

import hashlib
import html
import os
import re
from pathlib import Path

from docutils import nodes

ROOT = Path(__file__).resolve().parents[2]
STYLE = ROOT / "solutions" / "figures" / "course.mplstyle"
INK = ("#23272e", "#000000")  # the style's, and that of pages that ask for black
GREY = re.compile(r"#(?!ff|00)([0-9a-f]{2})\1\1\b")  # but white and black
KERNEL = """
c.InlineBackend.figure_formats = {"svg"}
c.InlineBackend.print_figure_kwargs = {"bbox_inches": "tight", "metadata": {"Date": None}}
"""
COLUMN = 680  # pixels: a plot is never shown narrower; on a phone it scrolls (assets/course.css)
SMALLEST = 9.2  # pixels: no letter is set smaller


class Picture(nodes.General, nodes.Element):
    """Stand for a plot in a page; `html` is its SVG."""


def prepare_kernels(folder: Path) -> None:
    """Tell the kernels that will run the pages how to draw; they inherit what is set here."""
    profile = folder / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "ipython_kernel_config.py").write_text(f"c = get_config(){KERNEL}")
    os.environ["IPYTHONDIR"] = str(folder)
    os.environ["MATPLOTLIBRC"] = str(STYLE)


def part_of_page(svg: str, alt: str) -> str:
    """Turn an SVG file of matplotlib's into an element that can stand in a page."""
    width, height = (float(n) for n in re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups())
    body = svg[svg.index("<defs>") : svg.rindex("</svg>")]
    body = re.sub(r"<style type=\"text/css\">.*?</style>", "", body, flags=re.S)
    body = re.sub(r"<!--.*?-->", "", body, flags=re.S)
    mark = "p" + hashlib.sha256(svg.encode()).hexdigest()[:8] + "-"  # ids of two plots never meet
    body = re.sub(r'\bid="', f'id="{mark}', body)
    body = re.sub(r"url\(#", f"url(#{mark}", body)
    body = re.sub(r'href="#', f'href="#{mark}', body)
    least = SMALLEST / min(1.0, COLUMN / (width * 4 / 3)) * 3 / 4  # in the units of the drawing

    def enlarged(match: re.Match) -> str:
        return f"{match[1]}font-size: {max(float(match[2]), least):.3g}px"

    # Letters of a formula are placed one by one, so they keep their size.
    body = re.sub(r'(<text [^>]*?style="[^">]*?)font-size: ([\d.]+)px', enlarged, body)
    body = re.sub(r"font-family: [^;\"]+", "font-family: var(--letters)", body)
    kind = "picture light" if "<image" in body else "picture"
    for ink in INK:
        body = body.replace(ink, "var(--ink)")
    if kind == "picture":
        body = GREY.sub(between_ink_and_paper, body)
    return (
        f'<svg class="{kind}" role="img" aria-label="{html.escape(alt, quote=True)}" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 {width:g} {height:g}" '
        f'style="max-width: {width * 4 / 3:.0f}px" fill="var(--ink)" stroke-linejoin="round" '
        f'stroke-linecap="butt">{body}</svg>'
    )


def between_ink_and_paper(match: re.Match) -> str:
    """Write a grey as a mixture, so that it is faint in the dark too where it is faint by day."""
    share = 100 - 100 * int(match[1], 16) / 255
    return f"color-mix(in srgb, var(--ink) {share:.0f}%, var(--pst-color-background))"


def place_pictures(app, doctree: nodes.document, docname: str) -> None:
    """Put every plot that a cell drew into the page."""
    if app.builder.format != "html":
        return
    for image in list(doctree.findall(nodes.image)):
        file = Path(app.srcdir) / image["uri"]
        if file.suffix != ".svg" or not file.is_file():
            continue
        text = file.read_text(encoding="utf-8")
        if "matplotlib" in text:
            image.replace_self(Picture(html=part_of_page(text, image.get("alt", ""))))


def write_picture(writer, node: Picture) -> None:
    writer.body.append(node["html"])
    raise nodes.SkipNode


def setup(app) -> dict:
    """Hook the rule into Sphinx."""
    prepare_kernels(Path(app.outdir).parent / ".ipython")
    app.add_node(Picture, html=(write_picture, None))
    app.connect("doctree-resolved", place_pictures, priority=600)  # after alt_text has spoken
    return {"parallel_read_safe": True, "parallel_write_safe": True}
