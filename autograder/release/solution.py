"""The source of a reference, with nbgrader's markers around the bodies that the learner writes."""

import ast
import importlib
import inspect

from autograder.checks.exercise_file import Body, bodies_in
from autograder.checks.slips import source_of
from autograder.errors import ReleaseError
from autograder.lessons import nearest

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


def solution_text(dotted: str) -> tuple[str, str]:
    """Return an object's name and its source, with markers around each body to be written.

    "solutions.multi_head.split_heads" marks a function's body; a method's name gives the whole
    class with that body marked; several methods of one class may be named, with commas.
    """
    written = bodies_in(dotted)
    whole, module = written[0].whole, _module(written[0])
    if any((body.module, body.whole) != (written[0].module, whole) for body in written):
        raise ReleaseError(f"`:solution: {dotted}` names several objects: give each its own cell.")
    here = {name: getattr(value, "__module__", "") for name, value in vars(module).items()}
    known = [name for name, home in here.items() if home == module.__name__]
    if whole not in known:
        raise ReleaseError(f"{module.__name__} has no {whole!r}. {nearest(whole, known)}")
    source = inspect.getsource(getattr(module, whole))
    assert source in source_of(module)
    for body in written:
        source = _marked(source, body.qualname.split("."))
    return whole, source.rstrip("\n")


def _module(body: Body):
    try:
        return importlib.import_module(body.module)
    except ModuleNotFoundError as problem:
        if problem.name != body.module:
            raise
        raise ReleaseError(f"There is no {body.module.replace('.', '/')}.py.") from None


def _marked(source: str, path: list[str]) -> str:
    """Put the markers right after the docstring of the function at `path`, and after its body."""
    nodes = ast.parse(source).body
    for part in path:
        known = {n.name: n for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)}
        if part not in known:
            whole = ".".join(path)
            raise ReleaseError(f"There is no {whole}: no {part!r}. {nearest(part, list(known))}")
        node = known[part]
        nodes = node.body
    docstring = node.body[0]
    if ast.get_docstring(node) is None:
        raise ReleaseError(f"{'.'.join(path)} has no docstring: it is the exercise text")
    lines = source.splitlines()
    indent = " " * docstring.col_offset
    start, end = docstring.end_lineno, node.end_lineno
    marked = [*lines[:start], indent + BEGIN, *lines[start:end], indent + END, *lines[end:]]
    return "\n".join(marked)
