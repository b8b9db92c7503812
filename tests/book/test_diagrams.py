"""The diagrams, measured in a real browser: legible, tidy, described, and true to the reference."""

import re
import tomllib
from pathlib import Path

import pytest
import torch
from browser import Page

from autograder.repository import ROOT, order
from solutions.byte_pairs import encode, train_bpe
from solutions.diagrams import attention as attention_file
from solutions.diagrams import course_map as map_file
from solutions.diagrams import merge_tree as tree_file
from solutions.diagrams.attention import attention
from solutions.diagrams.cache import cache
from solutions.diagrams.cells import cells
from solutions.diagrams.clocks import clocks, turn
from solutions.diagrams.diagram import Diagram
from solutions.diagrams.drawing import NARROW, WIDE, Drawing, marked
from solutions.diagrams.families import families
from solutions.diagrams.heads import heads
from solutions.diagrams.look_back import look_back
from solutions.diagrams.merge_tree import joints, merge_tree
from solutions.diagrams.patches import patches
from solutions.diagrams.stream import stream
from solutions.diagrams.transformer import transformer
from solutions.diagrams.two_norms import two_norms
from solutions.diagrams.windows import window_of, windows
from solutions.multi_scale import window_partition
from solutions.queries_keys_values import project_qkv, scaled_dot_product_attention
from solutions.vocabulary import vocabulary
from solutions.words import byte_ids, count_words

FAULTS = (Path(__file__).parent / "diagram_faults.js").read_text(encoding="utf-8")
BUILT = sorted((ROOT / "_build" / "html").glob("*.html"))
ALL = [attention, cache, cells, clocks, families, heads, look_back, merge_tree, patches]
ALL += [stream, transformer, turn, two_norms, windows]
THEMES = {  # the colours of book/assets/course.css, and JupyterLab's own names for them
    "light": "--pst-color-text-base: #23272e; --pst-color-background: #fffefb",
    "dark": "--pst-color-text-base: #d9dce0; --pst-color-background: #16191d",
    "jupyterlab": "--jp-content-font-color1: rgba(0, 0, 0, 0.87); --jp-layout-color0: white",
    "jupyterlab_dark": "--jp-content-font-color1: white; --jp-layout-color0: #111",
}
FONTS = ROOT / "_build" / "html" / "_static" / "vendor" / "fonts"
if FONTS.is_dir():  # the font of the built book, besides whatever this machine has
    THEMES["book"] = THEMES["light"] + '; --pst-font-family-base: "Course Sans"'
FACES = "".join(
    f'@font-face {{ font-family: "Course Sans"; src: url("{(FONTS / file).as_uri()}"); '
    f"font-weight: 200 900; font-style: {style} }}"
    for style, file in (("normal", "sans.woff2"), ("italic", "sans-italic.woff2"))
)


def show(browser: Page, folder: Path, body: str, width: int, theme: str = "light") -> None:
    """Open a page of a lesson's column with nothing but the given HTML and the theme's colours."""
    page = folder / "page.html"
    ground = "var(--pst-color-background, var(--jp-layout-color0))"
    style = f"html {{ {THEMES[theme]} }} body {{ background: {ground}; margin: 0 16px }}"
    page.write_text(
        "<!doctype html><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<style>{FACES} {style} main {{ max-width: 700px }}</style><main>{body}</main>",
        encoding="utf-8",
    )
    browser.view(width)
    browser.open(page)


def lessons() -> dict[str, map_file.Lesson]:
    """Return what the map says of each lesson, read from the pages themselves."""
    found = {}
    for n, name in enumerate(order(), 1):
        text = (ROOT / "book" / f"{name}.md").read_text(encoding="utf-8")
        title = re.search(r"^# ([^:\n]*)", text, re.M)[1]
        found[name] = map_file.Lesson(n, title, f"{name}.html")
    return found


def map_html(here: str = "") -> str:
    from course_map import whole

    return whole(lessons(), here)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", [360, 1280])
