"""Write class_report.html: one file, nothing loaded from elsewhere, readable on a phone."""

from html import escape
from pathlib import Path
from urllib.parse import quote

from autograder.checks.markup import marked
from autograder.course.course import Course
from autograder.course.status import ALL, HUMAN, statuses
from autograder.lessons import load
from autograder.report.diagnoses import Diagnosis, diagnose, slip_texts
from autograder.report.export import Row, rows
from autograder.report.svg import histogram, meter
from autograder.running.side_by_side import UNCAPPED
from autograder.running.unprotected import UNPROTECTED
from solutions.whole_file import whole_file

HERE = Path(__file__).parent


def write(course: Course) -> Path:
    """Write the report on all lessons that have been graded."""
    parts = {}
    for lesson in course.lessons:
        found = rows(course, lesson)
        if any(row.score is not None for row in found):
            parts[lesson] = _lesson_html(course, lesson, found)
    body = "".join(parts.values())
    body = body or "<p>Nothing has been graded yet: python -m autograder grade DIR</p>"
    path = course.root / "class_report.html"
    with whole_file(path) as part:
        part.write_text(_page(_contents(list(parts)) + body), encoding="utf-8")
    return path


def _contents(lessons: list[str]) -> str:
    """Link to the lessons, where there is more than one."""
    links = " ".join(f'<a href="#{lesson}">{escape(lesson)}</a>' for lesson in lessons)
    return f"<nav>{links}</nav>" if len(lessons) > 1 else ""


def _page(body: str) -> str:
    style = (HERE / "report.css").read_text(encoding="utf-8")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>Class report</title><style>{style}</style></head>"
        f"<body><main><h1>Class report</h1>{body}</main></body></html>\n"
    )


def _lesson_html(course: Course, lesson: str, found: list[Row]) -> str:
    scored = [row for row in found if row.score is not None]
    diagnoses = diagnose(course, lesson, [row.student for row in scored])
    return (
        f'<section id="{lesson}"><h2>{escape(lesson)}</h2>{_unprotected(course, lesson)}'
        f"{_uncapped(course, lesson)}"
        f"{_summary(found, scored)}{_slips_html(lesson, diagnoses, len(scored))}"
        f"{_questions_html(diagnoses)}{_learners_html(course, lesson, found)}</section>"
    )


def _unprotected(course: Course, lesson: str) -> str:
    """Say so where learners' code ran outside the wall."""
    walled = [record.walled for record in statuses(course).get(lesson, {}).values()]
    if all(walled):
        return ""
    return f"<p><strong>{escape(UNPROTECTED)}</strong> ({walled.count(False)} submissions)</p>"


def _uncapped(course: Course, lesson: str) -> str:
    """Say so where memory had no cap that holds for all processes of a submission together."""
    capped = [record.capped for record in statuses(course).get(lesson, {}).values()]
    return "" if all(capped) else f"<p>{escape(UNCAPPED)} ({capped.count(False)} submissions)</p>"


def _summary(found: list[Row], scored: list[Row]) -> str:
    scores = sorted(row.score for row in scored if row.score is not None)
    middle = (scores[(len(scores) - 1) // 2] + scores[len(scores) // 2]) / 2
    counts = {fact: n for fact in ALL if (n := sum(fact in row.facts for row in found))}
    listed = ", ".join(f"{escape(status)}: {n}" for status, n in counts.items())
    text = (
        f"{len(scored)} of {len(found)} have a score; the median is {middle:g} of {found[0].max:g}"
    )
    if waiting := sum(HUMAN in row.facts for row in scored):
        text += f" ({waiting} with an answer that waits for a human)"
    shares = [row.score / row.max for row in scored if row.score is not None]
    chart = histogram(shares, "distribution of scores")
    caption = "<figcaption>learners by share of points</figcaption>"
    return f"<p>{text}.<br>{listed}.</p><figure>{chart}{caption}</figure>"


def _slips_html(lesson: str, diagnoses: list[Diagnosis], learners: int) -> str:
    """Draw which mistakes were made, the most frequent first."""
    counted = [(n, d.name, slip) for d in diagnoses for slip, n in d.slips.items()]
    items = []
    for n, question, slip in sorted(counted, key=lambda x: (-x[0], x[1], x[2])):
        bar = meter(n / learners, f"{n} of {learners} learners")
        items.append(
            f"<li><div class=row><strong>{escape(slip)}</strong> <code>{escape(question)}</code>"
            f"<span class=count>{n}</span></div>{bar}"
            f"<p>{marked(slip_texts(load(lesson)[question])[slip])}</p></li>"
        )
    unnamed = ", ".join(f"<code>{d.name}</code> {d.unnamed}" for d in diagnoses if d.unnamed)
    rest = f"<p>Wrong or empty in a way that is on no list: {unnamed}.</p>" if unnamed else ""
    body = (
        f"<ol class=slips>{''.join(items)}</ol>" if items else "<p>No known mistake was made.</p>"
    )
    return f"<h3>What was misunderstood</h3>{body}{rest}"


def _questions_html(diagnoses: list[Diagnosis]) -> str:
    body = []
    for d in diagnoses:
        mean = d.mean or 0.0
        bar = meter(mean, f"{100 * mean:.0f} %")
        failed = [("no answer that runs", d.untried)] if d.untried else []
        failed += sorted(d.failed.items(), key=lambda item: (-item[1], item[0]))
        listed = ", ".join(f"{escape(part)} {n}" for part, n in failed)
        body.append(
            f"<tr><td><code>{escape(d.name)}</code></td><td class=number>{100 * mean:.0f} %</td>"
            f"<td class=wide>{bar}</td><td>{listed or 'none'}</td></tr>"
        )
    head = (
        "<tr><th>exercise</th><th>mean</th><th></th><th>parts that fail, and for how many</th></tr>"
    )
    return (
        f"<h3>Exercise by exercise</h3><div class=scroll><table>{head}{''.join(body)}</table></div>"
    )


def _learners_html(course: Course, lesson: str, found: list[Row]) -> str:
    body = []
    for row in found:
        page = course.path("feedback", row.student, lesson) / f"{lesson}.html"
        name = escape(row.student)
        if page.exists():
            address = "/".join(quote(p) for p in page.relative_to(course.root).parts)
            name = f'<a href="{address}">{name}</a>'
        score = "–" if row.score is None else f"{row.score:g}"
        body.append(
            f"<tr><td>{name}</td><td class=number>{score}</td>"
            f"<td class=number>{escape(row.status)}</td><td>{escape(row.late)}</td>"
            f"<td>{marked(row.notes)}</td></tr>"
        )
    head = "<tr><th>learner</th><th>score</th><th>status</th><th>late</th><th>notes</th></tr>"
    return f"<h3>Learners</h3><div class=scroll><table>{head}{''.join(body)}</table></div>"
