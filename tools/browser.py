"""Drive the system's Chromium, unseen, with Playwright: open a page, ask it things, photograph it.

Every wait is bounded. Use it as

    with Browser() as browser:
        page = browser.page()
        page.open(path)
"""

import shutil
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from playwright.sync_api import Error, Request, Response, sync_playwright

WIDGETS_DRAWN = """
    document.querySelectorAll('script[type="application/vnd.jupyter.widget-view+json"]').length
        <= document.querySelectorAll(".widget-subarea > .lm-Widget").length
"""


class BrowserError(RuntimeError):
    """Say what the browser did not do."""


def find_chromium() -> str | None:
    """Return the path of an installed Chromium or Chrome, or None."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next((path for path in map(shutil.which, names) if path), None)


class Browser:
    """Hold one headless browser; every page of it is as new, with a profile of its own.

    Playwright keeps an event loop running in its thread, where nothing else could then run one
    (a notebook's client, for instance): so it has a thread to itself.
    """

    def __init__(self, timeout: float = 30.0):
        self.timeout = timeout
        executable = find_chromium()
        if executable is None:
            raise BrowserError("chromium was not found: install Chromium and try again.")
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="browser")
        try:
            self.do(self._start, executable)
        except BaseException:
            self.thread.shutdown()
            raise

    def _start(self, executable: str) -> None:
        self.playwright = sync_playwright().start()
        # Playwright's own flags turn off Chromium's sandbox (containers run as root, and only our
        # own pages are opened), networking in the background and scroll bars. Signals are ours.
        signals = dict.fromkeys(("handle_sigint", "handle_sigterm", "handle_sighup"), False)
        try:
            self.chromium = self.playwright.chromium.launch(
                executable_path=executable,
                args=["--disable-gpu", "--disable-component-update"],
                timeout=1000 * self.timeout,
                **signals,
            )
        except BaseException:
            self.playwright.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def do(self, function: Callable, *args: Any, **options: Any) -> Any:
        """Call a function in the browser's thread and return what it returns."""
        if threading.current_thread().name.startswith("browser"):
            return function(*args, **options)
        try:
            return self.thread.submit(function, *args, **options).result()
        except Error as error:
            raise BrowserError(error.message) from error

    def page(self, scripts: bool = True) -> "Page":
        """Return a new page; without scripts it is as in a browser that runs none."""
        return self.do(Page, self, scripts)

    def close(self) -> None:
        """End the browser and its children."""
        self.do(self.chromium.close)
        self.do(self.playwright.stop)
        self.thread.shutdown()


class Page:
    """Show one page; what it loads and says is collected."""

    def __init__(self, browser: Browser, scripts: bool):
        self.browser = browser
        self.context = browser.chromium.new_context(java_script_enabled=scripts)
        self.tab = self.context.new_page()
        self.tab.set_default_timeout(1000 * browser.timeout)
        self._forget()
        self.tab.on("request", self._asked)
        self.tab.on("requestfinished", self._finished)
        self.tab.on("requestfailed", self._failed)
        self.tab.on("response", self._answered)
        self.tab.on("pageerror", lambda error: self.errors.append(error.stack or error.message))
        self.tab.on("console", self._said)

    def _forget(self) -> None:
        self.requests: list[str] = []  # addresses the page asked for
        self.failures: list[str] = []  # loads that failed
        self.errors: list[str] = []  # exceptions and console errors
        self.waiting: set[Request] = set()  # loads under way
        self.heard = time.monotonic()  # when a load last began or ended

    def _asked(self, request: Request) -> None:
        self.requests.append(request.url)
        self.waiting.add(request)
        self.heard = time.monotonic()

    def _finished(self, request: Request) -> None:
        self.waiting.discard(request)
        self.heard = time.monotonic()

    def _failed(self, request: Request) -> None:
        self._finished(request)
        self.failures.append(f"{request.failure}: {request.url}")

    def _answered(self, response: Response) -> None:
        if response.status >= 400:
            self.failures.append(f"{response.status}: {response.url}")

    def _said(self, message) -> None:
        if message.type in ("error", "assert"):
            self.errors.append(f"{message.text} ({message.location['url']})")

    def open(self, page: Path | str, quiet: float = 0.3) -> None:
        """Open a file or address and wait until it is loaded and asks for nothing more."""
        address = page.resolve().as_uri() if isinstance(page, Path) else page
        self.browser.do(self._open, address)
        self.settle(quiet)

    def _open(self, address: str) -> None:
        self._forget()
        self.tab.goto(address, wait_until="load")

    def settle(self, quiet: float = 0.3) -> None:
        """Wait until the page is loaded, maths and widgets are drawn, and nothing more happens."""
        self.browser.do(self._wait_for_silence, quiet)
        self.evaluate("window.MathJax?.startup?.promise?.then(() => true) ?? true")
        if not self.evaluate(WIDGETS_DRAWN):  # they are drawn some time after the page has loaded
            self.until(WIDGETS_DRAWN)
            self.browser.do(self._wait_for_silence, quiet)

    def _wait_for_silence(self, quiet: float) -> None:
        start = time.monotonic()
        while time.monotonic() < start + self.browser.timeout:
            if not self.waiting and time.monotonic() - max(self.heard, start) >= quiet:
                return
            self.tab.wait_for_timeout(20)  # events are heard meanwhile
        raise BrowserError(f"the page was not at rest within {self.browser.timeout:.0f} s.")

    def until(self, expression: str, seconds: float = 10.0) -> bool:
        """Wait until a JavaScript expression is true; say whether it became so in time."""
        end = time.monotonic() + seconds
        while not (reached := bool(self.evaluate(expression))) and time.monotonic() < end:
            time.sleep(0.1)
        return reached

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression (a promise is waited for)."""
        return self.browser.do(self.tab.evaluate, expression)

    def view(self, width: int, height: int = 800, dark: bool = False, print_: bool = False) -> None:
        """Set the size of the window, the colour scheme and the medium."""
        self.browser.do(self.tab.set_viewport_size, {"width": width, "height": height})
        self.browser.do(
            self.tab.emulate_media,
            media="print" if print_ else "screen",
            color_scheme="dark" if dark else "light",
        )

    def screenshot(self, target: Path, full: bool = False) -> None:
        """Write what the window shows, or the full height of the page, as a PNG."""
        self.browser.do(self.tab.screenshot, path=target, full_page=full)

    def close(self) -> None:
        """Close the page and forget its profile."""
        self.browser.do(self.context.close)
