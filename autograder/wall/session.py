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
from autograder.wall.wall import Sandbox, Wall

TIMED_OUT, CRASHED = "CellTimedOut", "CellCrashed"
MAX_OUTPUTS = 40_000_000  # bytes of a cell's outputs that are read at all


class Session:
    """The learner's process, renewed when it dies: cells that ran are run again, the killer not.

    It is a `Code` (checks/code.py): marking observes it as it would a notebook's globals.
    """

    def __init__(self, wall: Wall, seconds: float, total: float):
        self.wall, self.seconds = wall, seconds
        self.end = time.monotonic() + total
        self.ran: list[tuple[str, str]] = []  # (cell id, code), in order
        self.sandbox: Sandbox | None = None
        self.gave_up = ""  # why this question's code is not asked any more
        self.death = ""  # how the process ended last: TIMED_OUT or CRASHED
        self.extra: list[str] = []  # code to run after the cells, while names are replaced

    def close(self) -> None:
        if self.sandbox is not None:
            self.sandbox.close()
            self.sandbox = None

    def cell(self, name: str, code: str) -> list[dict]:
        """Run a cell, return its outputs; one that kills the process is left out from then on."""
        try:
            outputs = parsed(self._ask(do="cell", code=code)["outputs"], MAX_OUTPUTS)
            self.ran.append((name, code))
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

    def question(self) -> None:
        """Begin a new question: an earlier one that never ended does not count against it."""
        self.gave_up = ""

    def observe(self, probe: Callable, inputs: tuple, likely: Seen | None = None) -> Any:
        """Run a probe beside the learner's code; after a death the question is given up."""
        if self.gave_up:
            return Died(self.gave_up)
        try:
            given = {"probe": text_of(probe), "name": probe.__name__, "inputs": packed(inputs)}
            seen = self._ask(do="observe", **given)["seen"]
            if type(seen) is not bytes:
                raise LinkError("an answer of another kind than was asked for")
            return unpacked(seen, likely)
        except (LinkError, KeyError) as problem:
            self._died(problem)
            late = self.death == TIMED_OUT
            self.gave_up = f"stopped after {self.seconds:g} seconds" if late else str(problem)
            return Died(self.gave_up)

    @contextlib.contextmanager
    def replaced(self, others: dict[str, Callable], answer: str) -> Iterator[None]:
        """Start afresh with the reference's objects, the learner's cell for `answer` run last."""
        again = [code for name, code in self.ran if name.endswith(f"-{answer}")]
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
        return self.sandbox.ask(self._left(), **request)

    def _left(self) -> float:
        return max(0.0, min(self.seconds, self.end - time.monotonic()))

    def _renew(self) -> None:
        if time.monotonic() >= self.end:
            raise LinkError("it took too long")
        self.sandbox = self.wall.fork()
        for _, code in self.ran:
            self.sandbox.ask(self._left(), do="cell", code=code)
        for code in self.extra:
            self.sandbox.ask(self._left(), do="source", code=code)


text_of = cache(inspect.getsource)  # a probe is asked for many times, its file read once


def error(name: str, text: str) -> dict:
    return {
        "output_type": "error",
        "ename": name,
        "evalue": text,
        "traceback": [f"{name}: {text}"],
    }
