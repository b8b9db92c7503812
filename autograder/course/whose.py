"""Say whose a file is, and for which lesson: as a platform wrote it, else as people did.

What a platform wrote comes first (platforms/), then the names that people gave (by_hand.py). People
who share a name are kept apart, and joined by a roster only.
"""

from dataclasses import replace
from pathlib import PurePosixPath

from autograder.course.arrivals import Arrival
from autograder.course.by_hand import innermost, read_by_hand
from autograder.course.lesson_names import lesson_of
from autograder.course.names import clean, code
from autograder.course.platforms import is_platforms_own, platform_labels
from autograder.course.platforms.label import Label
from autograder.course.roster import Roster
from autograder.course.work import ROSTER, Work


def labelled(
    arrivals: list[Arrival], lessons: list[str], notes: list[str], roster: Roster | None = None
) -> list[Work]:
    """Say of every file whose it is; people of one name keep the platform's numbers."""
    alone = len({arrival.given for arrival in arrivals}) == 1
    labels = platform_labels(arrivals, alone)
    files = [a for a in arrivals if not is_platforms_own(a)]
    works = [w for a in files if a.path in labels for w in _works(a, labels[a.path], lessons)]
    plain = [a for a in files if a.path not in labels]
    if roster is None:
        return [*_numbered(works, notes), *read_by_hand(plain, lessons, alone)]
    works += read_by_hand(plain, lessons, alone, roster.known)
    return [each for work in works for each in _enrolled(work, roster)]


def _enrolled(work: Work, roster: Roster) -> list[Work]:
    """Give a work to the one whom the roster knows, and to the group; else bar it."""
    if work.barred:
        return [work]
    student, reason = work.student, "not in the roster"
    if work.learner:
        person, reason = roster.find(work.learner)
        student = person.key if person else None
    if student is None or not (work.learner or work.by):
        barred = bool(work.student)
        return [replace(work, barred=barred, doubt=reason if barred else work.doubt)]
    return [
        replace(work, student=key, by=ROSTER, source=PurePosixPath(key), doubt="")
        for key in roster.companions(student)
    ]


def _works(arrival: Arrival, label: Label, lessons: list[str]) -> list[Work]:
    """Return the work of everybody who handed this in: a group has several."""
    file = label.file if arrival.path == label.at and label.file else arrival.path.name
    lesson = label.lesson or lesson_of(file, arrival.path, lessons, arrival.zips)[1]
    foreign = label.account and arrival.owner not in ("", label.account)
    return [
        Work(
            arrival,
            learner.key,
            lesson,
            by=label.platform,
            label=label,
            learner=learner,
            doubt=f"the folder belongs to {arrival.owner}" if foreign else "",
            barred=bool(foreign),
            source=PurePosixPath(f"{learner.key}_{label.number}" if label.number else learner.key),
        )
        for learner in label.learners
    ]


def _numbered(works: list[Work], notes: list[str]) -> list[Work]:
    """Add the platform's numbers to the names of people who share one."""
    shared = _namesakes(works)
    for (_, name), numbers in shared.items():
        told = ", ".join(sorted(numbers))
        notes.append(
            f"{name}: two or more of this name; the platform's numbers tell them apart ({told}), "
            "and may be others in every assignment. A roster would know them: --roster."
        )
    return [
        replace(w, student=clean(f"{w.student}_{_label(w).number}"))
        if (_label(w).at.parent, w.student) in shared
        else w
        for w in works
    ]


def _label(work: Work) -> Label:
    """Return what a platform wrote about a work that came from one."""
    assert work.label is not None
    return work.label


def _namesakes(works: list[Work]) -> dict[tuple[PurePosixPath, str | None], set[str]]:
    """Return the names under which one lesson was handed in by several of a platform's numbers."""
    lessons: dict[tuple, dict[str, set]] = {}
    for work in works:
        if number := _label(work).number:
            numbers = lessons.setdefault((_label(work).at.parent, work.student), {})
            numbers.setdefault(number, set()).add(work.lesson)
    found = {}
    for key, numbers in lessons.items():
        known = [lesson for of in numbers.values() for lesson in (of - {None} or {None})]
        if len(numbers) > 1 and (None in known or len(set(known)) < len(known)):
            found[key] = set(numbers)
    return found


def kept_apart(downloads: list[list[Work]], notes: list[str]) -> list[list[Work]]:
    """Give works of one learner and lesson names of their own where their sources differ."""
    sources: dict[tuple, set[PurePosixPath]] = {}
    for work in (w for works in downloads for w in works):
        if work.student and work.lesson and work.arrival.is_notebook:
            sources.setdefault((work.student, work.lesson), set()).add(work.source)
    shared: dict[str, set[PurePosixPath]] = {}
    for (student, _), found in sources.items():
        if len(several := innermost(found)) > 1:
            shared.setdefault(student, set()).update(several)
    names: dict[tuple[str | None, PurePosixPath], str] = {}
    for student, several in shared.items():
        plain = [clean(str(source)) for source in several]  # "doe/monday": doe_monday
        for source, name in zip(several, plain, strict=True):
            assert name is not None  # the learner's name, which is not empty, is a part of it
            # not a running number: it would be another one when others hand in
            twice = f"_{code(str(source))}" if plain.count(name) > 1 else ""
            names[student, source] = name + twice
        shown = ", ".join(f"{names[student, source]} ({source})" for source in sorted(several))
        notes.append(
            f"{student}: different works of one lesson, kept apart as different people's: {shown}. "
            "If it is one person, remove these from submitted/ and collect only the right file."
        )

    def own(work: Work) -> Work:
        around = [f for f in (work.source, *work.source.parents) if (work.student, f) in names]
        return replace(work, student=names[work.student, around[0]]) if around else work

    return [[own(work) for work in works] for works in downloads]
