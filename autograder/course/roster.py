"""The roster: who is in the class, and by what names and numbers the platforms call them.

A table of one's own, or what Canvas (gradebook), Moodle (participants, grading worksheet) and
Gradescope export. It is kept in the course, and used again when none is named.
"""

import csv
import io
import re
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.course.course import Course
from autograder.course.names import clean, squeezed
from autograder.course.platforms.label import Learner
from autograder.errors import CourseError

KEPT = "roster.csv"
COLUMNS = {  # what we call it, and what others do
    "id": ("student id", "user id", "orgdefinedid", "org defined id", "id number"),
    "name": ("full name", "student", "student name", "display name"),
    "first name": ("firstname", "given name"),
    "last name": ("lastname", "surname"),
    "e-mail": ("email", "email address", "mail"),
    "sis id": ("sis user id", "sid"),
    "login": ("sis login id", "username", "user name", "login id", "netid"),
    "github": ("github username", "github login"),
    "also": ("also known as",),
    "identifier": (),  # Moodle's number of a participant
    "section": ("sections", "groups"),
    "extra days": ("extension", "extra_days"),
    "group": ("team",),
}
IDS = ("id", "sis id", "login", "e-mail", "github", "also", "identifier")
FIELDS = ("id", "name", "e-mail", "section", "extra days", "group", "also")  # of the kept one


@dataclass(frozen=True)
class Person:
    """Somebody in the class; `key` is their folder's name in the course."""

    key: str
    name: str = ""
    email: str = ""
    ids: tuple[str, ...] = ()
    section: str = ""
    extra_days: float = 0.0
    group: str = ""


class Roster:
    """Everybody in the class, to be found by any number or name that is theirs alone."""

    def __init__(self, people: list[Person], columns: set[str] | None = None):
        self.people, self.columns = people, columns or set()
        self._ids: dict[str, set[Person]] = {}
        self._names: dict[str, set[Person]] = {}
        for person in people:
            for one in (person.key, *person.ids, *([person.email] if person.email else [])):
                for spelt in {one, one.partition("@")[0]}:
                    self._ids.setdefault(spelt.strip().casefold(), set()).add(person)
            for name in _orders(person.name):
                self._names.setdefault(squeezed(name), set()).add(person)

    def find(self, learner: Learner) -> tuple[Person | None, str]:
        """Return who a platform's learner is; else nobody, and the reason."""
        numbered, number = self._numbered(learner)
        called, name = self._called(learner)
        if len(numbered) > 1:
            return None, f"two or more in the roster have {number}"
        if numbered and called and not numbered & called:  # numbers of different counts may agree
            return None, f"in the roster {number} is somebody else than {name}"
        if not numbered and len(called) > 1:
            return None, f"two or more in the roster are called {name}"
        found = numbered or called
        return (next(iter(found)), "") if found else (None, "not in the roster")

    def _numbered(self, learner: Learner) -> tuple[set[Person], str]:
        for one in learner.ids:
            if found := self._ids.get(one.strip().casefold()):
                return found, one
        return set(), ""

    def _called(self, learner: Learner) -> tuple[set[Person], str]:
        # Moodle puts a group before a name: "Group 1-Jane Doe"
        for name in (learner.name, *_tails(learner.name)):
            if squeezed(name) and (found := self._names.get(squeezed(name))):
                return found, name
        return set(), ""

    def known(self, name: str) -> str | None:
        """Return the key of the one whom a name or number means, as people write them."""
        person = self.find(Learner(name, (name,), name))[0] if name else None
        return person.key if person else None

    def companions(self, key: str) -> list[str]:
        """Return all whose work is one work with this learner's, the learner among them."""
        group = next((p.group for p in self.people if p.key == key), "")
        return [p.key for p in self.people if p.group == group] if group else [key]


def _orders(name: str) -> list[str]:
    """Return a name with the family's name last and first."""
    last, comma, first = name.partition(",")
    if comma:
        return [name, f"{first} {last}"]
    *given, family = name.split() or [""]
    return [name, f"{family} {' '.join(given)}"]


def _tails(name: str) -> list[str]:
    return [name[i + 1 :] for i, letter in enumerate(name) if letter == "-"]


