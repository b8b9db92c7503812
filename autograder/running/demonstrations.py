"""Which cells need not be run when grading: demonstrations whose names nobody reads."""

import re
import symtable

from nbformat import NotebookNode

from autograder.checks.cells import is_check, is_demonstration
from autograder.checks.question import Conclusion
from autograder.lessons import load


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
    try:
        tables = [symtable.symtable(source, "cell", "exec")]
    except (SyntaxError, ValueError):
        return set(re.findall(r"\w+", source))
    read = set()
    for table in tables:  # grows while it is walked: a table's children are its functions, classes
        tables += table.get_children()
        inner = table.get_type() != "module"
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (symbol.is_global() or not inner):
                read.add(symbol.get_name())
    if read & {"globals", "locals", "vars", "eval", "exec", "get_ipython"}:
        read |= set(re.findall(r"\w+", source))  # names may hide in strings
    return read


def names_bound(source: str) -> set[str]:
    """Return the names a demonstration binds; it is ours, so it parses."""
    symbols = symtable.symtable(source, "cell", "exec").get_symbols()
    return {s.get_name() for s in symbols if s.is_assigned() or s.is_imported()}
