"""The table of what came of every fixture, kept in OUTCOMES.md."""

import json
from pathlib import Path

from .case import Case

OUTCOMES = Path(__file__).with_name("OUTCOMES.md")
STOCK = Path(__file__).with_name("stock.json")  # made by tests/bench/outcomes.py
HEAD = """\
# What comes of each submission

Every row is a fixture of this folder. Ours: graded behind the wall by
`tests/wall/test_fair_under_fire.py`. Stock: what `nbgrader autograde` {version} makes of the same
file, by its own command in a throwaway sandbox without a network (`python -m tests.bench
outcomes`); "got where it must not" means that the fixture read or wrote what is not its own there.
The machine-marked questions of `warm_up` are worth 90 points; no score is not a score of zero.
Written by the test: `UPDATE=1 python -m pytest tests/wall/test_fair_under_fire.py`.
"""


def table(groups: dict[str, list[Case]], found: dict[str, tuple]) -> str:
    """Return the page: one table a group, with the score and the status that were found."""
    stock = json.loads(STOCK.read_text(encoding="utf-8"))
    parts = [HEAD.format(version=stock["nbgrader"])]
    for title, cases in groups.items():
        lines = [
            f"## {title}",
            "",
            "| case | what is tried | stock nbgrader | ours |",
            "|---" * 4 + "|",
        ]
        for case in cases:
            score, status = found[case.name][:2]
            shown = "no score" if score is None else f"{score:g}"
            theirs = stock["cases"].get(case.name, "not measured")
            lines.append(f"| `{case.name}` | {case.about} | {theirs} | {shown}, {status} |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)
