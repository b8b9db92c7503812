"""The names that a notebook's code reads although nothing in it imports or binds them."""

import builtins
import symtable
from collections.abc import Iterator

# what a notebook has without an import
GIVEN = {*dir(builtins), "__name__", "get_ipython", "display", "In", "Out", "_", "__", "___"}


def unbound(sources: list[str]) -> Iterator[tuple[int, str]]:
    """Return the unbound names with the number of their cell; raise SyntaxError for no Python.

    What a cell reads at once must be there by then, what a function reads may come later.
    """
    tables = [symtable.symtable(source, "a cell", "exec") for source in sources]
    ever = GIVEN.union(*map(_bound, tables))
    so_far = set(GIVEN)
    for number, table in enumerate(tables):
        so_far |= _bound(table)
        missing = (_read_at_once(table) - so_far) | (_read_later(table) - ever)
        yield from ((number, name) for name in sorted(missing))


def _bound(table: symtable.SymbolTable) -> set[str]:
    return {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}


def _read_at_once(table: symtable.SymbolTable) -> set[str]:
    own = table.get_type() == "module"
    read = {
        s.get_name() for s in table.get_symbols() if s.is_referenced() and (own or s.is_global())
    }
    classes = [t for t in table.get_children() if t.get_type() == "class"]
    return read.union(*map(_read_at_once, classes))


def _read_later(table: symtable.SymbolTable) -> set[str]:
    read = set()
    if table.get_type() == "function":
        read = {s.get_name() for s in table.get_symbols() if s.is_referenced() and s.is_global()}
    return read.union(*map(_read_later, table.get_children()))
