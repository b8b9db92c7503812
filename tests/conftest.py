"""What every test may count on: one thread, a Ctrl-C that is heard, and a browser."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from browser import Browser, Page

# Before torch is imported; what a test starts inherits it. On a busy machine more threads than one
# wait for each other, and a sum in another order has other last digits.
os.environ["OMP_NUM_THREADS"] = "1"

# A shell starts `make test &` with SIGINT ignored, and what ignores it hands that on to every
# process it starts; a handler of Python's own becomes the default again in a new process.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser for all tests of a process that need one."""
    from browser import Browser

    with Browser() as started:
        yield started


@pytest.fixture(scope="module")
def browser(chromium) -> Iterator[Page]:
    """A page of the browser, as new for every file of tests."""
    page = chromium.page()
    yield page
    page.close()
