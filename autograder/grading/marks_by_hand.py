"""The marks and comments that a human gave: they stand for as long as the answer does.

nbgrader asks for a new look whenever a submission is saved again, also where a check was corrected,
a limit changed, or the learner's new attempt has the same answer. And a gradebook can be lost.
So whenever marks are read they are also kept in marks.json, with a digest of the answer each was
given to: the written one, or for an appeal the code that the check is about.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import nbformat

from autograder.checks.cells import is_graded, is_solution, question_of
from autograder.course.course import Course
from autograder.course.scores import comments_given, marks_given, saved_scores
from autograder.errors import CourseError
from solutions.whole_file import whole_file

MARKS_FILE = "marks.json"


@dataclass
class Mark:
    """What a human gave to one cell; the score is None where there is only a comment."""

    score: float | None = None
    extra: float | None = None
    comment: str | None = None
    answer: str = ""  # a digest of what was marked
    again: bool = False  # the answer has changed since: a human is asked to look again


class Marks:
    """All marks of one lesson: learner -> cell -> mark."""

    def __init__(self, course: Course, lesson: str):
        self.course, self.lesson = course, lesson
        self.kept = _everything(course).get(lesson, {})
        self.marks = {s: {c: Mark(**m) for c, m in of.items()} for s, of in self.kept.items()}
        self.absent: list[str] = []  # marks that the file has and the gradebook has not

    def read(self, gradebook) -> None:
        """Take over what stands in the gradebook; what it lacks is not forgotten."""
        self.absent = []
        given = _given(gradebook, self.lesson)
        for student in saved_scores(gradebook, self.lesson):
            before, found = self.marks.get(student, {}), given.get(student, {})
            self._name_answers(student, found, before)
            lacking = [
                name
                for name, mark in before.items()
                if mark.score is not None and found.get(name, Mark()).score is None
            ]
            for name in set(lacking) & set(found):  # its comment is still there
                found[name] = replace(before[name], comment=found[name].comment)
            self.absent += [f"{student}, {question_of(name)}" for name in lacking]
            if found:
                self.marks[student] = {**before, **found}

    def _name_answers(self, student: str, found: dict[str, Mark], before: dict[str, Mark]) -> None:
        """Note which answer each mark was given to: as it stands, unless that is known already."""
        answers = None
        for name, mark in found.items():
            old = before.get(name, Mark())
            if mark.score is None:
                continue
            if old.answer and old.score == mark.score and (mark.again or not old.again):
                mark.answer, mark.again = old.answer, old.again
                continue
            if answers is None:
                answers = dict(_answers(self.course, self.lesson, student))
            # one that waits, and of which nothing is known, was given to an earlier answer
            mark.answer = "" if mark.again else answers.get(name, "")

    def write(self) -> None:
        """Write the file, if anything in it is new."""
        data = {s: {c: asdict(m) for c, m in of.items()} for s, of in self.marks.items() if of}
        if data == self.kept:
            return
        path = self.course.root / MARKS_FILE
        everything = {**_everything(self.course), self.lesson: data}
        with whole_file(path) as part:
            part.touch(mode=0o600)
            part.write_text(json.dumps(everything, indent=1), encoding="utf-8")
        self.kept = data

    def let_stand(self, student: str, gradebook, lost: bool) -> None:
        """Ask nobody to mark again what is still the same; put back what the gradebook lost."""
        mine = self.marks.get(student)
        if not mine:
            return
        answers = dict(_answers(self.course, self.lesson, student))
        submission = gradebook.find_submission(self.lesson, student)
        for notebook in submission.notebooks:
            for grade in notebook.grades:
                mark = mine.get(grade.name)
                if mark is None or mark.score is None:
                    continue
                if lost:
                    grade.manual_score, grade.extra_credit = mark.score, mark.extra
                elif grade.manual_score is None:  # taken back, or never here
                    continue
                mark.again = not mark.answer or answers.get(grade.name) != mark.answer
                grade.needs_manual_grade = mark.again
            for comment in notebook.comments if lost else []:
                mark = mine.get(comment.name)
                if mark is not None and mark.comment:
                    comment.manual_comment = mark.comment


def keep_marks(course: Course) -> list[str]:
    """Keep the marks of all lessons; return those that the gradebook has not, but the file."""
    absent = []
    with course.gradebook() as gradebook:
        for lesson in course.lessons:
            marks = Marks(course, lesson)
            marks.read(gradebook)
            marks.write()
            absent += [f"{lesson}: {name}" for name in marks.absent]
    return absent


def _everything(course: Course) -> dict[str, Any]:
    path = course.root / MARKS_FILE
    if not path.exists():
        return {}
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise CourseError(
            f"{path} is damaged. Put back a copy; or remove it, and it is written anew from the "
            "gradebook."
        ) from None


def _given(gradebook, lesson: str) -> dict[str, dict[str, Mark]]:
    """Return what a human gave, by learner and cell; `again` where nbgrader asks for a new look."""
    found: dict[str, dict[str, Mark]] = {}
    for student, name, score, extra, waits in marks_given(gradebook, lesson):
        found.setdefault(student, {})[name] = Mark(score, extra, again=bool(waits))
    for student, name, comment in comments_given(gradebook, lesson):
        found.setdefault(student, {}).setdefault(name, Mark()).comment = comment
    return found


def _answers(course: Course, lesson: str, student: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each graded cell, and a digest of the answer it is about."""
    path = course.path("autograded", student, lesson) / f"{lesson}.ipynb"
    if not path.exists():
        return
    cells = nbformat.reader.reads(path.read_text(encoding="utf-8")).cells  # we wrote it
    code = "\n".join(c.source for c in cells if c.cell_type == "code")
    texts = {c.metadata.nbgrader.grade_id: c.source for c in cells if is_solution(c)}
    for cell in cells:
        if is_graded(cell):
            name = cell.metadata.nbgrader.grade_id
            # an answer that stands in no cell of its own is somewhere in the code
            own = texts.get(name, texts.get(f"{lesson}-{question_of(name)}", code))
            yield name, hashlib.sha256(own.encode("utf-8", "replace")).hexdigest()
