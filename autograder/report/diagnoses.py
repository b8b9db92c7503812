"""Read what the cards in the graded notebooks say; count it for the class.

A card is data from the learner's process: only names that the lesson knows are taken from it.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import nbformat

from autograder.checks.card import MIME
from autograder.checks.cells import is_check, question_of
from autograder.checks.question import Exercise
from autograder.checks.result import UNCOUNTED, UNTRIED
from autograder.course.course import Course
from autograder.course.submission import as_dict
from autograder.lessons import load


@dataclass
class Diagnosis:
    """What the class did with one question."""

    name: str
    points: float
    shares: list[float] = field(default_factory=list)  # of the points, one for each learner
    failed: Counter = field(default_factory=Counter)  # part -> learners
    slips: Counter = field(default_factory=Counter)  # slip -> learners
    untried: int = 0  # nothing to try: no answer, or one that does not run
    unnamed: int = 0  # wrong, and no known slip fits

    @property
    def mean(self) -> float | None:
        return sum(self.shares) / len(self.shares) if self.shares else None


def slip_texts(question) -> dict[str, str]:
    """Return what each known mistake of a question is, by its name."""
    if isinstance(question, Exercise):
        return {slip.name: slip.text for slip in question.slips}
    gap = re.compile(r"\{[^}]*\}")  # a value the learner measured
    texts = {k: v.replace("{whose}", "your") for k, v in question.answers.items()}
    return {f"{question.name} = {k}": gap.sub("…", v) for k, v in texts.items()}


def diagnose(course: Course, lesson: str, students: list[str]) -> list[Diagnosis]:
    """Count parts and slips from the cards, points from the gradebook."""
    questions = load(lesson).questions
    made = {q.name: Diagnosis(q.name, q.points) for q in questions}
    for student in students:
        path = course.path("autograded", student, lesson) / f"{lesson}.ipynb"
        if not path.exists():
            continue
        cards = _cards(path)
        for question in questions:
            _count(made[question.name], question, cards.get(question.name))
    with course.gradebook() as gradebook:
        for submission in gradebook.assignment_submissions(lesson):
            if submission.student.id in students:
                for notebook in submission.notebooks:
                    for grade in notebook.grades:
                        name = question_of(grade.name)
                        if name in made and grade.max_score:
                            made[name].shares.append(grade.score / grade.max_score)
    return list(made.values())


def _cards(path) -> dict[str, dict | None]:
    """Return the data of the card below each check."""
    found = {}
    for cell in nbformat.reader.reads(path.read_text(encoding="utf-8")).cells:  # we wrote it
        if not is_check(cell):
            continue
        name = question_of(cell.metadata.nbgrader.grade_id)
        cards = [as_dict(o.get("data")).get(MIME) for o in cell.get("outputs", [])]
        found[name] = next((card for card in cards if isinstance(card, dict)), None)
    return found


def _count(diagnosis: Diagnosis, question, card: dict | None) -> None:
    if card is None:
        diagnosis.unnamed += 1  # timed out, or crashed
        return
    parts = list(question.parts) if isinstance(question, Exercise) else [UNTRIED]
    listed: Any = card.get("parts") if isinstance(card.get("parts"), list) else []
    listed = [as_dict(part) for part in listed]
    failed = [
        p.get("name") for p in listed if not p.get("passed") and p.get("found") not in UNCOUNTED
    ]
    diagnosis.failed.update(name for name in parts if name in failed)
    diagnosis.untried += UNTRIED in failed and UNTRIED not in parts
    slips: Any = card.get("slips") if isinstance(card.get("slips"), list) else []
    known = {name for name in slips if isinstance(name, str) and name in slip_texts(question)}
    diagnosis.slips.update(known)
    diagnosis.unnamed += bool(failed) and not known
