"""Where submissions are run: one result, one interface, whether behind walls, on a cluster or not.

A result's name is a hash of all it depends on: the cells, the lesson's checks and reference with
everything they rest on, the seed and the limits. A killed batch, started again, runs what is
missing; a changed check runs again what it concerns.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Protocol

from autograder.lessons import files
from solutions.ground import ROOT, digest, follow, mentioned_files
from solutions.whole_file import whole_file

ENGINE = ("seam", "checks", "running", "wall")  # the folders that have a say in a result


@dataclass(frozen=True)
class Settings:
    """What a run depends on besides the notebook and the lesson."""

    seed: str
    timeout: float = 30.0  # seconds for a cell
    total: float = 300.0  # seconds for a notebook
    skip: bool = True  # leave demonstration cells out
    walled: bool = True  # False: the learner's code has the rights of whoever grades


@dataclass
class Ran:
    """What came of a submission: outputs by the cell's place, and which cells ended badly."""

    outputs: dict[str, list[dict]] = field(default_factory=dict)
    deaths: dict[str, str] = field(default_factory=dict)  # cell id -> TIMED_OUT or CRASHED


@dataclass(frozen=True)
class Job:
    """One submission to run: plain data, so that it can be sent to another machine."""

    lesson: str
    notebook: str  # the repaired notebook, as JSON text
    settings: Settings

    @cached_property
    def key(self) -> str:
        """Name the result; prose has no say in it, so that a reworded note runs nothing again."""
        cells = [
            [c["id"], c["source"], c["metadata"].get("tags")] if c["cell_type"] == "code" else None
            for c in json.loads(self.notebook)["cells"]
        ]
        parts = [self.lesson, cells, checks_digest(self.lesson), asdict(self.settings)]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class Runner(Protocol):
    """Runs submissions; `grade` asks nothing else of it."""

    walled: bool
    capped: bool  # whether all processes of a submission together have a cap on memory
    n_jobs: int  # how many at a time, here

    def settings(self, seed: str) -> Settings:
        """Return the settings of a run with this seed: the limits are the runner's."""

    def warm(self, lesson: str) -> None:
        """Begin to start what a lesson needs, and do not wait for it."""

    def run(self, jobs: Iterable[Job], store: Path) -> Iterator[tuple[Job, bool]]:
        """Run what is not in the store; yield each job when its result is there (or failed)."""

    def rest(self) -> None:
        """End what was started for a lesson."""


@cache
def checks_digest(lesson: str) -> str:
    """Return a digest of what marks a lesson: the engine, its checks and its reference files."""
    return digest(checks_files(lesson))


def checks_files(lesson: str) -> set[Path]:
    """Return the files a lesson's marks depend on; other lessons' checks are not among them."""
    here = ROOT / "autograder"
    checks, exercise = set(files(lesson)), ROOT / "exercises" / f"{lesson}.md"
    text = "".join(path.read_text(encoding="utf-8") for path in [*checks, exercise])
    engine = {path for name in ENGINE for path in (here / name).rglob("*.py")}
    references = follow(mentioned_files(text), ROOT)
    return checks | {here / "lessons" / "__init__.py"} | engine | references


def cores() -> int:
    return len(os.sched_getaffinity(0))


def place(store: Path, key: str) -> Path:
    return store / f"{key}.json"


def keep(store: Path, job: Job, ran: Ran) -> None:
    """Write a result; a half-written file never counts."""
    with whole_file(place(store, job.key)) as part:
        part.write_text(json.dumps(asdict(ran)), encoding="utf-8")


def kept(path: Path) -> Ran:
    return Ran(**json.loads(path.read_text(encoding="utf-8")))
