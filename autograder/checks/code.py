"""The code under test: a namespace in this process, or one behind the wall (wall/session.py).

Marking asks two things of it and does not care where it runs: observe it through a probe, and let
some names stand for the reference's objects for a while.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from autograder.seam.probe import Seen, observe_packed, unpacked
from autograder.seam.wire import packed


class Code(Protocol):
    """What marking needs to know of the code under test."""

    def observe(
        self, probe: Callable, inputs: tuple, likely: Seen | None = None, secret: bool = False
    ) -> Any:
        """Run a probe beside the code; return what it saw, `likely.value` itself if just that.

        Code that has seen secret inputs may say them wherever it is quoted in full afterwards.
        """

    def replaced(
        self, others: dict[str, Callable], answer: str
    ) -> contextlib.AbstractContextManager:
        """Put the reference's objects under these names for a while, `answer` reading them."""


class Here:
    """A namespace in this process, such as a notebook's globals."""

    def __init__(self, own: dict[str, Any]):
        self.own = own

    def observe(
        self, probe: Callable, inputs: tuple, likely: Seen | None = None, secret: bool = False
    ) -> Any:
        return unpacked(observe_packed(self.own, probe, packed(inputs)), likely)

    @contextlib.contextmanager
    def replaced(self, others: dict[str, Callable], answer: str = "") -> Iterator[None]:
        """Rebind: the learner's functions look these names up when they are called."""
        before = {n: self.own[n] for n in others if n in self.own}
        self.own.update(others)
        try:
            yield
        finally:
            for n in others:
                self.own.pop(n, None)
            self.own.update(before)


def code_of(own: "dict[str, Any] | Code") -> Code:
    return Here(own) if isinstance(own, dict) else own
