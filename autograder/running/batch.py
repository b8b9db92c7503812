"""Run many submissions on this machine, several at a time; keep each result on disk as it comes."""

from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path

import nbformat

from autograder.checks.reference import prepare
from autograder.errors import WallError
from autograder.lessons import load
from autograder.running.crew import Crew
from autograder.running.runner import Job, Ran, keep, place
from autograder.running.side_by_side import new_wall
from autograder.running.walled import run
from autograder.wall.session import Session
from autograder.wall.wall import Door, Wall

AHEAD = 3  # jobs handed out for each process: one runs, others wait beside it

_walls: dict[str, Door] = {}  # the zygote of a lesson, in every process that runs jobs


def run_job(job: Job) -> Ran:
    """Run one submission behind this process's wall; where there is none, one is built."""
    import torch

    torch.set_num_threads(1)
    cells = nbformat.reader.reads(job.notebook).cells
    for _ in range(2):
        if job.lesson not in _walls:
            walled, total = job.settings.walled, job.settings.total
            _walls[job.lesson] = new_wall(job.lesson, walled, total).__enter__()
        try:
            return run(cells, _walls[job.lesson], job.settings)
        except WallError:  # the zygote is gone: build another, once
            _walls.pop(job.lesson).close()
    raise WallError("The process behind the wall died twice.")


def run_jobs(
    jobs: Iterable[Job], store: Path, n_jobs: int, wall: Wall
) -> Iterator[tuple[Job, bool]]:
    """Run what is not in the store; yield each job when its result is there (or failed)."""
    lost = yield from _one_pool(jobs, store, n_jobs, wall)
    for job in lost:  # again, alone: it can take nobody with it, nor be taken
        if (yield from _one_pool([job], store, 1, wall)):
            yield job, False


def _one_pool(
    jobs: Iterable[Job], store: Path, n_jobs: int, wall: Wall
) -> Generator[tuple[Job, bool], None, list[Job]]:
    """Give the jobs to processes, a few ahead; return those that failed, whatever the reason."""
    jobs = iter(jobs)
    running: dict[Future[Ran], Job] = {}
    lost: list[Job] = []
    crew: Crew | None = None
    try:
        while True:
            while len(running) < AHEAD * n_jobs and (job := next(jobs, None)) is not None:
                if place(store, job.key).exists():
                    yield job, True
                    continue
                try:
                    crew = crew or Crew(wall, n_jobs, _welcome, partial(_prepare, job, wall))
                    running[crew.submit(run_job, job)] = job
                except BrokenProcessPool:
                    lost.append(job)
                    break
            if not running:
                return lost
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                job, problem = running.pop(done), done.exception()
                if problem is None:
                    keep(store, job, done.result())
                    yield job, True
                    continue
                lost.append(job)
                if isinstance(problem, BrokenProcessPool) and crew:
                    crew.close()
                    crew = None  # the next job gets a new one
    finally:
        if crew:
            crew.close()


def _prepare(job: Job, wall: Wall) -> None:
    """Ask the reference, for all processes at once, before there are any.

    Its experiments are run by a process of the zygote, which has imported what trainings need.
    """
    import torch

    torch.set_num_threads(1)  # threads would not live on in a fork
    lesson, settings = load(job.lesson), job.settings

    def empty() -> Session:
        wall.wait()
        return Session(wall, settings.timeout, settings.total)

    try:
        prepare(lesson, settings.seed, empty)
    except WallError:
        if not wall.is_ready:  # it never started, and the text says why
            raise
        prepare(lesson, settings.seed)  # what became of it is found out by those who run jobs


def _welcome(door: Door) -> None:
    _walls[door.lesson] = door