def read_roster(path: Path) -> Roster:
    """Read a table with a header; say in a sentence what is wrong with it."""
    rows, header = _table(path)
    theirs = {_column(name): name for name in (rows[0] if rows else {}) if name}
    theirs.pop("", None)
    if not rows or not {"id", "name", "e-mail", "sis id", "login", "last name"} & set(theirs):
        raise CourseError(
            f"{path} is no roster: its first line needs id, name or e-mail. Found: {header[:100]!r}"
        )
    canvas = theirs.get("name", "").strip().lower() == "student"
    moodle = "identifier" in theirs
    if moodle and "group" in theirs:  # Moodle's are tutorials, and share no work
        theirs["section"] = theirs.pop("group")
    cells = [{ours: (row.get(name) or "").strip() for ours, name in theirs.items()} for row in rows]
    people = [p for row in cells if (p := _person(row, canvas, moodle, path))]
    return Roster(_told_apart(people, path), set(theirs))


def _table(path: Path) -> tuple[list[dict], str]:
    """Return the rows and the first line, whatever spreadsheet wrote them."""
    if not path.is_file():
        raise CourseError(f"{path} is not there.")
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("cp1252", "replace")  # as older spreadsheets write it
    header, *_ = text.splitlines() or [""]
    delimiter = max(",;\t", key=header.count)
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)), header


def _column(name: str) -> str:
    plain = " ".join(name.strip().strip('"').lower().replace("_", " ").split())
    return next((ours for ours, all_ in COLUMNS.items() if plain in (ours, *all_)), "")


def _person(row: dict[str, str], canvas: bool, moodle: bool, path: Path) -> Person | None:
    name = row.get("name") or f"{row.get('first name', '')} {row.get('last name', '')}".strip()
    ids = [row.get(kind, "") for kind in IDS]
    ids = [one for kind in ids for one in (kind.split(" | ") if kind else [])]
    if not (ids or name) or name in ("Points Possible", "Student, Test"):
        return None
    if canvas and row.get("id"):  # as Canvas calls the files
        key = clean(re.sub(r"[\W_]", "", name.lower()) + "_" + row["id"])
    elif moodle:
        key = clean(name)
    else:
        key = clean(row.get("id") or name or ids[0])
    group = row.get("group", "")
    try:
        extra = float((row.get("extra days") or "0").replace(",", "."))
    except ValueError:
        raise CourseError(
            f"{path}: extra days of {name or key} must be a number, not {row['extra days']!r}."
        ) from None
    section = row.get("section", "")
    return (
        Person(key, name, row.get("e-mail", ""), tuple(ids), section, extra, group) if key else None
    )


def _told_apart(people: list[Person], path: Path) -> list[Person]:
    """Give people of one name keys of their own."""
    made, keys = [], [p.key for p in people]
    for person in people:
        if keys.count(person.key) > 1:
            others = [one for one in (*person.ids, person.email) if one and one != person.key]
            if not others:
                raise CourseError(
                    f"{path}: two or more are {person.key}, and nothing tells them apart."
                )
            key = clean(f"{person.key}_{others[0]}")
            assert key is not None  # it begins with one that is clean
            person = replace(person, key=key)
        made.append(person)
    return made


def keep_roster(course: Course, roster: Roster) -> None:
    """Write the roster into the course, readable as a roster."""
    path = course.root / KEPT
    path.touch(mode=0o600)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(FIELDS)
        for p in roster.people:
            extra, also = f"{p.extra_days:g}", " | ".join(p.ids)
            table.writerow([p.key, p.name, p.email, p.section, extra, p.group, also])


def carried(roster: Roster, before: Roster | None) -> Roster:
    """Keep the extra days and groups of the roster before, where the new one has no such column."""
    old = {p.key: p for p in before.people} if before else {}
    people = []
    for person in roster.people:
        known = old.get(person.key, person)
        extra = person.extra_days if "extra days" in roster.columns else known.extra_days
        group = person.group if "group" in roster.columns else known.group
        people.append(replace(person, extra_days=extra, group=group))
    return Roster(people, roster.columns)


def kept_roster(course: Course) -> Roster | None:
    path = course.root / KEPT
    return read_roster(path) if path.is_file() else None
