"""A made-up class to try the grader on: right, wrong, broken and lost submissions."""

import ast
import json
import shutil
import textwrap
from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.checks.cells import is_solution, short
from autograder.checks.question import Choice, Exercise, Lesson
from autograder.checks.slips import Slip, span
from autograder.course.course import Course, init
from autograder.errors import CourseError
from autograder.lessons import load
from autograder.release.notebooks import author, release
from autograder.release.solution import BEGIN, END

MARKER = ".demo"  # lies in a folder that the demo made and may therefore wipe
LOOP = """\
    import time
    start = time.monotonic()
    while time.monotonic() - start < 60:  # meant to end, but not soon
        pass
"""
# other right ways to write a few of the answers
ALTERNATIVES = {
    "softmax": "def softmax(x, dim):\n    return (x - torch.logsumexp(x, dim, keepdim=True)).exp()",
    "weighted_average": "def weighted_average(weights, values):\n"
    "    return torch.einsum('...ts,...sc->...tc', weights, values)",
    "one_hot_rows": "def one_hot_rows(ids, n):\n"
    "    return torch.nn.functional.one_hot(ids, n).float()",
    "split_heads": "def split_heads(x, n_head):\n    return torch.stack(x.chunk(n_head, -1), -3)",
    "merge_heads": "def merge_heads(x):\n    return torch.cat(list(x.unbind(-3)), -1)",
}


def answered(lesson: str) -> NotebookNode:
    """Return the released notebook with the reference answers written in, as a learner has it."""
    authored = author(lesson)
    made = release(authored)
    for cell, full in zip(made.cells, authored.cells, strict=True):
        if is_solution(cell):
            lines = [line for line in full.source.splitlines() if line.strip() not in (BEGIN, END)]
            cell.source = "\n".join(lines)
    return made


def cell_of(notebook: NotebookNode, name: str) -> NotebookNode:
    return next(c for c in notebook.cells if is_solution(c) and short(c.id) == name)


def with_slips(lesson: str, *slips: Slip) -> NotebookNode:
    """Return the answered notebook with these slips made in it."""
    made = answered(lesson)
    for slip in slips:
        cell = cell_of(made, slip.where.__qualname__.split(".")[0])
        start, end = span(cell.source, slip.where.__qualname__)
        lines = cell.source.splitlines(keepends=True)
        body = "".join(lines[start:end]).replace(slip.old, slip.new)
        cell.source = "".join([*lines[:start], body, *lines[end:]])
    return made


def pair_of_slips(exercise: Exercise) -> tuple[Slip, ...]:
    """Return two slips of one exercise that can be made at once."""
    first = exercise.slips[0]
    others = (s for s in exercise.slips if s.old not in first.old and first.old not in s.old)
    return (first, *[other for other in others][:1])


def alternative(lesson: str) -> NotebookNode:
    made = answered(lesson)
    for cell in made.cells:
        if is_solution(cell):
            cell.source = ALTERNATIVES.get(short(cell.id), cell.source)
    return made


def wrong_choices(lesson: str) -> NotebookNode:
    """Answer every question with letters wrongly, and leave the last function unwritten."""
    made, empty = answered(lesson), release(author(lesson))
    for question in load(lesson).questions:
        if isinstance(question, Choice):
            letter = next(k for k in question.answers if k != question.right)
            cell_of(made, question.name).source = f'{question.name} = "{letter}"'
    last = load(lesson).exercises[-1].name
    cell_of(made, last).source = cell_of(empty, last).source
    return made


def twice(lesson: str) -> NotebookNode:
    """Copy the first answer's cell, label and all; the copy is empty and stands last."""
    made, empty = answered(lesson), release(author(lesson))
    made.cells.append(nbformat.from_dict(cell_of(empty, load(lesson).exercises[0].name)))
    return made


def stripped(lesson: str) -> NotebookNode:
    """Do what Colab does: ids go into the metadata, the rest of it is lost, outputs come."""
    made = answered(lesson)
    for number, cell in enumerate(made.cells):
        label = cell.id if number % 2 else f"c0lab{number}"
        cell.metadata = nbformat.from_dict({"id": label, "colab": {}})
        del cell["id"]
        if cell.cell_type == "code":
            cell.outputs = [nbformat.v4.new_output("stream", text="an old output\n")]
    made.nbformat_minor = 0
    made.metadata = nbformat.from_dict(
        {"colab": {"provenance": []}, "kernelspec": {"name": "python3", "display_name": "Python 3"}}
    )
    return made


