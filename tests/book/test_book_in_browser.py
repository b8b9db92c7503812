"""Every page of the built book, opened from disk: it needs no network and shows everything."""

import pytest
from browser import WIDGETS_DRAWN

from autograder.repository import ROOT

PAGES = sorted((ROOT / "_build" / "html").glob("*.html"))

if not PAGES:
    reason = "the book is not built: run `python book/machinery/build.py` first"
    pytest.skip(reason, allow_module_level=True)


@pytest.fixture(scope="module", params=PAGES, ids=lambda path: path.stem)
def page(request, browser):
    """Open one page on a desktop window and return the browser that shows it."""
    browser.view(1280)
    browser.open(request.param)
    return browser


def test_a_page_asks_the_network_for_nothing(page):
    local = ("file:", "data:", "blob:", "about:")
    assert [address for address in page.requests if not address.startswith(local)] == []


def test_a_page_finds_every_file_it_loads(page):
    assert page.failures == []


def test_a_page_reports_no_error(page):
    assert page.errors == []


def test_every_figure_is_drawn(page):
    empty = page.evaluate("""
        [...document.querySelectorAll(".course-figure[data-figure]")].filter(
            (figure) => !("drawn" in figure.dataset)
                || figure.querySelector(".live").getBoundingClientRect().height < 20
        ).map((figure) => figure.ariaLabel)
    """)
    assert empty == []


def test_every_widget_is_drawn(page):
    assert page.evaluate(WIDGETS_DRAWN)


def test_every_formula_is_set(page):
    unset, wrong = page.evaluate("""[
        [...document.querySelectorAll("article .math")].filter(
            (formula) => !formula.querySelector("mjx-container")
        ).map((formula) => formula.textContent),
        [...document.querySelectorAll("mjx-merror")].map((error) => error.title),
    ]""")
    assert (unset, wrong) == ([], [])


def test_every_control_of_a_figure_has_a_name(page):
    unnamed = page.evaluate("""
        [...document.querySelectorAll(
            '.course-figure :is(button, input, select), [role="slider"]'
        )].filter(
            (control) => !(control.ariaLabel || control.labels?.length || control.textContent)
        ).map((control) => control.outerHTML)
    """)
    assert unnamed == []


def test_every_picture_is_described_in_words(page):
    silent = page.evaluate("""
        [...document.querySelectorAll("article img")].map((image) => image.alt).filter(
            (words) => !/\\w \\w/.test(words) || /^_images|[.](png|svg)$/.test(words)
        )
    """)
    assert silent == []


def test_a_phone_shows_the_page_without_scrolling_sideways(page):
    page.view(375)
    try:
        page.settle()
        wide = page.evaluate("""
            [document.documentElement.scrollWidth, document.body.scrollWidth]
        """)
    finally:
        page.view(1280)
    assert max(wide) <= 375
