"""Heal a submission against the notebook as it was released, so that every question gets a score.

Colab, editors and people move, copy, delete and relabel cells. A cell is found again by its id,
by the id Colab keeps in the metadata, by nbgrader's id, or by what stands in it. Locked cells and
all metadata come from the release; what the learner wrote stays.
"""

import ast
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import takewhile
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.checks.cells import (
    is_check,
    is_demonstration,
    is_graded,
    is_solution,
    is_written,
    short,
)
from autograder.course.releases import FLAGS, Known
from autograder.course.submission import as_dict, raw_cells

SKIP = "skip-execution"
MAX_PARSED = 200_000  # characters of a cell that are parsed, and not only searched
CACHED = 6000  # more than a notebook's cells and a release's, so that each is read once


@dataclass
class Found:
    """A submitted cell, reduced to what can be trusted, and the released cell it answers to."""

    cell: NotebookNode
    labels: list[str]  # the ids it bears, in whatever place
    metadata: dict
    role: str | None = None  # the id of a released cell

    @cached_property
    def text(self) -> str:
        """What stands in it, whatever the spaces; read once, held against every released cell."""
        return _squeezed(self.cell.source)

    @cached_property
    def asks(self) -> str | None:
        return _asks(self.cell)


def repair(
    notebook: dict, source: NotebookNode, known: Known | None = None
) -> tuple[NotebookNode, list[str]]:
    """Return a notebook with the released cells in place, and sentences on what was mended.

    `known` are the versions that may have been handed out; without it, only this one.
    """
    known = known or Known()
    notes: dict[str, list[str]] = {}
    released = {cell.id: cell for cell in source.cells}
    found = [_reduced(raw) for raw in raw_cells(notebook) or [] if isinstance(raw, dict)]
    _match(found, source, notes)
    cells = [cell for n, f in enumerate(found) for cell in _rebuilt(f, released, n, notes, known)]
    _put_back(cells, source, notes)
    _order_checks(cells, source, notes)
    made = nbformat.v4.new_notebook(cells=cells, metadata=nbformat.from_dict(source.metadata))
    if not _same_kernel(notebook, source):
        notes["The notebook asked for another kernel; it is run with Python 3."] = []
    return made, [_sentence(text, names) for text, names in notes.items()]


def _sentence(text: str, names: list[str]) -> str:
    return f"{text}: {', '.join(dict.fromkeys(names))}." if names else text


def _same_kernel(notebook: dict, source: NotebookNode) -> bool:
    wanted = as_dict(as_dict(notebook.get("metadata")).get("kernelspec")).get("name")
    return wanted is None or wanted == source.metadata.kernelspec.name


def _reduced(raw: dict) -> Found:
    """Keep a cell's kind, text and pasted pictures; set its labels aside."""
    kind = raw.get("cell_type")
    text = raw.get("source", raw.get("input", ""))
    if isinstance(text, list):
        text = "".join(line for line in text if isinstance(line, str))
    text = text.encode("utf-8", "replace").decode() if isinstance(text, str) else ""
    if kind == "heading":  # format 3
        kind, text = "markdown", f"# {text}"
    kind = kind if kind in ("code", "markdown", "raw") else "raw"
    cell = _new(kind, text)
    pasted = as_dict(raw.get("attachments")) if kind == "markdown" else {}
    kept = {str(k): _texts(v) for k, v in pasted.items() if _texts(v)}
    if kept:
        cell.attachments = nbformat.from_dict(kept)
    metadata = as_dict(raw.get("metadata"))
    labels = [raw.get("id"), metadata.get("id"), as_dict(metadata.get("nbgrader")).get("grade_id")]
    return Found(cell, [label for label in labels if isinstance(label, str)], metadata)


def _new(kind: str, text: str) -> NotebookNode:
    """Make a cell; the notebook is validated as a whole, when it is written."""
    cell = NotebookNode(id="", cell_type=kind, metadata=NotebookNode(), source=text)
    if kind == "code":
        cell.execution_count, cell.outputs = None, []
    return cell


def _texts(value: Any) -> dict[str, str]:
    return {str(k): v for k, v in as_dict(value).items() if isinstance(v, str)}


