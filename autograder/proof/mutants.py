"""Small wrong turns in a reference, made by rule: what the checks must notice.

A slip (slips.py) is a mistake somebody thought of. A mutant is one nobody thought of: an operator,
a constant, an argument or a statement of a body that the learner writes, changed by itself.
"""

import ast
import contextlib
import copy
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from autograder.checks.marking import differences, runs
from autograder.checks.question import Exercise
from autograder.checks.slips import run_source, source_of

SECONDS = 5  # a mutant that loops is stopped after this long, and counts as noticed
Exchange = dict[type[ast.AST], type[ast.AST]]  # one kind of node for another
OPERATORS: Exchange = {
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult},
    **{ast.MatMult: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult},
    **{ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.And: ast.Or, ast.Or: ast.And},
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is},
    **{ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Lt: ast.LtE, ast.LtE: ast.Lt},
    **{ast.Gt: ast.GtE, ast.GtE: ast.Gt},
}
SIDES: Exchange = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
ONE_WAY = (ast.Sub, ast.Div, ast.MatMult, ast.FloorDiv, ast.Mod, ast.Pow)
SYMMETRIC = ("transpose", "swapaxes", "swapdims", "maximum", "minimum")
SHOWN = (ast.Call, ast.BinOp, ast.Compare, ast.Subscript, ast.BoolOp, ast.IfExp, ast.stmt)


@dataclass(frozen=True)
class Mutant:
    """One change: what it is, in the same words on every run, and the module's text with it."""

    description: str
    source: str


def mutants(module: ModuleType, qualname: str) -> Iterator[Mutant]:
    """Make every mutant of one function or class, in the order of its text."""
    tree = ast.parse(source_of(module))
    seen: Counter[str] = Counter()
    for owner, function in _functions(tree, qualname):
        for place in list(_places(function)):
            before = ast.unparse(place.shown)
            for new in variants(place.node):
                place.put(new)
                after = ast.unparse(new if place.shown is place.node else place.shown)
                source = ast.unparse(tree)
                place.put(place.node)
                if after == before:
                    continue  # two equal arguments exchanged
                changed = f"{owner}: {_line(before)} -> {_line(after)}"
                seen[changed] += 1
                number = f" (no. {seen[changed]})" if seen[changed] > 1 else ""
                yield Mutant(changed + number, source)


def survives(exercise: Exercise, mutant: Mutant, seed: str) -> bool:
    """Try a mutant on the visible cases and on one seed's, up to the first that notices it."""
    try:
        own = run_source(exercise.module, mutant.source)
    except Exception:
        return False
    tried = runs(exercise, own, seed)
    while True:
        with _time_limit():  # `observe` turns it into an exception of the code under test
            run = next(tried, None)
        if run is None:
            return True
        if any(differences(run, exercise.parts).values()):
            return False


@contextlib.contextmanager
def _time_limit():
    def stop(*_):
        raise TimeoutError("stopped: it ran too long")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@dataclass
class _Place:
    """A node of the tree, how to put another one in its place, and what to show around it."""

    node: ast.AST
    put: Callable[[ast.AST], None]
    shown: ast.AST


def _functions(tree: ast.Module, qualname: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    nodes = tree.body
    for part in qualname.split("."):
        node = next(
            n for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name == part
        )
        nodes = node.body
    if isinstance(node, ast.ClassDef):
        for method in node.body:
            if isinstance(method, ast.FunctionDef):
                yield f"{qualname}.{method.name}", method
    else:
        yield qualname, node


def _places(function: ast.FunctionDef) -> Iterator[_Place]:
    skip = 1 if ast.get_docstring(function) is not None else 0
    for i, statement in list(enumerate(function.body))[skip:]:
        yield from _below(statement, _putter(function.body, i), statement)


def _below(node: ast.AST, put: Callable, shown: ast.AST) -> Iterator[_Place]:
    # a name or a constant says little by itself: show the expression it stands in
    if isinstance(node, SHOWN):
        shown = node
    yield _Place(node, put, shown)
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Assert) or _is_negative(node):
        return  # which words an error has is a matter of taste; -3 is one number
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "ctx"):
            continue
        if isinstance(value, ast.AST):
            yield from _below(value, _setter(node, name), shown)
        elif isinstance(value, list):
            for i, item in enumerate(value):
                if isinstance(item, ast.AST):
                    yield from _below(item, _putter(value, i), shown)


