"""Show a result: a card in a notebook, plain text elsewhere, data for the class report."""

from dataclasses import asdict
from html import escape
from typing import Any

from torch import Tensor

from autograder.checks.markup import marked
from autograder.checks.result import UNCOUNTED, Result

MIME = "application/vnd.transformers-course.result+json"
MAX_CELLS = 12  # a heat map shows at most this many rows and columns
STYLE = (
    "font-family:system-ui,sans-serif;font-size:14px;line-height:1.45;max-width:46rem;"
    "border:1px solid #8884;border-left:5px solid {edge};border-radius:6px;padding:.6em 1em;"
    "margin:.5em 0"
)
GOOD, BAD = "#1a7f5a", "#b3541e"  # told apart by the signs too, not by colour alone


class Card:
    """A result as a notebook shows it."""

    def __init__(self, result: Result, graded: bool):
        self.result = result
        self.graded = graded

    def __str__(self) -> str:
        return as_text(self.result, self.graded)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {
            "text/plain": str(self),
            "text/html": as_html(self.result, self.graded),
            MIME: as_data(self.result),
        }


def as_data(result: Result) -> dict[str, Any]:
    """Return what the class report reads; no tensors."""
    data = asdict(result)
    del data["pictures"]
    return {**data, "score": result.score}


def headline(result: Result, graded: bool) -> str:
    word = "correct" if result.passed else "not yet"
    score = f"{result.score:g} of {result.points:g} points"
    return f"{result.name}: {word}" + (f", {score}" if graded or not result.passed else "")


def notes(result: Result) -> list[str]:
    """Return the sentences below the parts: reasons first, then what was put right."""
    lines = list(result.reasons)
    if len(result.slips) > 1:
        lines = [f"Two things at once. {lines[0]}", *lines[1:]]
    if result.with_reference:
        names = ", ".join(f"`{n}`" for n in result.with_reference)
        lines.append(
            f"Counted with the reference's {names} in place of yours, so that an earlier mistake "
            "does not cost twice. Mend that one first."
        )
    return lines


def as_text(result: Result, graded: bool) -> str:
    lines = [headline(result, graded)]
    for part in result.parts:
        sign = "ok " if part.passed else "-- "
        lines.append(f"  {sign}{part.name} ({part.points:g})" + _tail(part.found))
    lines += [f"  > {line}" for line in notes(result)]
    return "\n".join(lines)


def _tail(found: str) -> str:
    return f": {found}" if found else ""


def as_html(result: Result, graded: bool) -> str:
    edge = GOOD if result.passed else BAD
    rows = "".join(_part_html(part) for part in result.parts)
    why = "".join(f'<p style="margin:.5em 0 0">{marked(line)}</p>' for line in notes(result))
    maps = "" if result.passed or result.pictures is None else _maps_html(*result.pictures)
    title = f'<strong style="color:{edge}">{escape(headline(result, graded))}</strong>'
    return (
        f'<div class="check-card" role="status" style="{STYLE.format(edge=edge)}">{title}'
        f'<ul style="margin:.4em 0 0;padding-left:1.2em;list-style:none">{rows}</ul>'
        f"{why}{maps}</div>"
    )


def _part_html(part: Any) -> str:
    sign, colour = ("✓", GOOD) if part.passed else ("✗", BAD)
    sign = "–" if part.found in UNCOUNTED else sign
    return (
        f'<li><span style="color:{colour};font-weight:bold">{sign}</span> {escape(part.name)} '
        f'<span style="opacity:.7">({part.points:g})</span>{escape(_tail(part.found))}</li>'
    )


def _maps_html(expected: Tensor, got: Tensor) -> str:
    """Draw expected and got as two heat maps on one colour scale."""
    expected, got = (t[:MAX_CELLS, :MAX_CELLS].double() for t in (expected, got))
    finite = [t[t.isfinite()] for t in (expected, got)]
    most = max([float(t.abs().max()) for t in finite if t.numel()] or [1.0]) or 1.0
    tables = "".join(
        f'<figure style="margin:.6em 1.5em 0 0"><figcaption>{title}</figcaption>'
        f'<table style="border-collapse:collapse">{_map_rows(t, expected, most)}</table></figure>'
        for title, t in (("expected", expected), ("yours", got))
    )
    return f'<div style="display:flex;flex-wrap:wrap;overflow-x:auto">{tables}</div>'


def _map_rows(table: Tensor, expected: Tensor, most: float) -> str:
    return "".join(
        "<tr>" + "".join(_map_cell(x, e, most) for x, e in zip(row, line, strict=True)) + "</tr>"
        for row, line in zip(table.tolist(), expected.tolist(), strict=True)
    )


def _map_cell(x: float, expected: float, most: float) -> str:
    finite = abs(x) < float("inf")
    share = min(abs(x) / most, 1.0) if finite else 0.0
    colour = f"rgba({'31,119,180' if x >= 0 else '214,96,24'},{0.08 + 0.8 * share:.2f})"
    if not finite:
        colour = "#b3541e"
    differs = not (
        abs(x - expected) <= 1e-3 * most or x == expected or (x != x and expected != expected)
    )
    frame = "2px solid #b3541e" if differs else "1px solid #8883"
    return (
        f'<td style="background:{colour};border:{frame};width:3.2em;height:1.7em;'
        f'font-size:11px;text-align:center" title="{x:.6g}">{x:.3g}</td>'
    )