@lru_cache(maxsize=CACHED)  # every cell is held against every released one
def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _match(found: list[Found], source: NotebookNode, notes: dict[str, list[str]]) -> None:
    """Give every released cell at most one submitted cell; the best of several, else the last."""
    places: dict[tuple[str, str | None], list[int]] = {}
    for place, f in enumerate(found):
        for sign in _signs(f):
            places.setdefault(sign, []).append(place)
    for wanted in source.cells:
        signs = [("is", wanted.id), ("says", _squeezed(wanted.source)), ("asks", _asks(wanted))]
        signs.append(("defines", short(wanted.id)))
        near = sorted({place for sign in signs for place in places.get(sign, ())})
        free = [found[place] for place in near if found[place].role is None]
        each = {i: _rank(f, wanted) for i, f in enumerate(free)}
        ranks = {i: rank for i, rank in each.items() if rank is not None}
        if not ranks:
            continue
        best = max(ranks, key=lambda i: (ranks[i], i))
        free[best].role = wanted.id
        if wanted.id not in free[best].labels and "nbgrader" in wanted.metadata:
            notes.setdefault("Labels were lost; the cells were found by their text", []).append(
                short(wanted.id)
            )
        copies = [i for i in ranks if i != best and ranks[i][1]]
        if copies and "nbgrader" in wanted.metadata:
            text = "There were several copies of a cell; the last filled-in one counts"
            notes.setdefault(text, []).append(short(wanted.id))
        if is_solution(wanted):
            for i in copies:  # an empty copy further down would undo the answer
                if i > best and not _filled(free[i], wanted):
                    free[i].cell = _new("raw", free[i].cell.source)
    _match_written(found, source)
    _take_up_written(found, source, notes)


def _signs(f: Found) -> set[tuple[str, str | None]]:
    """Return all that a released cell may know a submitted one by."""
    signs: set[tuple[str, str | None]] = {("is", label) for label in f.labels}
    if f.cell.cell_type == "code":
        signs |= {("defines", name) for name in defined(f.cell.source)}
    return signs | {("says", f.text), ("asks", f.asks)} - {("asks", None)}


def _rank(f: Found, wanted: NotebookNode) -> tuple[int, int] | None:
    """Say how well a cell fits: first what stands in it, then whether it bears the label."""
    labelled = wanted.id in f.labels
    same = f.text == _squeezed(wanted.source)
    if is_check(wanted):
        return (0, int(labelled)) if labelled or f.asks == _asks(wanted) else None
    if is_solution(wanted) and wanted.cell_type == "code":
        defines = _defines(f.cell, wanted.id)
        if labelled or defines or same:
            return (int(defines and not same), int(labelled or same))
        return None
    if is_solution(wanted):
        return (int(not same), 1) if labelled else None
    return (int(same), int(labelled)) if labelled or same else None


def _asks(cell: NotebookNode) -> str | None:
    """Return the question that a cell checks, if it does nothing else."""
    text = "".join(cell.source.split()).replace("'", '"')
    found = re.fullmatch(r'(?:fromautograderimportcheck;?)?check\("([^"]+)"[^()]*\)', text)
    return found.group(1) if found else None


def _filled(f: Found, wanted: NotebookNode) -> bool:
    return _squeezed(f.cell.source) != _squeezed(wanted.source)


@lru_cache(maxsize=CACHED)
def defined(code: str) -> frozenset[str]:
    """Return the names a cell binds at its top level; by pattern where it does not parse."""
    nodes = _statements(code)
    if nodes is None:
        pattern = r"^(?:async +)?(?:def|class) +(\w+)|^(\w+) *(?::[^=\n]+)?=(?!=)"
        return frozenset(a or b for a, b in re.findall(pattern, code, flags=re.MULTILINE))
    bound: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {a.asname or a.name for a in node.names}
        else:
            names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
            bound |= {n.id for n in names if isinstance(n.ctx, ast.Store)}
    return frozenset(bound)


def _statements(code: str) -> list[ast.stmt] | None:
    """Parse a cell; None where it is not Python, or far longer than anybody writes by hand."""
    if len(code) > MAX_PARSED:
        return None
    try:
        return ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _match_written(found: list[Found], source: NotebookNode) -> None:
    """Find a written answer that lost its label: the free text after the released cell above it."""
    for above, wanted in zip(source.cells, source.cells[1:], strict=False):
        if not is_written(wanted) or any(f.role == wanted.id for f in found):
            continue
        start = next((i for i, f in enumerate(found) if f.role == above.id), len(found))
        for f in _prose(_until_released(found[start + 1 :]))[:1]:
            f.role = wanted.id


def _take_up_written(found: list[Found], source: NotebookNode, notes: dict[str, list[str]]) -> None:
    """Copy into a written cell without an answer what the learner wrote in cells beside it.

    nbgrader gives an unchanged cell a final 0, which no human would look at.
    """
    no_answer = {"", *(_squeezed(cell.source) for cell in source.cells)}
    for wanted in filter(is_written, source.cells):
        at = next((i for i, f in enumerate(found) if f.role == wanted.id), None)
        if at is None or _squeezed(found[at].cell.source) not in no_answer:
            continue
        above, below = _until_released(found[:at][::-1])[::-1], _until_released(found[at + 1 :])
        beside = _prose([f for f in above + below if _squeezed(f.cell.source) not in no_answer])
        if not beside:
            continue
        answer = found[at].cell
        answer.source = "\n\n".join(f.cell.source.strip("\n") for f in beside)
        for f in beside:
            if "attachments" in f.cell:
                answer.attachments = {**f.cell.attachments, **answer.get("attachments", {})}
        notes[f"The written answer to {short(wanted.id)} stood in a cell of its own."] = []


