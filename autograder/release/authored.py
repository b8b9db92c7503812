"""One block of an exercise file as a cell of the notebook, reference answer and all."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.checks.cells import Check, check_id, check_text
from autograder.checks.exercise_file import place, text_of
from autograder.checks.question import Choice, Conclusion, Exercise, Lesson
from autograder.errors import ReleaseError, UnknownLesson
from autograder.lessons import load, nearest
from autograder.release.solution import BEGIN, END, solution_text
from autograder.seam.probe import observe
from autograder.seam.wire import Raised

# what may stand above a block's text, and what each of these must have beside it
OPTIONS = {
    "code": ["solution", "answer", "check", "points", "name", "tags"],
    "markdown": ["exercise", "difficulty", "minutes", "written", "points", "name"],
}
BESIDE = {"check": ["points"], "exercise": ["difficulty", "minutes"], "written": ["points"]}


@dataclass(frozen=True)
class Block:
    """A cell as the exercise file has it, and the line on which it begins."""

    lesson: Lesson
    cell: NotebookNode
    line: int

    def wrong(self, text: str, option: str = "") -> ReleaseError:
        """Say what is wrong with a block, and on which line."""
        return ReleaseError(f"{place(self.lesson.name, self.line_of(option))}: {text}")

    def line_of(self, option: str) -> int:
        below = text_of(self.lesson.name).splitlines()[self.line : self.line + 10]
        lines = [n for n, text in enumerate(below, self.line + 1) if text.startswith(f":{option}:")]
        return lines[0] if lines and self.cell.cell_type == "code" else self.line

    def question(self, option: str) -> Exercise | Choice | Conclusion:
        """Return the question that an option names."""
        try:
            return self.lesson[self.cell.metadata[option]]
        except UnknownLesson as problem:
            raise self.wrong(str(problem), option) from None

    def verify(self) -> None:
        """Refuse options that are unknown, and those that lack a number beside them."""
        meta, kind = self.cell.metadata, self.cell.cell_type
        for option in meta:
            if option not in OPTIONS[kind]:
                hint = nearest(option, OPTIONS[kind])
                raise self.wrong(f"{_written(option, kind)} is no option of a cell. {hint}", option)
        for option, others in BESIDE.items():
            for other in others if option in meta else ():
                name = f"{_written(option, kind)} {meta[option]}"
                if other not in meta:
                    raise self.wrong(f"{name} has no {_written(other, kind)} beside it.", option)
                if type(meta[other]) is not int:
                    told = f"{_written(other, kind)} {meta[other]!r} is no whole number."
                    raise self.wrong(told, other)


def _written(option: str, kind: str) -> str:
    return f"`:{option}:`" if kind == "code" else f'`"{option}":`'


def authored(block: Block) -> NotebookNode:
    """Turn one block of an exercise file into a cell of the notebook, by what it names."""
    block.verify()
    cell, meta, prefix = block.cell, block.cell.metadata, block.lesson.name
    if "solution" in meta:
        try:
            name, source = solution_text(str(meta["solution"]))
        except ReleaseError as problem:
            raise block.wrong(str(problem), "solution") from None
        return new_cell("code", source, f"{prefix}-{name}", solution=True)
    if "answer" in meta:
        source = _answer_text(block)
        return new_cell("code", source, f"{prefix}-{meta['answer']}", solution=True)
    if "check" in meta:
        return _check_cell(block)
    if "written" in meta:
        source = f"{BEGIN}\n{cell.source}\n{END}"
        options = {"grade": True, "solution": True, "points": meta["points"]}
        return new_cell("markdown", source, f"{prefix}-{meta['written']}", **options)
    if "exercise" in meta:
        text = f"{cell.source}\n\n{_worth(block.question('exercise'), meta)}"
        return new_cell("markdown", text, task_id(prefix, meta["exercise"]))
    name = meta.get("name") or _first_words(cell.source)
    if cell.cell_type == "markdown":
        return new_cell("markdown", cell.source, f"{prefix}-text-{name}")
    made = new_cell("code", cell.source, f"{prefix}-{name}", locked=True)
    made.metadata["tags"] = list(meta.get("tags", []))
    return made


def task_id(lesson: str, question: str) -> str:
    return f"{lesson}-{question}-task"


def new_cell(kind: str, source: str, name: str, **roles: Any) -> NotebookNode:
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


def _first_words(text: str) -> str:
    return "-".join(re.findall(r"[A-Za-z0-9]+", text)[:5]).lower() or "empty"


def _check_cell(block: Block) -> NotebookNode:
    question, points = block.question("check"), block.cell.metadata["points"]
    if points != question.points:
        text = f"{question.name} is worth {question.points} points, the file says {points}."
        raise block.wrong(text, "points")
    lesson = block.lesson.name
    roles = {"grade": True, "locked": True, "points": points}
    source = check_text(Check(lesson, question.name, points))
    return new_cell("code", source, check_id(lesson, question.name), **roles)


def _worth(question: Exercise | Choice | Conclusion, meta: dict) -> str:
    """Return the line under a task: what it is worth, how hard it is, how the points fall."""
    line = (
        f"**{question.points} points · difficulty {meta['difficulty']} of 5 · "
        f"about {meta['minutes']} minutes**"
    )
    if isinstance(question, Exercise):
        line += "  \nPoints for: " + ", ".join(f"{k} {v}" for k, v in question.parts.items()) + "."
    return line


def _answer_text(block: Block) -> str:
    question = block.question("answer")
    if isinstance(question, Exercise):
        text = f"{question.name} is answered with code: write `:solution:` instead of `:answer:`."
        raise block.wrong(text, "answer")
    letters = ", ".join(f'"{k}"' for k in question.answers)
    if isinstance(question, Choice):
        right = question.right
    else:
        try:
            right = _concluded(block.lesson.name, question.name)
        except ReleaseError as problem:
            raise block.wrong(str(problem), "answer") from None
    return f'# {question.name} = one of {letters}\n{BEGIN}\n{question.name} = "{right}"\n{END}'


@cache  # the experiment is run once, however many notebooks are made
def _concluded(lesson: str, name: str) -> str:
    question = load(lesson)[name]
    assert isinstance(question, Conclusion)
    return reference_conclusion(question)


def reference_conclusion(question: Conclusion) -> str:
    """Return the conclusion that the reference's own result supports."""
    own = {m.__name__: m for m in question.measures}
    measured = observe(own, question.probe, question.inputs)
    if not isinstance(measured, dict):
        why = f"{measured.type_name}: {measured.text}" if isinstance(measured, Raised) else measured
        raise ReleaseError(f"The experiment of {question.name} measures nothing: {why}")
    right = question.decide(measured)
    if right not in question.answers:
        raise ReleaseError(f"{question.name} concludes {right!r}, which is none of its answers.")
    return right
