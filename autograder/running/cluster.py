"""Run submissions on other machines: the run phase of grading, sent to a Dask scheduler.

Jobs and results are plain data, every worker builds its own wall, and the one who grades writes
each result as it comes. A worker that is lost takes no result with it: its job is run elsewhere.
"""

import json
import socket
import threading
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import CourseError, WallError
from autograder.running.batch import run_job
from autograder.running.runner import Job, Ran, Settings, cores, keep, place

if TYPE_CHECKING:
    from distributed import Client  # installed only where it is used

CONNECT = 60  # seconds to reach the scheduler
TRIES = 3  # how often a job is given to another worker when the one that ran it was lost
_one_at_a_time = threading.Lock()  # a wall serves one; a worker may have several threads


class OtherVersion(RuntimeError):
    """A node would mark with other checks than the ones it was asked for."""


def run_remotely(job: Job, key: str) -> str:
    """Run one submission on a worker; refuse where the course is not the grader's own."""
    if job.key != key:
        raise OtherVersion(
            f"the course on {socket.gethostname()} is not the one you grade with; "
            "give every node the same copy"
        )
    with _one_at_a_time:
        return json.dumps(asdict(run_job(job)))


class Cluster:
    """A `Runner` on other machines, each with walls of its own."""

    walled = True
    capped = True  # each node's own matter: a batch system caps a worker's memory

    def __init__(self, address: str, timeout: float = 30, total: float = 300):
        self.address, self.timeout, self.total, self.n_jobs = address, timeout, total, cores()

    def meet(self) -> None:
        """Say at once whether there is a cluster, also where all results are kept already."""
        _connect(self.address).close()

    def settings(self, seed: str) -> Settings:
        return Settings(seed, self.timeout, self.total)

    def warm(self, lesson: str) -> None:
        """Do nothing: a worker builds its wall when its first job comes."""

    def rest(self) -> None:
        """Do nothing: the workers go on."""

    def run(self, jobs: Iterable[Job], store: Path) -> Iterator[tuple[Job, bool]]:
        waiting = []
        for job in jobs:
            if place(store, job.key).exists():
                yield job, True
            else:
                waiting.append(job)
        if waiting:
            with _connect(self.address) as client:
                yield from _gather(client, waiting, store, self.address)


def _connect(address: str) -> "Client":
    try:
        from distributed import Client
    except ImportError:
        raise CourseError(
            "--cluster needs Dask, which is not installed: pip install dask distributed"
        ) from None
    try:
        client = Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError, TypeError) as problem:  # the last: tls:// without a key
        raise CourseError(
            f"No Dask scheduler answers at {address} ({problem or type(problem).__name__}). Start "
            "one, or leave --cluster out. Nothing was graded."
        ) from None
    if not client.scheduler_info()["workers"]:
        print(
            f"The scheduler at {address} has no workers yet: nothing runs until one comes. "
            "Ctrl-C stops the waiting; what was graded so far is kept.",
            flush=True,
        )
    return client


def _gather(
    client: "Client", jobs: list[Job], store: Path, address: str
) -> Iterator[tuple[Job, bool]]:
    from distributed import as_completed

    running = {
        client.submit(run_remotely, job, job.key, key=f"run-{job.key}", retries=TRIES - 1): job
        for job in jobs
    }
    for done in as_completed(running, loop=client.loop):
        job = running[done]
        if done.status == "finished":
            keep(store, job, Ran(**json.loads(done.result())))
            yield job, True
        elif done.status == "error" and isinstance(done.exception(), OtherVersion | WallError):
            raise CourseError(f"The cluster could not run a submission: {done.exception()}.")
        elif done.status == "error":
            yield job, False  # it ended every worker that tried it, or failed on each
        else:
            raise CourseError(
                f"The scheduler at {address} is gone. What was run is kept: give the same "
                "command again."
            )
        done.release()
