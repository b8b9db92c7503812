"""Run submissions on this machine, behind walls or unprotected: the runner that most people use.

It can be made, and its wall be started, before torch is imported.
"""

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder.errors import CourseError
from autograder.running.runner import Job, Settings, cores
from autograder.running.unprotected import Open
from autograder.wall import cgroup
from autograder.wall.wall import Wall, sized, why_not

UNCAPPED = (
    "No control groups can be made here: each process of a submission has its own cap on memory, "
    "all of them together have none, and they can slow their neighbours. Grade as root, or in a "
    "session of systemd with control groups of version 2."
)


def new_wall(lesson: str, walled: bool, total: float, jobs: int | None = None) -> Wall:
    limits = sized(jobs or cores(), total)[1]
    return Wall(lesson, limits) if walled else Open(lesson, limits)


class SideBySide:
    """A `Runner` on this machine: several submissions at a time, each in a process of its own.

    Behind walls, or unprotected where that is asked for in so many words.
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        timeout: float = 30,
        total: float = 300,
        walled: bool = True,
    ):
        if walled and (reason := why_not()):
            raise CourseError(
                f"No sandbox can be made here: {reason}. With --no-sandbox learners' code is run "
                "with your rights."
            )
        self.n_jobs, self.walled = sized(n_jobs or cores(), total)[0], walled
        self.capped = not walled or cgroup.capped()
        if not self.capped:
            print(UNCAPPED)
        self.timeout, self.total = timeout, total
        self.wall: Wall | None = None

    def settings(self, seed: str) -> Settings:
        return Settings(seed, self.timeout, self.total, walled=self.walled)

    def warm(self, lesson: str) -> None:
        self._wall(lesson).start()

    def _wall(self, lesson: str) -> Wall:
        """Return the lesson's wall, which is not started before something needs it."""
        if self.wall is None or self.wall.lesson != lesson:
            self.rest()
            self.wall = new_wall(lesson, self.walled, self.total, self.n_jobs)
        return self.wall

    def rest(self) -> None:
        if self.wall is not None:
            self.wall.close()
            self.wall = None

    def run(self, jobs: Iterable[Job], store: Path) -> Iterator[tuple[Job, bool]]:
        first = next(jobs := iter(jobs), None)
        if first is None:
            return
        wall = self._wall(first.lesson)
        from autograder.running.batch import run_jobs  # with torch, while the wall starts

        yield from run_jobs(itertools.chain([first], jobs), store, self.n_jobs, wall)
