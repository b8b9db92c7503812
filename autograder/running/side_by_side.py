"""Run submissions on this machine, behind walls or unprotected: the runner that most people use.

It can be made, and its wall be started, before torch is imported.
"""

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder.errors import CourseError
from autograder.running.runner import Job, Settings, cores
from autograder.running.unprotected import Open
from autograder.wall.wall import Wall, why_not


def new_wall(lesson: str, walled: bool) -> Wall:
    return Wall(lesson) if walled else Open(lesson)


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
        self.n_jobs, self.walled = n_jobs or cores(), walled
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
            self.wall = new_wall(lesson, self.walled)
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
