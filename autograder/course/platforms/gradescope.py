"""Gradescope, "Export Submissions": folders `submission_123`, and `submission_metadata.yml`.

The yml says of each folder who handed it in (several for a group) and when. The one that lies
outermost counts: a learner may hand in a file of that name too.
"""

from datetime import datetime
from pathlib import PurePosixPath

from autograder.course.arrivals import Arrival
from autograder.course.names import clean
from autograder.course.platforms.label import Label, Learner

FILE = "submission_metadata.yml"
MOST = 20_000_000  # bytes


def labels(arrivals):
    found: dict[PurePosixPath, Label] = {}
    lists = [a for a in arrivals if a.path.name == FILE and a.size <= MOST]
    for arrival in sorted(lists, key=lambda a: len(a.path.parts)):
        for name, facts in _read(arrival).items():
            people = _people(facts)
            at = arrival.path.parent / str(name)
            if people and at.parent == arrival.path.parent:  # a name, and not a way elsewhere
                when = facts.get(":created_at")
                when = when if isinstance(when, datetime) else None
                made = Label("Gradescope", people, when=when, at=at, root=arrival.path)
                found.setdefault(at, made)
    return found


def _read(arrival: Arrival) -> dict:
    import yaml

    try:
        data = yaml.load(arrival.read(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except Exception:  # a file of that name that Gradescope did not write
        return {}
    return data if isinstance(data, dict) else {}


def _people(facts) -> tuple[Learner, ...]:
    listed = facts.get(":submitters") if isinstance(facts, dict) else None
    made = []
    for person in listed if isinstance(listed, list) else []:
        if not isinstance(person, dict):
            continue
        facts = {k: str(v).strip() for k, v in person.items() if v is not None}
        ids = tuple(facts[k] for k in (":sid", ":email") if facts.get(k))
        name = facts.get(":name", "")
        if key := clean((ids or (name,))[0]):
            made.append(Learner(key, ids, name))
    return tuple(made)
