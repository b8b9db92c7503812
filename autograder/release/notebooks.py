"""Make notebooks from `exercises/*.md` and the reference, through nbgrader's own preprocessors.

An exercise file names objects; their source is taken from `solutions`. The authored notebook
holds the reference answers between nbgrader's markers; the released one has empty bodies.
"""

import re
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.checks.cells import check_id
from autograder.checks.exercise_file import place, text_of
from autograder.checks.question import Lesson
from autograder.errors import ReleaseError
from autograder.lessons import load
from autograder.release.authored import Block, authored, new_cell, task_id
from autograder.release.gpu_runtime import gpu_metadata, trains
from autograder.release.names import unbound
from autograder.release.setup_cell import FOLDED, setup_text
from autograder.repository import EXERCISES, colab, order

KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
STEPS = "LockCells ClearSolutions ClearOutput ClearHiddenTests ComputeChecksums CheckCellMetadata"
TOTAL = 100


def author(lesson: str) -> NotebookNode:
    """Return a lesson's notebook with the reference answers in it."""
    found = _blocks(load(lesson))
    cells = [authored(block) for block in found]
    lines = {cell.id: block.line for cell, block in zip(cells, found, strict=True)}
    setup = new_cell("code", setup_text(lesson, trains(cells)), f"{lesson}-setup", locked=True)
    setup.metadata.update(FOLDED)
    cells.insert(1, setup)
    cells[0].source = _with_badge(cells[0].source, lesson)
    # before nbformat sees the cells: it would rename the second of two with one id, unasked
    _verify(cells, load(lesson), lines)
    _verify_names(cells, lesson, lines)
    made = nbformat.v4.new_notebook(cells=cells, metadata=_metadata(cells))
    nbformat.validate(made)
    return made


def _blocks(lesson: Lesson) -> list[Block]:
    from myst_nb.core.read import MystMetadataParsingError, read_myst_markdown_notebook

    try:
        read = read_myst_markdown_notebook(text_of(lesson.name), add_source_map=True)
    except FileNotFoundError:
        raise ReleaseError(f"There is no {place(lesson.name)} to release.") from None
    except MystMetadataParsingError as problem:
        line = re.search(r"at line (\d+) ", str(problem))
        where = place(lesson.name, int(line[1]) if line else None)
        raise ReleaseError(f"{where}: {problem}") from None
    begun = read.metadata["source_map"]
    return [Block(lesson, cell, line) for cell, line in zip(read.cells, begun, strict=True)]


def release(notebook: NotebookNode) -> NotebookNode:
    """Empty the answers: the same steps, in the same order, as `nbgrader generate_assignment`."""
    import nbgrader.preprocessors as steps

    resources: dict[str, Any] = {}
    made = nbformat.from_dict(notebook)
    for name in STEPS.split():
        made, resources = getattr(steps, name)().preprocess(made, resources)
    made.metadata = nbformat.from_dict(notebook.metadata)
    return made


def write(notebook: NotebookNode, path: Path) -> bool:
    """Write a notebook if it changed; say whether it did."""
    text = as_text(notebook)
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.write_text(text, encoding="utf-8")
    return True


def as_text(notebook: NotebookNode) -> str:
    return nbformat.writes(notebook, indent=1).rstrip("\n") + "\n"


def release_all() -> dict[str, bool]:
    """Release every lesson into `exercises/`; say which notebooks changed."""
    made = {lesson: release(author(lesson)) for lesson in order()}
    return {
        lesson: write(notebook, EXERCISES / f"{lesson}.ipynb") for lesson, notebook in made.items()
    }


def _metadata(cells: list[NotebookNode]) -> NotebookNode:
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}, **gpu_metadata(cells)}
    return nbformat.from_dict(metadata)


def _with_badge(text: str, lesson: str) -> str:
    title, _, rest = text.partition("\n")
    badge = f"[Open this notebook in Colab]({colab(f'exercises/{lesson}.ipynb')})"
    return f"{title}\n\n{badge}\n{rest}"


def _verify(cells: list[NotebookNode], lesson: Lesson, lines: dict[str, int]) -> None:
    """Refuse a notebook in which something is missing, or there twice; `lines` are the cells'."""
    ids = [cell.id for cell in cells]
    for name in ids:
        if ids.count(name) > 1:
            where = place(lesson.name, lines[name])
            raise ReleaseError(f"{where}: two cells have the id {name!r}: name one of them.")
    roles = [cell.metadata.get("nbgrader", {}) for cell in cells]
    total = sum(role.get("points", 0) for role in roles)
    whole = place(lesson.name)
    if total != TOTAL:
        raise ReleaseError(f"{whole}: the points sum to {total}, not to {TOTAL}.")
    for name in lesson.names:
        if check_id(lesson.name, name) not in ids:
            raise ReleaseError(f"{whole}: no cell has `:check: {name}`.")
        if f"{lesson.name}-{name}" not in ids:
            raise ReleaseError(f"{whole}: {name} has no cell to answer it in.")
        if task_id(lesson.name, name) not in ids:
            raise ReleaseError(f'{whole}: no text begins with +++ {{"exercise": "{name}"}}.')


def _verify_names(cells: list[NotebookNode], lesson: str, lines: dict[str, int]) -> None:
    """Refuse a notebook that would end in a NameError, however well it is answered."""
    from IPython.core.inputtransformer2 import TransformerManager

    plain = TransformerManager().transform_cell
    cells = [cell for cell in cells if cell.cell_type == "code"]
    sources = []
    for cell in cells:
        sources.append(plain(cell.source))
        try:
            compile(sources[-1], "a cell", "exec")
        except SyntaxError as problem:
            where, line = place(lesson, lines[cell.id]), problem.lineno
            text = f"line {line} of this cell is no Python: {problem.msg}."
            raise ReleaseError(f"{where}: {text}") from None
    for number, name in unbound(sources):
        where = place(lesson, lines[cells[number].id])
        text = f"this cell's code uses {name!r}, and no cell of the notebook imports or binds it."
        raise ReleaseError(f"{where}: {text}")