def _putter(items: list, i: int) -> Callable:
    return lambda new: items.__setitem__(i, new)


def _setter(node: ast.AST, name: str) -> Callable:
    return lambda new: setattr(node, name, new)


def _line(text: str) -> str:
    return " ".join(text.split())


def _is_negative(node: ast.AST) -> bool:
    if not isinstance(node, ast.UnaryOp) or not isinstance(node.op, ast.USub):
        return False
    return isinstance(node.operand, ast.Constant)


def variants(node: ast.AST) -> list[ast.AST]:
    """Return what may stand in a node's place."""
    made: list[ast.AST] = []
    if isinstance(node, ast.BinOp):
        made = [_with(node, op=OPERATORS[type(node.op)]())] if type(node.op) in OPERATORS else []
        if isinstance(node.op, ONE_WAY):
            made.append(_with(node, left=node.right, right=node.left))
        made += [node.left, node.right]
    elif isinstance(node, ast.UnaryOp) and _is_negative(node):
        number: Any = node.operand  # a Constant
        made = [ast.Constant(v) for v in _constants(-number.value)]
    elif isinstance(node, ast.UnaryOp):
        made = [node.operand]
    elif isinstance(node, ast.Constant):
        made = [ast.Constant(v) for v in _constants(node.value)]
    elif isinstance(node, ast.Compare):
        swaps = [table.get(type(node.ops[0])) for table in (OPERATORS, SIDES)]
        made = [_with(node, ops=[swap(), *node.ops[1:]]) for swap in swaps if swap]
    elif isinstance(node, ast.BoolOp):
        made = [_with(node, op=OPERATORS[type(node.op)]()), *node.values]
    elif isinstance(node, ast.IfExp):
        made = [node.body, node.orelse]
    elif isinstance(node, ast.Call):
        made = _calls(node)
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        made = [node.value]
    elif isinstance(node, ast.Slice):
        ends = [name for name in ("lower", "upper", "step") if getattr(node, name) is not None]
        made = [_with(node, **{name: None}) for name in ends]
    elif isinstance(node, ast.AugAssign) and type(node.op) in OPERATORS:
        made = [_with(node, op=OPERATORS[type(node.op)]()), ast.Pass()]
    elif isinstance(node, ast.If):
        made = [_with(node, test=ast.Constant(True)), ast.Pass()]
    elif isinstance(node, ast.stmt) and not isinstance(
        node, ast.Return | ast.FunctionDef | ast.Pass
    ):
        made = [ast.Pass()]
    return made


def _calls(node: ast.Call) -> list[ast.AST]:
    """Exchange neighbouring arguments, leave a keyword out, leave the call out."""
    made: list[ast.AST] = []
    either_way = getattr(node.func, "attr", "") in SYMMETRIC
    for i in range(0 if either_way else len(node.args) - 1):
        order = [*node.args[:i], node.args[i + 1], node.args[i], *node.args[i + 2 :]]
        made.append(_with(node, args=order))
    for keyword in node.keywords:
        made.append(_with(node, keywords=[k for k in node.keywords if k is not keyword]))
    if isinstance(node.func, ast.Attribute):
        made.append(node.func.value)
    if node.args and not isinstance(node.args[0], ast.Starred):
        made.append(node.args[0])
    return made


def _constants(value: object) -> list:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, value - 1, *([-value] if value else [])]
    return []


def _with(node: ast.AST, **fields) -> ast.AST:
    made = copy.copy(node)
    for name, value in fields.items():
        setattr(made, name, value)
    return made