def test_labels_are_legible_and_lie_on_nothing_at(width, theme, browser, tmp_path):
    body = "".join(make()._repr_html_() for make in ALL) + map_html() + map_html("gpt")
    show(browser, tmp_path, body, width, theme)
    browser.evaluate("document.fonts.ready.then(() => true)")
    shown = "[...document.querySelectorAll('svg')].filter((svg) => svg.clientWidth).length"
    assert browser.evaluate(shown) == len(ALL) + 2
    assert browser.evaluate(FAULTS) == []
    assert browser.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(
    ("flaw", "words"),
    [
        (lambda d: d.text(40, 20, "x" * 40), "leaves the picture"),
        (lambda d: d.box(10, 40, 30, 20, "a long label"), "leaves its box"),
        (lambda d: (d.text(100, 20, "one"), d.text(104, 22, "two")), 'lies on "two"'),
        (lambda d: (d.text(100, 20, "label"), d.wire((80, 20), (120, 20))), "a wire runs through"),
        (lambda d: (d.box(80, 10, 40, 40), d.wire((60, 30), (140, 30))), "runs through a box"),
        (lambda d: (d.box(80, 10, 40, 40), d.text(120, 20, "edge")), "lies on a box"),
        (lambda d: (d.box(80, 10, 40, 40), d.box(100, 20, 40, 40)), "two boxes lie on each other"),
    ],
)
def test_a_flaw_in_a_drawing_is_found(flaw, words, browser, tmp_path):
    drawing = Drawing(NARROW, 80)
    flaw(drawing)
    show(browser, tmp_path, Diagram("A flaw", "", drawing, drawing)._repr_html_(), 360)
    found = browser.evaluate(FAULTS)
    assert found and all(words in fault or "leaves" in fault for fault in found), found
    assert any(words in fault for fault in found)


def test_text_that_shrinks_below_9_pixels_is_found(browser, tmp_path):
    drawing = Drawing(WIDE, 40)
    drawing.text(100, 20, "small", "small")
    show(browser, tmp_path, Diagram("Wide", "", drawing, drawing)._repr_html_(), 360)
    assert "px high" in browser.evaluate(FAULTS)[0]


@pytest.mark.parametrize("make", ALL, ids=lambda make: make.__name__)
def test_a_diagram_is_described_in_words_and_holds_no_ids_that_could_clash(make):
    diagram = make()
    page = diagram._repr_html_()
    assert len(diagram.description.split()) > 25
    assert "*" not in diagram.description and "{" not in diagram.description
    assert page.count('role="img"') == page.count("<desc>") == page.count("<svg") == 2
    assert ' id="' not in page
    assert re.search(r"<(image|script|foreignObject)", page) is None
    assert repr(diagram).startswith("Diagram(")


@pytest.mark.parametrize("make", ALL, ids=lambda make: make.__name__)
def test_a_diagram_is_drawn_the_same_every_time(make):
    assert make()._repr_html_() == make()._repr_html_()


def test_the_wide_and_the_narrow_drawing_say_the_same():
    for make in ALL:
        diagram = make()
        if make is clocks:  # a phone shows fewer positions
            continue
        wide, narrow = (
            sorted(re.findall(r"\w+", " ".join(texts(d.svg("", ""))).lower()))
            for d in (diagram.wide, diagram.narrow)
        )
        assert set(wide) == set(narrow), make.__name__


def texts(svg: str) -> list[str]:
    return [re.sub("<[^>]+>", "", t) for t in re.findall(r"<text[^>]*>(.*?)</text>", svg)]


def test_italic_low_and_high_letters_are_marked_and_the_rest_is_escaped():
    assert marked("*x*_{t} < y") == (
        '<tspan class="i">x</tspan><tspan class="s" dy="3">t</tspan>'
        '<tspan dy="-3">\u200b</tspan> &lt; y'
    )
    assert marked("W^{Q}") == 'W<tspan class="s" dy="-4">Q</tspan>'


