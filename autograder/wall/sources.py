"""The text of some reference objects, with what they need to run where their module is hidden."""

import ast
import importlib
import sys
from collections.abc import Callable, Iterable
from functools import cache

from autograder.checks.slips import source_of
from autograder.wall.furnish import hidden_modules


def sources_of(objects: Iterable[Callable], lesson: str) -> str:
    """Return import lines, constants and definitions that together define the objects."""
    hidden = {f"solutions.{name}" for name in hidden_modules(lesson)}
    pieces: dict[str, None] = {}  # in order, each once
    for thing in objects:
        _collect(thing.__module__, thing.__name__, hidden, pieces, set())
    return "\n".join(pieces)


def _collect(module: str, name: str, hidden: set[str], pieces: dict, seen: set) -> None:
    """Add the definition of a name and of everything at the module's top level that it reads."""
    if (module, name) in seen:
        return
    seen.add((module, name))
    definitions, imports = _top_level(module)
    for line, origin, _ in imports:
        if origin not in hidden:
            pieces.setdefault(line)
    node = definitions.get(name)
    if node is None:
        return
    read = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    for other in sorted(read & definitions.keys() - {name}):
        _collect(module, other, hidden, pieces, seen)
    for _, origin, names in imports:
        for other in sorted(read & set(names)) if origin in hidden else ():
            importlib.import_module(origin)
            _collect(origin, other, hidden, pieces, seen)
    pieces.setdefault(ast.unparse(node))


@cache
def _top_level(module: str) -> tuple[dict[str, ast.stmt], list[tuple[str, str, tuple[str, ...]]]]:
    """Return a module's definitions and constants by name, and its import lines."""
    definitions: dict[str, ast.stmt] = {}
    imports: list[tuple[str, str, tuple[str, ...]]] = []
    for node in ast.parse(source_of(sys.modules[module])).body:
        if isinstance(node, ast.Import):
            imports.append((ast.unparse(node), node.names[0].name, ()))
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.asname or alias.name for alias in node.names)
            imports.append((ast.unparse(node), node.module or "", names))
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            definitions[node.name] = node
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    definitions[target.id] = node
    return definitions, imports
