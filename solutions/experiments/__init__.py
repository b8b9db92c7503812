"""The measured experiments of the book: one file per lesson, and their results kept on disk.

An experiment is a function of plain arguments that trains or measures something and returns plain
values and tensors. `kept(function, ...)` runs it once: the result is stored under a name made from
the function, its arguments and every file of the course that it rests on, so that a change of code,
data or recipe runs it again. `python -m solutions.experiments` runs beforehand what pages will ask.
"""

import dataclasses
import hashlib
import inspect
import json
import os
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import torch

from solutions.ground import ROOT, digest, follow
from solutions.whole_file import whole_file

Run = tuple[Callable, dict[str, Any]]  # a function and its arguments


def kept(function: Callable, **arguments: Any) -> Any:
    """Return the function's result, from disk where it is there, else by running it."""
    path = place(function, arguments)
    if path.exists():
        return torch.load(path, weights_only=True)
    result = run(function, arguments)
    return torch.load(path, weights_only=True) if path.exists() else result


def run(function: Callable, arguments: dict[str, Any]) -> Any:
    """Run an experiment on one thread and keep its result; a half-written file never counts."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # two threads collapse on a busy machine
    try:
        result = function(**arguments)
    finally:
        torch.set_num_threads(threads)
    path = place(function, arguments)
    with whole_file(path) as part:
        torch.save(result, part)
    return result


def seconds(function: Callable, arguments: dict[str, Any]) -> float:
    """Run an experiment, unless another has needed and kept it; return how long that took."""
    start = time.perf_counter()
    kept(function, **arguments)
    return time.perf_counter() - start


def place(function: Callable, arguments: dict[str, Any]) -> Path:
    """Return where a result is kept."""
    text = json.dumps(arguments, sort_keys=True, default=dataclasses.asdict)
    written = inspect.getfile(inspect.unwrap(function))  # not the file of its decorator
    rests_on = code_digest(Path(written).resolve())
    name = f"{function.__module__}.{function.__qualname__} {text} {rests_on} {torch.__version__}"
    short = function.__module__.rpartition(".")[2]
    return (
        folder()
        / f"{short}-{function.__name__}-{hashlib.sha256(name.encode()).hexdigest()[:16]}.pt"
    )


@cache
def code_digest(path: Path) -> str:
    """Return a digest of a file and of all the course's files that it rests on."""
    return digest(follow({path}, ROOT))


def folder() -> Path:
    return Path(os.environ.get("COURSE_RUNS", ROOT / "_build" / "runs"))