def test_the_attention_diagram_shows_the_numbers_of_the_reference():
    drawn = [t for t in texts(attention().wide.svg("", "")) if re.fullmatch(r"\d|\.\d\d", t)]
    x, *matrices = (torch.tensor(getattr(attention_file, n)) for n in ("X", "W_Q", "W_K", "W_V"))
    q, k, v = project_qkv(x, *matrices)
    scores = q @ k.T / q.size(-1) ** 0.5
    out = scaled_dot_product_attention(q, k, v)
    whole = [f"{n:.0f}" for t in (x, q, k, v, scores) for n in t.flatten().tolist() if n]
    parts = [f"{n:.2f}"[1:] for t in (scores.softmax(-1), out) for n in t.flatten().tolist()]
    assert sorted(drawn) == sorted(whole + parts)


@pytest.mark.parametrize("word", ["slowest", "newer", "lowlow", "west", "x"])
def test_the_merge_tree_ends_in_the_tokens_of_the_reference(word):
    merges = train_bpe(count_words(tree_file.TEXT), tree_file.N_MERGES)
    spelled = vocabulary(merges)
    want = [spelled[token].decode() for token in encode(byte_ids(word), merges)]
    green = re.findall(r'class="box green">.*?<text[^>]*>(\w+)<', merge_tree(word).wide.svg("", ""))
    single = [piece for piece in want if len(piece) == 1]
    assert sorted(green) == sorted(want) and len(joints(word, merges)) == len(word) - len(want)
    assert len(single) == sum(len(piece) == 1 for piece in green)


@pytest.mark.parametrize("shift", [0, 2])
def test_the_colours_of_the_windows_are_those_in_which_the_reference_looks(shift):
    grid = torch.arange(64).view(8, 8, 1).roll((-shift, -shift), dims=(0, 1))
    colours = [colour for row in window_of(shift) for colour in row]
    for window in window_partition(grid, 4).flatten(1).tolist():
        assert len({colours[token] for token in window}) == 1
    assert len(set(colours)) == 4


def test_the_map_has_a_place_for_every_lesson_and_for_nothing_else():
    assert sorted([*map_file.WAY, *map_file.PARTS, *map_file.MODELS]) == sorted(order())


def test_every_part_of_the_map_links_to_its_lesson_under_the_title_of_the_page():
    for here in ("", "vit"):
        page = map_html(here)
        links = re.findall(r'<a href="(\w+)[.]html"(?: aria-current="page")?>(.*?)</a>', page)
        assert len(links) == 2 * len(order())  # the wide drawing and the narrow one
        for name, inside in links:
            lesson = lessons()[name]
            assert texts(inside) == [f"{lesson.number}\u2002{lesson.title}"]
        assert page.count('aria-current="page"') == (2 if here else 0)


def test_every_style_sheet_of_a_diagram_is_part_of_the_installed_package():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = settings["tool"]["setuptools"]["package-data"]["solutions"]
    packed = {path for pattern in patterns for path in (ROOT / "solutions").glob(pattern)}
    assert set((ROOT / "solutions" / "diagrams").glob("*.css")) <= packed


@pytest.mark.skipif(not BUILT, reason="the book is not built: run python book/machinery/build.py")
@pytest.mark.parametrize("page", BUILT, ids=lambda path: path.stem)
def test_the_diagrams_of_a_built_page_are_tidy(page, browser):
    maps = "document.querySelectorAll('.course-here').length"
    for width in (360, 1280):
        browser.view(width)
        browser.open(page)
        browser.evaluate(
            "document.querySelectorAll('.course-here').forEach((d) => (d.open = true))"
        )
        assert browser.evaluate(FAULTS) == []
    assert browser.evaluate(maps) == (page.stem in order())


@pytest.mark.skipif(not BUILT, reason="the book is not built: run python book/machinery/build.py")
@pytest.mark.parametrize("name", order())
def test_the_line_you_are_here_leaves_the_page_to_its_text(name, browser):
    for width in (360, 1280):
        browser.view(width)
        browser.open(ROOT / "_build" / "html" / f"{name}.html")
        height = "document.querySelector('.course-here').getBoundingClientRect().height"
        assert browser.evaluate(height) < 90
