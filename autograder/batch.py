"""Run many submissions behind walls, several at a time; keep each result on disk as it comes.

A result's name is a hash of all it depends on: the cells, the lesson's checks and reference with
everything they rest on, the seed and the limits. A killed batch, started again, runs what is
missing; a changed check runs again what it concerns.
"""

import hashlib
import json
import multiprocessing
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import nbformat

from autograder.run import Ran, Settings, run
from autograder.wall.start import Wall, WallError
from solutions.ground import ROOT, digest, follow

TRIES = 3  # how often a job is given to a new process when the one that ran it died


@dataclass(frozen=True)
class Job:
    """One submission to run: plain data, so that it can be sent to another machine."""

    lesson: str
    notebook: str  # the repaired notebook, as JSON text
    settings: Settings

    @property
    def key(self) -> str:
        cells = [
            [c["cell_type"], c["id"], c["source"], c["metadata"].get("tags")]
            for c in json.loads(self.notebook)["cells"]
        ]
        parts = [self.lesson, cells, checks_digest(self.lesson), asdict(self.settings)]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@cache
def checks_digest(lesson: str) -> str:
    """Return a digest of a lesson's checks and of every file of the course they rest on."""
    here = ROOT / "autograder"
    files = follow({here / "run.py", here / "lessons" / f"{lesson}.py"}, ROOT)
    others = {p for p in (here / "lessons").glob("*.py") if p.stem not in (lesson, "__init__")}
    return digest(files - others)


_walls: dict[str, Wall] = {}  # one zygote a lesson in every process that runs jobs


def run_job(job: Job) -> Ran:
    """Run one submission in this process's wall, which is built at the first one."""
    import torch

    torch.set_num_threads(1)
    cells = nbformat.reads(job.notebook, as_version=4).cells
    for _ in range(2):
        if job.lesson not in _walls:
            _walls[job.lesson] = Wall(job.lesson).__enter__()
        try:
            return run(cells, _walls[job.lesson], job.settings)
        except WallError:  # the zygote is gone: build another, once
            _walls.pop(job.lesson).__exit__()
    raise WallError("The process behind the wall died twice.")


def run_jobs(jobs: Iterable[Job], store: Path, n_jobs: int) -> Iterator[tuple[Job, bool]]:
    """Run what is not in the store; yield each job when its result is there (or failed)."""
    jobs = list(jobs)
    waiting = []
    for job in jobs:
        if place(store, job).exists():
            yield job, True
        else:
            waiting.append(job)
    for _ in range(TRIES):
        if not waiting:
            return
        waiting = yield from _one_pool(waiting, store, n_jobs)
    for job in waiting:
        yield job, False


def _one_pool(jobs: list[Job], store: Path, n_jobs: int) -> Iterator[tuple[Job, bool]]:
    """Give the jobs to processes; return those that were lost with a process that died."""
    context = multiprocessing.get_context("spawn")
    lost = []
    with ProcessPoolExecutor(min(n_jobs, len(jobs)), mp_context=context) as pool:
        running = {pool.submit(run_job, job): job for job in jobs}
        for done in as_completed(running):
            job = running[done]
            try:
                keep(store, job, done.result())
            except BrokenProcessPool:
                lost.append(job)
                continue
            yield job, True
    return lost


def place(store: Path, job: Job) -> Path:
    return store / f"{job.key}.json"


def keep(store: Path, job: Job, ran: Ran) -> None:
    """Write a result; a half-written file never counts."""
    store.mkdir(parents=True, exist_ok=True)
    part = store / f"{job.key}.{os.getpid()}.part"
    part.write_text(json.dumps(asdict(ran)), encoding="utf-8")
    part.replace(place(store, job))


def kept(path: Path) -> Ran:
    return Ran(**json.loads(path.read_text(encoding="utf-8")))
