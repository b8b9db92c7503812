"""Processes that run jobs side by side: forks of this one, each with a door to the same zygote."""

import multiprocessing
import signal
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Any

from autograder.wall.wall import Door, Wall
from autograder.wall.within.kernel import PR_SET_PDEATHSIG, prctl


class Crew:
    """A pool in which torch and the lesson are there already, because its parent has them.

    `prepare` is called before the processes are forked, while the zygote warms up.
    """

    def __init__(
        self,
        wall: Wall,
        n_jobs: int,
        welcome: Callable[[Door], None],
        prepare: Callable[[], None],
    ):
        wall.start()
        prepare()
        self.doors = [wall.door() for _ in range(n_jobs)]
        context = multiprocessing.get_context("fork")
        seats = context.SimpleQueue()
        for seat in range(n_jobs):
            seats.put(seat)
        given = (self.doors, seats, welcome)
        self.pool = ProcessPoolExecutor(
            n_jobs, mp_context=context, initializer=_begin, initargs=given
        )

    def submit(self, work: Callable, *arguments: Any) -> Future:
        return self.pool.submit(work, *arguments)

    def close(self) -> None:
        self.pool.shutdown(cancel_futures=True)
        for door in self.doors:
            door.close()


def end_with_parent() -> None:
    """Have this process killed when the one that gave it work is, and say nothing at Ctrl-C."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _begin(doors: list[Door], seats: Any, welcome: Callable[[Door], None]) -> None:
    """Be a process that runs jobs: end with the one that gave them, keep one door."""
    end_with_parent()
    mine = doors[seats.get()]
    for door in doors:
        if door is not mine:
            door.close()
    welcome(mine)
