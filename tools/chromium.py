"""Drive a headless Chromium: open a page, see what it loads and says, ask it things, photograph it.

Every wait is bounded. Use it as `with Chromium() as browser: page = browser.open(path)`.
"""

import base64
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import websocket

WIDGETS_DRAWN = """
    document.querySelectorAll('script[type="application/vnd.jupyter.widget-view+json"]').length
        <= document.querySelectorAll(".widget-subarea > .lm-Widget").length
"""


class ChromiumError(RuntimeError):
    """Say what the browser did not do."""


def find_chromium() -> str | None:
    """Return the path of an installed Chromium or Chrome, or None."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next((path for path in map(shutil.which, names) if path), None)


class Chromium:
    """Hold one headless browser with one tab; what the tab loads and says is collected."""

    def __init__(self, timeout: float = 30.0):
        self.timeout = timeout
        self.profile = tempfile.mkdtemp(prefix="chromium-")
        executable = find_chromium()
        if executable is None:
            raise ChromiumError("chromium was not found: install Chromium and try again.")
        # no-sandbox: containers run as root, and only our own pages are opened
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        flags += ["--no-first-run", "--disable-background-networking", "--hide-scrollbars"]
        flags += ["--remote-debugging-port=0", f"--user-data-dir={self.profile}", "about:blank"]
        self.process = subprocess.Popen(
            [executable, *flags],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # so that close() ends its children too
        )
        self.socket = None
        try:
            self._connect()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _connect(self) -> None:
        port_file = Path(self.profile) / "DevToolsActivePort"
        end = time.monotonic() + self.timeout
        while not (port_file.exists() and len(port_file.read_text().splitlines()) == 2):
            if time.monotonic() > end or self.process.poll() is not None:
                raise ChromiumError(f"chromium did not start within {self.timeout:.0f} s.")
            time.sleep(0.05)
        port, path = port_file.read_text().splitlines()
        self.socket = websocket.create_connection(
            f"ws://127.0.0.1:{port}{path}", timeout=self.timeout, suppress_origin=True
        )
        self.session = None
        self.calls = 0
        self._forget()
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.send(f"{domain}.enable")

    def _forget(self) -> None:
        self.requests: list[str] = []  # addresses the page asked for
        self.failures: list[str] = []  # loads that failed
        self.errors: list[str] = []  # exceptions and console errors
        self.waiting: set[str] = set()  # loads under way
        self.loaded = False

    def send(self, method: str, **params) -> dict:
        """Send one command and return its result; events that arrive meanwhile are collected."""
        self.calls += 1
        call = self.calls
        message = {"id": call, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        end = time.monotonic() + self.timeout
        while (left := end - time.monotonic()) > 0:
            answer = self._receive(left)
            if answer and answer.get("id") == call:
                if "error" in answer:
                    raise ChromiumError(f"{method}: {answer['error']['message']}")
                return answer["result"]
        raise ChromiumError(f"{method}: no answer within {self.timeout:.0f} s.")

    def _receive(self, seconds: float) -> dict | None:
        self.socket.settimeout(max(seconds, 0.01))
        try:
            message = json.loads(self.socket.recv())
        except websocket.WebSocketTimeoutException:
            return None
        if "method" in message:
            self._collect(message["method"], message["params"])
        return message

    def _collect(self, method: str, params: dict) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
            self.waiting.add(params["requestId"])
        elif method == "Network.loadingFinished":
            self.waiting.discard(params["requestId"])
        elif method == "Network.loadingFailed":
            self.waiting.discard(params["requestId"])
            self.failures.append(f"{params.get('type')}: {params.get('errorText')}")
        elif method == "Network.responseReceived" and params["response"]["status"] >= 400:
            self.failures.append(f"{params['response']['status']}: {params['response']['url']}")
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            texts = (str(arg.get("value", arg.get("description"))) for arg in params["args"])
            self.errors.append(" ".join(texts))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(f"{params['entry']['text']} ({params['entry'].get('url')})")
        elif method == "Page.loadEventFired":
            self.loaded = True

    def open(self, page: Path | str, quiet: float = 0.3) -> None:
        """Open a file or address and wait until it is loaded and asks for nothing more."""
        address = page.resolve().as_uri() if isinstance(page, Path) else page
        self._forget()
        result = self.send("Page.navigate", url=address)
        if "errorText" in result:
            raise ChromiumError(f"{address}: {result['errorText']}")
        self.settle(quiet)

    def settle(self, quiet: float = 0.3) -> None:
        """Wait until the page is loaded, maths and widgets are drawn, and nothing more happens."""
        self._wait_for_silence(quiet)
        self.evaluate("window.MathJax?.startup?.promise?.then(() => true) ?? true")
        if not self.evaluate(WIDGETS_DRAWN):  # they are drawn some time after the page has loaded
            self.until(WIDGETS_DRAWN)
            self._wait_for_silence(quiet)

    def _wait_for_silence(self, quiet: float) -> None:
        end = time.monotonic() + self.timeout
        while time.monotonic() < end:
            heard = self._receive(quiet)
            if heard is None and self.loaded and not self.waiting:
                return
        raise ChromiumError(f"the page was not at rest within {self.timeout:.0f} s.")

    def until(self, expression: str, seconds: float = 10.0) -> bool:
        """Wait until a JavaScript expression is true; say whether it became so in time."""
        end = time.monotonic() + seconds
        while not (reached := bool(self.evaluate(expression))) and time.monotonic() < end:
            time.sleep(0.1)
        return reached

    def evaluate(self, expression: str):
        """Return the value of a JavaScript expression (a promise is waited for)."""
        answer = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise ChromiumError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def view(self, width: int, height: int = 800, dark: bool = False, print_: bool = False) -> None:
        """Set the size of the window, the colour scheme and the medium."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", media="print" if print_ else "", features=[scheme])

    def screenshot(self, target: Path, full: bool = False) -> None:
        """Write what the window shows, or the full height of the page, as a PNG."""
        picture = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=full)
        if full:
            size = self.send("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
            picture = self.send(
                "Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip
            )
        target.write_bytes(base64.b64decode(picture["data"]))

    def close(self) -> None:
        """End the browser this object started, and its children."""
        if self.socket:
            self.socket.close()
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            try:
                self.process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait(timeout=5)
        shutil.rmtree(self.profile, ignore_errors=True)
