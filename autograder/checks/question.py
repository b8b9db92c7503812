"""What a lesson's checks are made of: exercises and their cases, choices, conclusions."""

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from torch import Tensor

from autograder.checks.draw import Draw
from autograder.checks.slips import Slip
from autograder.lessons import UnknownLesson, nearest
from autograder.seam.probe import call

VISIBLE = "visible"  # the seed of the cases a learner sees
GRADIENT, ARGUMENTS = "gradient", "arguments left alone"
# what of an observation counts for a part of its own, where an exercise has that part
ROUTES = {
    "gradients": GRADIENT,
    "parameter gradients": GRADIENT,
    "gradient error": GRADIENT,
    "inputs": ARGUMENTS,
}


@dataclass(frozen=True)
class Case:
    """One situation the code is tried in: which part it counts for, and what it is about."""

    part: str
    about: str
    draw: Callable[[Draw], tuple]
    probe: Callable = call

    def inputs(self, name: str, seed: Any, number: int) -> tuple:
        return (name, *self.draw(Draw(seed, name, self.part, self.about, number)))


@dataclass(frozen=True)
class Exercise:
    """A function or class to write; points per named part; the reference says what is right."""

    reference: Callable
    parts: dict[str, int]
    cases: list[Case]
    slips: list[Slip] = field(default_factory=list)
    equivalent: dict[str, str] = field(default_factory=dict)  # mutant -> why it is right too

    @property
    def name(self) -> str:
        return self.reference.__name__

    @property
    def points(self) -> int:
        return sum(self.parts.values())

    @property
    def module(self) -> ModuleType:
        return sys.modules[self.reference.__module__]

    def uses(self, names: list[str]) -> list[str]:
        """Return those of `names` that the reference's own text reads."""
        tree = ast.parse(textwrap.dedent(inspect.getsource(self.reference)))
        read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        return [name for name in names if name in read]


@dataclass(frozen=True)
class Choice:
    """A question with lettered answers; each answer says why it is right or wrong."""

    name: str
    points: int
    right: str
    answers: dict[str, str]


@dataclass(frozen=True)
class Puzzle:
    """A picture made by a wrong line: the table of numbers and the names of its axes."""

    table: Tensor
    title: str
    rows: str
    columns: str
    sums: bool = False  # write the sum of each row and column beside the table


@dataclass(frozen=True)
class Conclusion:
    """A question about an experiment, graded against the learner's own result.

    A conclusion that fits the reference's result is right too: code that is broken cost already.
    `probe(own, *inputs)` runs the small recipe with the learner's code and returns a dict of what
    it measured; `decide(measured)` is the letter that this result supports. An answer's text may
    name the measured values in braces, and {whose} result it is ("your" or "the reference's").
    """

    name: str
    points: int
    probe: Callable
    inputs: tuple
    decide: Callable[[dict], str]
    answers: dict[str, str]
    measures: list[Callable] = field(default_factory=list)  # the exercises the recipe runs


@dataclass(frozen=True)
class Lesson:
    """One lesson's graded questions, in the notebook's order."""

    name: str
    questions: list[Exercise | Choice | Conclusion]

    def __getitem__(self, name: str) -> Exercise | Choice | Conclusion:
        for question in self.questions:
            if question.name == name:
                return question
        raise UnknownLesson(
            f"Lesson {self.name!r} has no {name!r}. {nearest(str(name), self.names)}"
        )

    @property
    def names(self) -> list[str]:
        return [q.name for q in self.questions]

    @property
    def exercises(self) -> list[Exercise]:
        return [q for q in self.questions if isinstance(q, Exercise)]
