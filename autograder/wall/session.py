"""One submission behind the wall: run its cells, observe its answers, outlive its deaths."""

import contextlib
import inspect
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from autograder.seam.link import LinkError
from autograder.seam.probe import Seen, unpacked
from autograder.seam.wire import Died, packed, parsed
from autograder.wall.sources import sources_of
from autograder.wall.wall import Door, Sandbox

TIMED_OUT, CRASHED = "CellTimedOut", "CellCrashed"
MAX_OUTPUTS = 40_000_000  # bytes of a cell's outputs that are read at all


class Session:
    """The learner's process, renewed when it dies: cells that ran are run again, the killer not.

    It is a `Code` (checks/code.py): marking observes it as it would a notebook's globals. All
    cells run first; where a check stands, the moment is remembered, and marking returns to it.
    Code that has been shown secret inputs could say them in whatever it puts out or returns later,
    so it is asked nothing public any more: that is known from before, or asked of a fresh process.
    """

    def __init__(self, wall: Door, seconds: float, total: float):
        self.wall, self.seconds, self.total = wall, seconds, total
        self.end = time.monotonic() + total
        self.ran: list[tuple[str, str]] = []  # (cell id, code), in order
        self.moments: dict[str, int] = {}  # a check's name -> how many cells had run
        self.wanted: int | None = None  # the moment we are at; None: after all cells
        self.sandbox: Sandbox | None = None
        self.here = 0  # how many of the cells have run in this process
        self.known: set[str] = set()  # the moments that this process remembers
        self.tainted = False  # whether this process has been shown something secret
        self.public: dict[tuple, Any] = {}  # what was seen on public inputs, at which moment
        self.lost: dict[int | None, str] = {}  # the moments at which the code was given up
        self.gave_up = ""  # why this question's code is not asked any more
        self.death = ""  # how the process ended last: TIMED_OUT or CRASHED
        self.extra: list[str] = []  # code to run after the cells, while names are replaced

    def close(self) -> None:
        if self.sandbox is not None:
            self.sandbox.close()
            self.sandbox = None

    def remember(self, name: str) -> None:
        """Note that a check stands here; marking will return to this moment."""
        self.moments[name] = len(self.ran)
        if self.sandbox is not None:
            try:
                self._ask(do="remember", name=name)
                self.known.add(name)
            except LinkError:
                self.close()

    def begin_marking(self) -> None:
        """All cells have had their time; the checks get as much again."""
        self.end = time.monotonic() + self.total

    def return_to(self, name: str) -> None:
        """Go back to where a check stands; an earlier one that never ended does not count."""
        self.wanted = self.moments[name]
        self.gave_up = self.lost.get(self.wanted, "")
        if self.sandbox is None:
            return  # renewed when it is asked for, up to that moment
        try:
            if name in self.known:
                self._ask(do="return", name=name)
            elif self.here <= self.wanted:
                self._run_again(self.wanted)
            else:
                self.close()
        except LinkError:
            self.close()

    def cell(self, name: str, code: str) -> list[dict]:
        """Run a cell, return its outputs; one that kills the process is left out from then on."""
        try:
            outputs = parsed(self._ask(do="cell", code=code)["outputs"], MAX_OUTPUTS)
            self.ran.append((name, code))
            self.here = len(self.ran)
            return [o for o in outputs if type(o) is dict] if type(outputs) is list else []
        except LinkError as problem:
            return [self._death(problem)]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self.close()
            self.death = CRASHED
            return [error(CRASHED, "The cell's output could not be read.")]

    def _death(self, problem: LinkError) -> dict:
        self._died(problem)
        if self.death == CRASHED:
            return error(CRASHED, f"The cell ended the Python process ({problem}).")
        if time.monotonic() >= self.end:
            return error(TIMED_OUT, "The time for the whole notebook was used up here.")
        return error(TIMED_OUT, f"The cell was stopped after {self.seconds:g} seconds.")

    def _died(self, problem: Exception) -> None:
        self.close()
        self.death = TIMED_OUT if str(problem) == "it took too long" else CRASHED

    def observe(
        self, probe: Callable, inputs: tuple, likely: Seen | None = None, secret: bool = False
    ) -> Any:
        """Run a probe beside the learner's code; after a death the question is given up."""
        given = {"probe": text_of(probe), "name": probe.__name__, "inputs": packed(inputs)}
        public = (self.wanted, given["probe"], given["inputs"])
        if not secret and not self.extra and public in self.public:
            return self.public[public]
        if self.tainted and not secret:
            self.close()
        seen = self._observe(given, likely, secret)
        if not secret and not self.extra:
            self.public[public] = seen
        return seen

    def _observe(self, given: dict, likely: Seen | None, secret: bool) -> Any:
        if self.gave_up:
            return Died(self.gave_up)
        try:
            seen = self._ask(do="observe", **given)["seen"]
            self.tainted |= secret
            if type(seen) is not bytes:
                raise LinkError("an answer of another kind than was asked for")
            return unpacked(seen, likely)
        except (LinkError, KeyError) as problem:
            self._died(problem)
            late = self.death == TIMED_OUT
            self.gave_up = f"stopped after {self.seconds:g} seconds" if late else str(problem)
            if not self.extra:
                self.lost[self.wanted] = self.gave_up
            return Died(self.gave_up)

    @contextlib.contextmanager
    def replaced(self, others: dict[str, Callable], answer: str) -> Iterator[None]:
        """Start afresh with the reference's objects, the learner's cell for `answer` run last."""
        before_check = self.ran[: self.wanted]
        again = [code for name, code in before_check if name.endswith(f"-{answer}")]
        self.close()
        self.gave_up, before = "", self.gave_up
        self.extra = [sources_of(others.values(), self.wall.lesson), *again]
        try:
            yield
        finally:
            self.close()
            self.extra, self.gave_up = [], before

    def _ask(self, **request: Any) -> dict:
        if self.sandbox is None:
            self._renew()
        assert self.sandbox is not None
        return self.sandbox.ask(self._left(), **request)

    def _left(self) -> float:
        return max(0.0, min(self.seconds, self.end - time.monotonic()))

    def _renew(self) -> None:
        if time.monotonic() >= self.end:
            raise LinkError("it took too long")
        self.sandbox, self.here = self.wall.fork(), 0
        self.known, self.tainted = set(), False
        self._run_again(len(self.ran) if self.wanted is None else self.wanted)
        for code in self.extra:
            self.sandbox.ask(self._left(), do="source", code=code)

    def _run_again(self, until: int) -> None:
        """Run the cells up to a moment, in a process in which only some of them have run."""
        assert self.sandbox is not None
        for _, code in self.ran[self.here : until]:
            self.sandbox.ask(self._left(), do="cell", code=code)
        self.here = until


text_of = cache(inspect.getsource)  # a probe is asked for many times, its file read once


def error(name: str, text: str) -> dict:
    return {
        "output_type": "error",
        "ename": name,
        "evalue": text,
        "traceback": [f"{name}: {text}"],
    }