def _until_released(found: list[Found]) -> list[Found]:
    """Return the learner's own cells up to the first one that the release has."""
    return list(takewhile(lambda f: f.role is None, found))


def _prose(found: list[Found]) -> list[Found]:
    """Return the cells of text; without any, the code cells that text was typed into by mistake."""
    texts = [f for f in found if f.cell.cell_type == "markdown"]
    return texts or [f for f in found if f.cell.cell_type == "code" and _is_text(f.cell.source)]


def _is_text(code: str) -> bool:
    """Say whether a code cell holds no code: only comments, or neither Python nor a command."""
    commands = any(line.lstrip()[:1] in ("%", "!") for line in code.splitlines() if line.strip())
    return bool(code.strip()) and not commands and not _statements(code)


def _rebuilt(
    f: Found,
    released: dict[str, NotebookNode],
    number: int,
    notes: dict[str, list[str]],
    known: Known,
) -> list[NotebookNode]:
    """Make the cell anew: metadata from the release, text from the learner unless it is locked.

    What was written into a locked cell follows it as a cell of its own: an import added there
    must not be lost.
    """
    tags = f.metadata.get("tags")
    if isinstance(tags, list) and SKIP in tags and f.cell.cell_type == "code":
        notes[f"A cell was tagged `{SKIP}`; it is run all the same."] = []
    if f.role is None:
        f.cell.id = f"own-{number}"
        return [f.cell]
    wanted = released[f.role]
    theirs, ours = as_dict(f.metadata.get("nbgrader")), as_dict(wanted.metadata.get("nbgrader"))
    if any(key in theirs and key in ours and theirs[key] != ours[key] for key in FLAGS):
        edited = "Points or flags had been edited and were reset"
        text = _whose_change(known.had_flags(wanted.id, theirs), known, edited)
        notes.setdefault(text, []).append(short(wanted.id))
    cell = nbformat.from_dict(wanted)
    if ours.get("locked"):
        if _filled(f, wanted):
            earlier = known.had_text(wanted.id, f.cell.source)
            text = _whose_change(earlier, known, "Locked cells had been edited and were restored")
            notes.setdefault(text, []).append(short(wanted.id))
            if earlier:  # nothing in it is the learner's
                return [cell]
            f.cell.id = f"own-{number}"
            return [cell] if is_check(wanted) else [cell, f.cell]
        return [cell]
    cell.source = f.cell.source
    if "attachments" in f.cell and cell.cell_type == "markdown":
        cell.attachments = f.cell.attachments
    return [cell]


def _whose_change(earlier: bool, known: Known, edited: str) -> str:
    """Say why a cell is not as released: the course has changed, or, for certain, the learner."""
    if earlier:
        return "The course has changed since it was handed out; its present cells count"
    return edited if known.whole else "Cells differ from the course's present ones, which count"


def _put_back(cells: list[NotebookNode], source: NotebookNode, notes: dict[str, list[str]]) -> None:
    """Insert missing graded and locked cells after the released cell that stood before them."""
    for at, wanted in enumerate(source.cells):
        role = wanted.metadata.get("nbgrader", {})
        here = [cell.id for cell in cells]
        if wanted.id in here or not role:
            continue
        if is_solution(wanted) and not is_graded(wanted):
            if any(_defines(cell, wanted.id) for cell in cells):
                continue  # it stands in the cell of another answer
            text = "No cell holds an answer to"
        elif is_demonstration(wanted):
            continue
        else:
            before = [c.id for c in source.cells[:at] if c.id in here]
            cells.insert(here.index(before[-1]) + 1 if before else 0, nbformat.from_dict(wanted))
            text = "Missing cells were put back"
        notes.setdefault(text, []).append(short(wanted.id))


def _order_checks(
    cells: list[NotebookNode], source: NotebookNode, notes: dict[str, list[str]]
) -> None:
    """Move a check that stands before its answer to right after it."""
    answer = None
    for wanted in source.cells:
        if is_solution(wanted):
            answer = wanted.id
        if not is_check(wanted) or answer is None:
            continue
        at, behind = [cell.id for cell in cells].index(wanted.id), _place(cells, answer)
        if behind is not None and at < behind:
            cells.insert(behind, cells.pop(at))  # after the pop the answer is one place further up
            notes.setdefault("Checks stood before their answer and were moved", []).append(
                short(wanted.id)
            )


def _place(cells: list[NotebookNode], answer: str) -> int | None:
    """Return where an answer stands: in its own cell, or in the last one that defines it."""
    own = [i for i, cell in enumerate(cells) if cell.id == answer]
    return max(own or [i for i, cell in enumerate(cells) if _defines(cell, answer)], default=None)


def _defines(cell: NotebookNode, answer: str) -> bool:
    return cell.cell_type == "code" and short(answer) in defined(cell.source)
