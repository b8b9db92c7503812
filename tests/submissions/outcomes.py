"""The table of what came of every fixture, kept in OUTCOMES.md."""

from pathlib import Path

from .case import Case

OUTCOMES = Path(__file__).with_name("OUTCOMES.md")
HEAD = """\
# What comes of each submission

Every row is a fixture of this folder, graded behind the wall by `tests/test_fair_under_fire.py`.
The machine-marked questions of `warm_up` are worth 90 points; no score is not a score of zero.
Written by the test: `UPDATE=1 python -m pytest tests/test_fair_under_fire.py`.
"""


def table(groups: dict[str, list[Case]], found: dict[str, tuple]) -> str:
    """Return the page: one table a group, with the score and the status that were found."""
    parts = [HEAD]
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
            lines.append(
                f"| `{case.name}` | {case.about} | not measured here | {shown}, {status} |"
            )
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)
