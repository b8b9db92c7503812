"""Which cells need not be run when grading: demonstrations whose names nobody reads."""

import re
import symtable

from nbformat import NotebookNode

from autograder.checks.cells import is_check, is_demonstration
from autograder.checks.question import Conclusion
from autograder.lessons import load

MAX_PARSED = 200_000  # characters: the longest answer anybody writes by hand is far below


def skippable(cells: list[NotebookNode], lesson: str) -> set[int]:
    """Return the demonstration cells whose names no other cell and no probe reads."""
    code = {i: c for i, c in enumerate(cells) if c.cell_type == "code" and not is_check(c)}
    shows = {i for i, c in code.items() if is_demonstration(c)}
    needed = set(load(lesson).names)
    for question in load(lesson).questions:
        if isinstance(question, Conclusion):
            needed |= {m.__name__ for m in question.measures}
    for i in code.keys() - shows:
        needed |= names_read(code[i].source)
    while True:  # a demonstration that must run may need another
        kept = {i for i in shows if names_bound(code[i].source) & needed}
        if not kept:
            return shows
        shows -= kept
        for i in kept:
            needed |= names_read(code[i].source)


def names_read(source: str) -> set[str]:
    """Return the global names a cell reads; every word of it where it is not plain Python."""
    top = _symbols(source)
    if top is None:
        return words(source)
    read, tables = set(), [top]
    for table in tables:  # grows while it is walked: a table's children are its functions, classes
        tables += table.get_children()
        inner = table.get_type() != "module"
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (symbol.is_global() or not inner):
                read.add(symbol.get_name())
    if read & {"globals", "locals", "vars", "eval", "exec", "get_ipython"}:
        read |= words(source)  # names may hide in strings
    return read


def names_bound(source: str) -> set[str]:
    """Return the names a demonstration binds; a learner may have made something else of it."""
    top = _symbols(source)
    if top is None:
        return words(source)
    return {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_imported()}


def words(source: str) -> set[str]:
    return set(re.findall(r"\w+", source))


def _symbols(source: str) -> symtable.SymbolTable | None:
    """Parse a cell; None where it is not Python, or too long or too deep to be parsed here."""
    if len(source) > MAX_PARSED:
        return None
    try:
        return symtable.symtable(source, "cell", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
