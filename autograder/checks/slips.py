"""Known mistakes, each a small patch of the reference, and matching a wrong answer with them."""

import ast
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Slip:
    """A known mistake: in `where`, the text `old` (it stands there once) becomes `new`."""

    name: str
    where: Callable
    old: str
    new: str
    text: str  # what to tell the learner

    @property
    def module(self) -> ModuleType:
        return sys.modules[self.where.__module__]


class SlipError(ValueError):
    """A slip's patch no longer fits the reference."""


def patched(*slips: Slip) -> dict[str, Any]:
    """Return the names of the reference's module with these slips made."""
    return _patched(slips)


@cache
def _patched(slips: tuple[Slip, ...]) -> dict[str, Any]:
    module = slips[0].module
    original = source = source_of(module)
    for slip in slips:
        source = _edit(source, slip, span(original, slip.where.__qualname__))
    return run_source(module, source)


@cache
def source_of(module: ModuleType) -> str:
    assert module.__file__ is not None, f"{module.__name__} was not read from a file"
    return Path(module.__file__).read_text(encoding="utf-8")


def run_source(module: ModuleType, source: str) -> dict[str, Any]:
    """Run a changed text of a module; the module itself stays as it is."""
    namespace = {"__name__": module.__name__, "__file__": module.__file__}
    exec(compile(source, f"<changed {module.__name__}>", "exec"), namespace)
    return namespace


def _edit(source: str, slip: Slip, lines_of_object: tuple[int, int]) -> str:
    """Make one slip; edits keep the number of lines, so an object stays where it was."""
    start, end = lines_of_object
    lines = source.splitlines(keepends=True)
    body = "".join(lines[start:end])
    if body.count(slip.old) != 1:
        raise SlipError(
            f"slip {slip.name!r}: {slip.old!r} stands {body.count(slip.old)} times in "
            f"{slip.where.__qualname__}, it must stand there once"
        )
    if slip.old.count("\n") != slip.new.count("\n"):
        raise SlipError(f"slip {slip.name!r} changes the number of lines")
    return "".join([*lines[:start], body.replace(slip.old, slip.new), *lines[end:]])


@cache
def span(source: str, qualname: str) -> tuple[int, int]:
    """Return the first line (from 0) of a function or class, and the line after its last."""
    nodes = ast.parse(source).body
    for part in qualname.split("."):
        node = next(n for n in nodes if isinstance(n, DEFINITIONS) and n.name == part)
        nodes = node.body
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    assert node.end_lineno is not None  # it was parsed from a text
    return first - 1, node.end_lineno
