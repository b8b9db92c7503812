"""Plots in the book: one style, part of the page, legible on a phone, at home in the dark."""

import io
import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from pictures import STYLE, part_of_page

from autograder.repository import ROOT
from solutions.diagrams.diagram import STYLE as DIAGRAM_STYLE
from solutions.figures.figure import STYLE as FIGURE_STYLE

BUILT = sorted((ROOT / "_build" / "html").glob("*.html"))
SIZES = """(() => {
    const small = [];
    for (const svg of document.querySelectorAll("svg.picture")) {
        const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
        for (const text of svg.querySelectorAll("text")) {
            const size = parseFloat(getComputedStyle(text).fontSize) * scale;
            if (size < 9) small.push([text.textContent, size]);
        }
    }
    return small;
})()"""


def drawn(width: float = 4.0, image: bool = False, **options) -> str:
    """Draw a small plot with the course's style, as a page would, and return it as SVG."""
    with mpl.rc_context(fname=STYLE):
        figure, ax = plt.subplots(figsize=(width, 2))
        if image:
            ax.imshow([[0.0, 1.0], [1.0, 0.0]], cmap="Blues")
        ax.plot([0, 1], [0, 1], label="a line", **options)
        ax.text(0.5, 0.2, "tiny", fontsize=5, color="black")
        ax.set_title("a & b")
        file = io.StringIO()
        figure.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None})
        plt.close(figure)
    return file.getvalue()


def test_the_colours_of_plots_are_those_of_the_interactive_figures_and_the_diagrams():
    with mpl.rc_context(fname=STYLE):
        cycle = mpl.rcParams["axes.prop_cycle"].by_key()["color"]
    rgb = [", ".join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5)) for colour in cycle]
    assert f"--heat: {rgb[0]};" in FIGURE_STYLE and f"--alarm: {rgb[1]};" in FIGURE_STYLE
    for name, colour in zip(("blue", "orange", "green"), rgb, strict=False):
        assert f"--{name}: rgb({colour});" in DIAGRAM_STYLE
    assert f"--violet: rgb({rgb[4]});" in DIAGRAM_STYLE


def test_a_plot_has_no_ground_of_its_own_and_its_ink_is_the_pages():
    page = part_of_page(drawn(), "A line.")
    assert "#23272e" not in page and "#000000" not in page and "#ffffff" not in page
    assert page.count("var(--ink)") > 10
    assert 'class="picture"' in page and 'aria-label="A line."' in page


def test_a_grey_is_as_faint_in_the_dark_as_by_day():
    page = part_of_page(drawn(color="0.8"), "")
    assert "#cccccc" not in page and "color-mix(in srgb, var(--ink) 20%, var(--pst-" in page
    assert "color-mix" not in part_of_page(drawn(color="white"), "")


def test_a_plot_with_an_image_keeps_a_light_ground():
    assert 'class="picture light"' in part_of_page(drawn(image=True), "")


def test_the_letters_of_a_plot_are_text_in_the_pages_font_and_never_too_small():
    for width in (3, 9, 14):
        page = part_of_page(drawn(width), "")
        assert "a &amp; b</text>" in page and ">tiny</text>" in page
        assert "DejaVu" not in page
        unit = float(re.search(r"max-width: (\d+)px", page)[1])
        wide = float(re.search(r'viewBox="0 0 ([\d.]+)', page)[1])
        sizes = [float(size) for size in re.findall(r"font-size: ([\d.]+)px", page)]
        assert min(sizes) * min(unit, 680) / wide > 9


def test_two_plots_on_a_page_share_no_id_and_bring_no_style_sheet():
    one, two = part_of_page(drawn(), ""), part_of_page(drawn(linestyle="--"), "")
    ids = [set(re.findall(r'\bid="([^"]+)"', page)) for page in (one, two)]
    assert ids[0] and not ids[0] & ids[1]
    for page, own in zip((one, two), ids, strict=True):
        used = set(re.findall(r'(?:url\(|href=")#([^)"]+)', page))
        assert used and used <= own
        assert "<style" not in page and "<metadata" not in page


def test_a_plot_is_the_same_whenever_it_is_drawn():
    assert part_of_page(drawn(), "") == part_of_page(drawn(), "")


if BUILT:

    @pytest.mark.parametrize("page", BUILT, ids=lambda path: path.stem)
    def test_no_label_of_a_built_plot_is_smaller_than_9_pixels(page, browser):
        for width in (360, 1280):
            browser.view(width)
            browser.open(page)
            assert browser.evaluate(SIZES) == []
            assert browser.evaluate("document.documentElement.scrollWidth") <= width

    def test_no_plot_of_a_page_is_a_coarse_image():
        for page in BUILT:
            text = page.read_text(encoding="utf-8")
            assert re.findall(r'<img[^>]*src="_images/[^"]*[.]png"', text) == [], page.stem
