"""Work on submissions one by one in processes that can be stopped: each has so many seconds.

What learners hand in is read, mended and drawn by our own code, and some text is slow for it
whatever is done. A signal does not stop a search that is under way, so each worker is a process:
who is late is killed, and the next item gets a new one.
"""

import contextlib
import multiprocessing
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from autograder.running.crew import end_with_parent

SECONDS = 30.0  # for one submission; an honest one takes less than a hundredth of it


MEMORY = 4 << 30  # bytes that one submission may take beyond what is there when its worker starts


class OutOfTime(Exception):
    """The work on one item was stopped, or its process died; the text says which."""


class Worker:
    """A fork of this process that does one kind of work, one item after the other."""

    def __init__(self, work: Callable[[Any], Any], seconds: float):
        self.work, self.seconds = work, seconds
        self.link: Connection | None = None
        self.item: Any = None
        self.end = 0.0

    def begin(self, number: int, item: Any) -> None:
        if self.link is None:
            context = multiprocessing.get_context("fork")  # all is imported, and no thread runs
            self.link, theirs = context.Pipe()
            self.process = context.Process(target=_serve, args=(self.work, theirs, self.link))
            self.process.start()
            theirs.close()
        self.number, self.item, self.end = number, item, time.monotonic() + self.seconds
        self.link.send(item)

    def result(self) -> tuple[Any, BaseException | None]:
        """Return what came of the item, and what was raised; called when there is an answer."""
        assert self.link is not None
        try:
            seen: tuple[Any, BaseException | None] = self.link.recv()
            return seen
        except (EOFError, OSError):
            self.stop()
            return None, OutOfTime("its process died")

    def stop(self) -> None:
        if self.link is not None:
            self.process.kill()
            self.process.join()
            self.link.close()
            self.link = None


def _serve(work: Callable[[Any], Any], link: Connection, parents: Connection) -> None:
    end_with_parent()
    parents.close()
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    with contextlib.suppress(ValueError, OSError):  # somebody may have set less
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
    while True:
        try:
            item = link.recv()
        except EOFError:
            return
        try:
            done: tuple[Any, Exception | None] = work(item), None
        except Exception as problem:
            done = None, problem
        try:
            link.send(done)
        except Exception:  # what was raised cannot be sent
            link.send((None, OutOfTime(f"it failed ({type(done[1]).__name__})")))


def each_in_time(
    work: Callable[[Any], Any], items: Iterable[Any], n: int, seconds: float = SECONDS
) -> Iterator[tuple[Any, Any, BaseException | None]]:
    """Yield, in order, each item, what the work on it returned, and what it raised if it did."""
    items = list(items)
    idle = [Worker(work, seconds) for _ in range(max(1, min(n, len(items))))]
    busy: list[Worker] = []
    done: dict[int, tuple[Any, BaseException | None]] = {}
    given = told = 0
    try:
        while told < len(items):
            while idle and given < len(items):
                worker = idle.pop()
                worker.begin(given, items[given])
                busy.append(worker)
                given += 1
            left = min(worker.end for worker in busy) - time.monotonic() if busy else 0
            ready = wait([w.link for w in busy if w.link], max(0.0, left))
            for worker in [w for w in busy if w.link in ready or time.monotonic() >= w.end]:
                if worker.link in ready:
                    done[worker.number] = worker.result()
                else:
                    worker.stop()
                    done[worker.number] = None, OutOfTime(f"it took more than {seconds:g} seconds")
                busy.remove(worker)
                idle.append(worker)
            while told in done:
                yield items[told], *done.pop(told)
                told += 1
    finally:
        for worker in idle + busy:
            worker.stop()


class TooMuchWork(BaseException):
    """This process has worked on one submission for longer than it may."""


@contextlib.contextmanager
def working_for(seconds: float) -> Iterator[None]:
    """Raise TooMuchWork when this process itself, not what it waits for, has worked so long.

    A single call that does not come back for half as long again ends the process.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's
        return

    def stop(*_: Any) -> None:
        raise TooMuchWork

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_VIRTUAL, 1.5 * seconds)  # nobody listens: it ends the process
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGPROF, before)
