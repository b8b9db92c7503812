"""Make notebooks from `exercises/*.md` and the reference, through nbgrader's own preprocessors.

An exercise file names objects; their source is taken from `solutions`. The authored notebook
holds the reference answers between nbgrader's markers; the released one has empty bodies.
"""

import ast
import importlib
import inspect
import re
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.checks.cells import Check, check_id, check_text
from autograder.checks.question import Choice, Conclusion, Exercise, Lesson
from autograder.checks.slips import source_of
from autograder.lessons import load
from autograder.release.gpu_runtime import gpu_metadata, trains
from autograder.release.setup_cell import FOLDED, setup_text
from autograder.repository import EXERCISES, colab, order

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
STEPS = "LockCells ClearSolutions ClearOutput ClearHiddenTests ComputeChecksums CheckCellMetadata"
TOTAL = 100


class ReleaseError(ValueError):
    """An exercise file that cannot be released; the text says where and why."""


def author(lesson: str) -> NotebookNode:
    """Return a lesson's notebook with the reference answers in it."""
    from myst_nb.core.read import read_myst_markdown_notebook

    path = EXERCISES / f"{lesson}.md"
    notebook = read_myst_markdown_notebook(path.read_text(encoding="utf-8"))
    cells = [_authored(cell, load(lesson)) for cell in notebook.cells]
    setup = _cell("code", setup_text(lesson, trains(cells)), f"{lesson}-setup", locked=True)
    setup.metadata.update(FOLDED)
    cells.insert(1, setup)
    cells[0].source = _with_badge(cells[0].source, lesson)
    made = nbformat.v4.new_notebook(cells=cells, metadata=_metadata(cells))
    _verify_ids(made, lesson)
    _verify_points(made, load(lesson))
    nbformat.validate(made)
    return made


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
    return {
        lesson: write(release(author(lesson)), EXERCISES / f"{lesson}.ipynb") for lesson in order()
    }


def _metadata(cells: list[NotebookNode]) -> NotebookNode:
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}, **gpu_metadata(cells)}
    return nbformat.from_dict(metadata)


def _with_badge(text: str, lesson: str) -> str:
    title, _, rest = text.partition("\n")
    badge = f"[Open this notebook in Colab]({colab(f'exercises/{lesson}.ipynb')})"
    return f"{title}\n\n{badge}\n{rest}"


def _cell(kind: str, source: str, name: str, **roles: Any) -> NotebookNode:
    """Make a cell with a stable id and, where it has a role, nbgrader's metadata."""
    cell = getattr(nbformat.v4, f"new_{kind}_cell")(source=source, id=_id(name))
    if roles:
        points = {"points": roles["points"]} if "points" in roles else {}
        cell.metadata["nbgrader"] = {
            "grade": roles.get("grade", False),
            "solution": roles.get("solution", False),
            "locked": roles.get("locked", False),
            "task": False,
            "grade_id": _id(name),
            "schema_version": 3,
            **points,
        }
    return cell


def _id(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:60].strip("-")


def _authored(cell: NotebookNode, lesson: Lesson) -> NotebookNode:
    """Turn one cell of an exercise file into a cell of the notebook, by what it names."""
    meta, prefix = cell.metadata, lesson.name
    if "solution" in meta:
        name, source = solution_text(meta["solution"])
        return _cell("code", source, f"{prefix}-{name}", solution=True)
    if "answer" in meta:
        source = _answer_text(lesson, meta["answer"])
        return _cell("code", source, f"{prefix}-{meta['answer']}", solution=True)
    if "check" in meta:
        return _check_cell(lesson, meta["check"], meta.get("points"))
    if "written" in meta:
        source = f"{BEGIN}\n{cell.source}\n{END}"
        options = {"grade": True, "solution": True, "points": meta["points"]}
        return _cell("markdown", source, f"{prefix}-{meta['written']}", **options)
    if "exercise" in meta:
        text = f"{cell.source}\n\n{_worth(lesson[meta['exercise']], meta)}"
        return _cell("markdown", text, f"{prefix}-{meta['exercise']}-task")
    name = meta.get("name") or _first_words(cell.source)
    if cell.cell_type == "markdown":
        return _cell("markdown", cell.source, f"{prefix}-text-{name}")
    made = _cell("code", cell.source, f"{prefix}-{name}", locked=True)
    made.metadata["tags"] = list(meta.get("tags", []))
    return made


