"""The one list of runs: the RUNS of every experiment's file, and the guard that keeps it whole.

What pages ask for is run beforehand, longest first. A page may ask only for what is listed: when
the book is built, `kept` refuses anything else, so that no run is missing from the list unnoticed.
"""

import importlib
import os
import pkgutil
from collections.abc import Callable, Iterable
from itertools import zip_longest
from pathlib import Path
from typing import Any

import solutions.experiments as experiments
from solutions.experiments import Run, place

LISTED = "COURSE_LISTED"  # the environment names a file with the places of the listed runs


class UnlistedRunError(LookupError):
    """Say which run a page asks for that nobody listed."""


def wanted(lessons: Iterable[str] = ()) -> list[Run]:
    """Return the runs of the lessons' files (each has a list RUNS, the longest first).

    The first of every lesson come first, so that no long one is left over at the end, alone.
    A file that says ON_DEMAND is run only where it is named.
    """
    names = list(lessons) or [module.name for module in pkgutil.iter_modules(experiments.__path__)]
    files = [importlib.import_module(f"solutions.experiments.{n}") for n in names if n[0] != "_"]
    if not lessons:
        files = [file for file in files if not getattr(file, "ON_DEMAND", False)]
    ranks = zip_longest(*(getattr(file, "RUNS", []) for file in files))
    return [run for rank in ranks for run in rank if run is not None]


def described(function: Callable, arguments: dict[str, Any]) -> str:
    """Write a run as a call."""
    given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    return f"{function.__module__.rpartition('.')[2]}.{function.__name__}({given})"


def write_list(file: Path) -> None:
    """Write down where the results of all listed runs are kept, for the kernels of pages."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{place(*run).name}\n" for run in wanted()), encoding="utf-8")


def refuse_the_rest() -> None:
    """From now on let `kept` give only runs of the list that the environment names."""
    listed = set(Path(os.environ[LISTED]).read_text(encoding="utf-8").split())
    give = experiments.kept

    def kept(function: Callable, **arguments: Any) -> Any:
        if place(function, arguments).name not in listed:
            raise UnlistedRunError(
                f"{described(function, arguments)} is in no list of runs. Add it, with exactly "
                f"these arguments, to RUNS in {function.__module__.replace('.', '/')}.py, so that "
                "python -m solutions.experiments runs it before the book is built."
            )
        return give(function, **arguments)

    experiments.kept = kept
