"""What was tried in a lesson and what falls short, as counts, sentences and a table."""

from collections import Counter
from dataclasses import dataclass, field

COUNTS = (
    *("exercises", "points", "cases", "slips", "slips_rejected", "slips_named", "alternatives"),
    *("alternatives_accepted", "mutants", "mutants_killed", "mutants_equivalent"),
)


@dataclass
class Report:
    """What was tried in one lesson, question by question, and what falls short."""

    lesson: str
    rows: dict[str, Counter] = field(default_factory=dict)
    shortfalls: list[str] = field(default_factory=list)

    def row(self, name: str) -> Counter:
        return self.rows.setdefault(name, Counter())

    def short(self, name: str, text: str) -> None:
        self.shortfalls.append(f"{self.lesson}.{name}: {text}")

    def add(self, other: "Report") -> None:
        self.rows |= other.rows
        self.shortfalls += other.shortfalls

    def total(self, count: str) -> int:
        return sum(row[count] for row in self.rows.values())

    def table(self) -> str:
        """Return one line per question, in columns."""
        checked = ("points", "cases", "slips", "rejected", "named", "right", "accepted")
        heads = (*checked, "mutants", "killed", "same")
        counts = ("points", *COUNTS[2:8], *COUNTS[8:])
        width = max(len(name) for name in [*self.rows, self.lesson])
        lines = [f"{self.lesson:<{width}} " + " ".join(f"{head:>8}" for head in heads)]
        for name, row in self.rows.items():
            lines.append(f"{name:<{width}} " + " ".join(f"{row[c] or '.':>8}" for c in counts))
        lines.append(f"{'':<{width}} " + " ".join(f"{self.total(c):>8}" for c in counts))
        return "\n".join(lines)
