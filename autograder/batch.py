"""Run many submissions behind walls, several at a time; keep each result on disk as it comes.

A result's name is a hash of all it depends on: the cells, the lesson's checks and reference with
everything they rest on, the seed and the limits. A killed batch, started again, runs what is
missing; a changed check runs again what it concerns.
"""

import hashlib
import json
import multiprocessing
import os
import re
import signal
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import nbformat

from autograder.run import Ran, Settings, run
from autograder.wall.kernel import PR_SET_PDEATHSIG, prctl
from autograder.wall.start import Wall, WallError
from solutions.ground import ROOT, digest, follow

TRIES = 3  # how often a job is given to a new process when the one that ran it died
# the modules of this package that have a say in a result (a test compares them with what is loaded)
ENGINE = (
    *("__init__", "card", "check", "code", "compare", "exercise", "marking", "markup", "probe"),
    *("puzzle", "repair", "repository", "run", "shell", "slips", "submission", "wire"),
)


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
    """Return a digest of what marks a lesson: the engine, its checks and its reference files."""
    return digest(checks_files(lesson))


def checks_files(lesson: str) -> set[Path]:
    """Return the files a lesson's marks depend on; other lessons' checks are not among them."""
    here = ROOT / "autograder"
    checks, exercise = here / "lessons" / f"{lesson}.py", ROOT / "exercises" / f"{lesson}.md"
    text = checks.read_text(encoding="utf-8") + exercise.read_text(encoding="utf-8")
    named = set()
    for name in re.findall(r"\bsolutions\.(\w+)", text):
        place = ROOT / "solutions" / name
        named |= set(place.glob("*.py")) if place.is_dir() else {place.with_suffix(".py")}
    engine = {here / f"{name}.py" for name in ENGINE} | set((here / "wall").glob("*.py"))
    references = follow({path for path in named if path.exists()}, ROOT)
    return {checks, here / "lessons" / "__init__.py"} | engine | references


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
    n = min(n_jobs, len(jobs))
    with ProcessPoolExecutor(n, mp_context=context, initializer=_end_with_parent) as pool:
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


def _end_with_parent() -> None:
    """Have a process that runs jobs killed when the one that gave them is."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


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