def endless(lesson: str) -> NotebookNode:
    """Let the first function, or the first method where there is none, wait before it answers."""
    made = answered(lesson)
    exercises = load(lesson).exercises
    functions = [e for e in exercises if not isinstance(e.reference, type)]
    cell = cell_of(made, (functions or exercises)[0].name)
    nodes = ast.walk(ast.parse(cell.source))
    function = next(n for n in nodes if isinstance(n, ast.FunctionDef))
    first = function.body[0]
    at = first.end_lineno if ast.get_docstring(function) else first.lineno - 1
    lines = cell.source.splitlines(keepends=True)
    wait = textwrap.indent(textwrap.dedent(LOOP), " " * first.col_offset)
    cell.source = "".join([*lines[:at], wait, *lines[at:]])
    return made


def misspelt(lesson: str) -> NotebookNode:
    made = answered(lesson)
    cell = cell_of(made, _second(load(lesson)).name)
    cell.source = cell.source.replace(":\n", "\n", 1)
    return made


def _second(lesson: Lesson) -> Exercise:
    """Return the second exercise, or the only one."""
    return lesson.exercises[:2][-1]


def _slips(*wanted: tuple[Exercise, int]) -> list[Slip]:
    """Return a slip of each exercise: the one of that number, or the last where there are fewer."""
    each = {exercise.name: exercise.slips[: number + 1][-1] for exercise, number in wanted[::-1]}
    return list(each.values())[::-1]


def learners(lesson: str) -> list[Callable[[], NotebookNode | bytes | None]]:
    """Return the class: what each hands in; bytes for a file that is no notebook, None for none."""
    exercises = load(lesson).exercises
    first, second, last = exercises[0], _second(load(lesson)), exercises[-1]
    return [
        lambda: answered(lesson),
        lambda: alternative(lesson),
        lambda: with_slips(lesson, *_slips((first, 0))),
        lambda: with_slips(lesson, *_slips((first, 0), (second, 0))),
        lambda: with_slips(lesson, *_slips((first, 3), (last, 0))),
        lambda: with_slips(lesson, *_slips((second, 1))),
        lambda: with_slips(lesson, *pair_of_slips(first)),
        lambda: wrong_choices(lesson),
        lambda: release(author(lesson)),
        lambda: twice(lesson),
        lambda: stripped(lesson),
        lambda: endless(lesson),
        lambda: misspelt(lesson),
        lambda: nbformat.writes(answered(lesson)).encode()[:2000],
        lambda: None,
    ]


def hand_in(course: Course, lesson: str) -> list[str]:
    """Put the class's work on one lesson into submitted/; return the learners' names."""
    names = []
    for number, make in enumerate(learners(lesson), start=1):
        name, work = f"learner_{number:02}", make()
        names.append(name)
        with course.gradebook() as gradebook:
            gradebook.update_or_create_student(name)
        if work is None:
            continue
        folder = course.path("submitted", name, lesson)
        folder.mkdir(parents=True, exist_ok=True)
        data = work if isinstance(work, bytes) else json.dumps(work).encode()
        renamed = isinstance(work, NotebookNode) and "colab" in work.metadata
        file = f"Copy of {lesson}.ipynb" if renamed else f"{lesson}.ipynb"
        (folder / file).write_bytes(data)
    return names


def fresh_course(root: Path, lessons: list[str] | None = None) -> Course:
    """Make a course with the sample class in it; wipe only what an earlier demo made."""
    if root.exists() and any(root.iterdir()):
        if not (root / MARKER).exists():
            raise CourseError(f"{root} was not made by the demo and is left alone. Name another.")
        shutil.rmtree(root)
    course = init(root, lessons)
    (course.root / MARKER).write_text("The demo made this folder and may wipe it.\n")
    for lesson in course.lessons:
        hand_in(course, lesson)
    return course