def _first_words(text: str) -> str:
    return "-".join(re.findall(r"[A-Za-z0-9]+", text)[:5]).lower() or "empty"


def _check_cell(lesson: Lesson, name: str, points: Any) -> NotebookNode:
    worth = lesson[name].points
    if points != worth:
        raise ReleaseError(f"{lesson.name}: {name} is worth {worth} points, the file says {points}")
    source = check_text(Check(lesson.name, name, points))
    roles = {"grade": True, "locked": True, "points": points}
    return _cell("code", source, check_id(lesson.name, name), **roles)


def _worth(question: Exercise | Choice | Conclusion, meta: dict) -> str:
    """Return the line under a task: what it is worth, how hard it is, how the points fall."""
    line = (
        f"**{question.points} points · difficulty {meta['difficulty']} of 5 · "
        f"about {meta['minutes']} minutes**"
    )
    if isinstance(question, Exercise):
        line += "  \nPoints for: " + ", ".join(f"{k} {v}" for k, v in question.parts.items()) + "."
    return line


def _answer_text(lesson: Lesson, name: str) -> str:
    question = lesson[name]
    letters = ", ".join(f'"{k}"' for k in question.answers)
    right = question.right if isinstance(question, Choice) else _concluded(lesson.name, name)
    return f'# {question.name} = one of {letters}\n{BEGIN}\n{question.name} = "{right}"\n{END}'


@cache  # the experiment is run once, however many notebooks are made
def _concluded(lesson: str, name: str) -> str:
    return reference_conclusion(load(lesson)[name])


def reference_conclusion(question: Conclusion) -> str:
    """Return the conclusion that the reference's own result supports."""
    from autograder.seam.probe import observe

    own = {m.__name__: m for m in question.measures}
    return question.decide(observe(own, question.probe, question.inputs))


def solution_text(dotted: str) -> tuple[str, str]:
    """Return an object's name and its source, with markers around each body to be written.

    "solutions.multi_head.split_heads" marks a function's body; a method's name gives the whole
    class with that body marked; several methods of one class may be named, with commas.
    """
    methods = [d.strip() for d in dotted.split(",")]
    module_name, name, *_ = _split_dotted(methods[0])
    module = importlib.import_module(module_name)
    source = inspect.getsource(getattr(module, name))
    assert source in source_of(module)
    for method in methods:
        source = _marked(source, _split_dotted(method)[1:])
    return name, source.rstrip("\n")


def _split_dotted(dotted: str) -> list[str]:
    package, module, *rest = dotted.split(".")
    return [f"{package}.{module}", *rest]


def _marked(source: str, path: list[str]) -> str:
    """Put the markers right after the docstring of the function at `path`, and after its body."""
    nodes = ast.parse(source).body
    for part in path:
        node = next(n for n in nodes if getattr(n, "name", None) == part)
        nodes = node.body
    docstring = node.body[0]
    if ast.get_docstring(node) is None:
        raise ReleaseError(f"{'.'.join(path)} has no docstring: it is the exercise text")
    lines = source.splitlines()
    indent = " " * docstring.col_offset
    start, end = docstring.end_lineno, node.end_lineno
    marked = [*lines[:start], indent + BEGIN, *lines[start:end], indent + END, *lines[end:]]
    return "\n".join(marked)


def _verify_ids(notebook: NotebookNode, lesson: str) -> None:
    ids = [cell.id for cell in notebook.cells]
    twice = {i for i in ids if ids.count(i) > 1}
    if twice:
        raise ReleaseError(
            f"{lesson}: two cells have the id {sorted(twice)[0]!r}: name one of them"
        )


def _verify_points(notebook: NotebookNode, lesson: Lesson) -> None:
    roles = [cell.metadata.get("nbgrader", {}) for cell in notebook.cells]
    total = sum(role.get("points", 0) for role in roles)
    if total != TOTAL:
        raise ReleaseError(f"{lesson.name}: the points sum to {total}, not to {TOTAL}")
    checked = {role["grade_id"] for role in roles if role.get("grade")}
    missing = [n for n in lesson.names if check_id(lesson.name, n) not in checked]
    if missing:
        raise ReleaseError(f"{lesson.name}: no check cell for {', '.join(missing)}")
