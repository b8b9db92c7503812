"""The browser that tests and pictures use: it tells what a page asks for, misses and reports."""

import asyncio
import struct

import pytest
from browser import BrowserError

PAGE = """<!doctype html><meta charset=utf-8>
<img src="missing.png"><script src="http://127.0.0.1:9/away.js"></script>
<script>
  console.error("said", 1);
  console.log("not an error");
  setTimeout(() => fetch("later.json").catch(() => {}), 100);
  throw new Error("thrown");
</script>"""


@pytest.fixture
def shown(browser, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(PAGE)
    browser.view(800)
    browser.open(page)
    return browser


def ending(addresses: list[str], name: str) -> list[str]:
    return [address for address in addresses if address.endswith(name)]


def test_what_a_page_asks_for_and_misses_is_collected(shown):
    assert len(ending(shown.requests, "page.html")) == 1
    for name in ("missing.png", "away.js"):
        assert len(ending(shown.requests, name)) == len(ending(shown.failures, name)) == 1


def test_what_a_page_reports_is_collected_and_nothing_else(shown):
    text = "\n".join(shown.errors)
    assert "said 1" in text and "thrown" in text and "missing.png" in text
    assert "not an error" not in text


def test_a_page_that_asks_some_time_after_loading_is_waited_for(shown):
    assert "later.json" in "\n".join(shown.errors)


def test_the_next_page_starts_with_nothing_collected(shown, tmp_path):
    (tmp_path / "empty.html").write_text("<!doctype html>")
    shown.open(tmp_path / "empty.html")
    assert (len(shown.requests), shown.failures, shown.errors) == (1, [], [])


def test_a_wrong_expression_and_a_page_that_is_not_there_raise(browser, tmp_path):
    (tmp_path / "empty.html").write_text("<!doctype html>")
    browser.open(tmp_path / "empty.html")
    with pytest.raises(BrowserError, match="nonsense is not defined"):
        browser.evaluate("nonsense")
    page = browser.browser.page()  # its own: Chromium goes on to show a page that says so
    with pytest.raises(BrowserError, match="ERR_FILE_NOT_FOUND"):
        page.open(tmp_path / "nowhere.html")
    page.close()


def test_width_colour_scheme_and_paper_are_as_asked(shown):
    look = """[innerWidth, matchMedia("(prefers-color-scheme: dark)").matches,
               matchMedia("print").matches]"""
    shown.view(375, dark=True)
    assert shown.evaluate(look) == [375, True, False]
    shown.view(800, print_=True)
    assert shown.evaluate(look) == [800, False, True]


def test_a_picture_has_the_size_of_the_window_or_of_the_whole_page(shown, tmp_path):
    shown.evaluate("document.body.style.height = '2000px'")
    for full, height in ((False, 800), (True, 2000)):
        shown.screenshot(tmp_path / "picture.png", full)
        size = struct.unpack(">II", (tmp_path / "picture.png").read_bytes()[16:24])
        assert size[0] == 800 and height <= size[1] <= height + 20


def test_a_test_can_run_an_event_loop_of_its_own_beside_the_browser(shown):
    assert asyncio.run(asyncio.sleep(0, "ran")) == "ran"
    assert shown.evaluate("1 + 1") == 2
