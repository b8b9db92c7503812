"""What marking finds: runs of an answer, parts with their points, what the learner is told."""

from dataclasses import dataclass, field
from typing import Any

from autograder.checks.question import Case

UNTRIED = "answer"  # stands for all parts where there is nothing to try; lettered answers have it
NOT_ALONE = "as it should be, but it counts only beside another part that is right"
NOT_REACHED = "not reached: the code fails before"
UNCOUNTED = (NOT_ALONE, NOT_REACHED)  # parts that get no points and are not wrong by themselves


@dataclass
class Part:
    """One named property of an answer, what it is worth and what was found."""

    name: str
    points: float
    passed: bool
    found: str = ""
    tried: list[str] = field(default_factory=list)


@dataclass
class Result:
    """The marks for one question and everything a learner is told."""

    lesson: str
    name: str
    points: float
    parts: list[Part]
    slips: list[str] = field(default_factory=list)  # names, for the class report
    reasons: list[str] = field(default_factory=list)  # sentences, for the learner
    pictures: tuple[Any, Any] | None = None  # (expected, got), two tensors of one shape
    with_reference: list[str] = field(default_factory=list)  # earlier answers put right

    @property
    def score(self) -> float:
        return float(sum(part.points for part in self.parts if part.passed))

    @property
    def passed(self) -> bool:
        return all(part.passed for part in self.parts)


@dataclass(frozen=True)
class Run:
    """One case as it was run: its inputs, what the reference gives, what the answer gave."""

    case: Case
    inputs: tuple
    expected: Any
    got: Any
    key: tuple  # what tells this case and draw from all others

    @property
    def seed(self) -> Any:
        """Return what the inputs were drawn from."""
        return self.key[-2]
