"""Platforms that write on a submission whose it is, one file each; and which of them to believe.

The outermost name that a platform wrote wins: what lies below it is the learner's own. A name may
look like two platforms': then it is that of the platform which more of its neighbours look like.
Directly in what was given a name counts by itself. Further inside it might be a learner's, so
there it counts only if the whole download is laid in that way.
"""

from collections import Counter
from dataclasses import dataclass
from pathlib import PurePosixPath

from autograder.course.arrivals import LAID_BY_GIT, Arrival
from autograder.course.platforms import (
    blackboard,
    brightspace,
    canvas,
    github,
    gradescope,
    moodle,
    nbgrader,
)
from autograder.course.platforms.label import Label

PLATFORMS = (gradescope, nbgrader, github, moodle, brightspace, blackboard, canvas)


def platform_labels(arrivals: list[Arrival], alone: bool) -> dict[PurePosixPath, Label]:
    """Return the label of every file that lies below, or is, something that a platform named."""
    found = [platform.labels(arrivals) for platform in PLATFORMS]
    votes = [_votes(labels) for labels in found]
    outermost = {a.path: _outermost(a, found, votes) for a in arrivals}
    first = {path: label for path, label in outermost.items() if label}

    def level(arrival: Arrival) -> int:
        label = first[arrival.path]
        offset = len(arrival.given.parts) if alone else 0
        return len(label.root.parts) - 1 - offset

    labelled = [a for a in arrivals if a.path in first]
    outer = {a.path: first[a.path] for a in labelled if level(a) <= 0}
    if outer:
        return outer
    works = [a for a in arrivals if a.is_notebook or a.is_zip]
    ways = {(first[a.path].platform, level(a)) if a.path in first else None for a in works}
    if len(ways) == 1 and None not in ways:
        return {a.path: first[a.path] for a in labelled}
    return {}


@dataclass
class _Votes:
    """How many names in each folder look like a platform's, and how many people they name."""

    names: Counter
    people: Counter


def _votes(labels: dict[PurePosixPath, Label]) -> _Votes:
    people = {(at.parent, label.learners) for at, label in labels.items()}
    return _Votes(Counter(at.parent for at in labels), Counter(place for place, _ in people))


def _outermost(arrival: Arrival, found: list[dict], votes: list[_Votes]) -> Label | None:
    for place in (*reversed(arrival.path.parents), arrival.path):
        here = [
            (count.names[place.parent], count.people[place.parent], len(labels[place].file), label)
            for labels, count in zip(found, votes, strict=True)
            if (label := labels.get(place))
        ]
        if here:
            return max(here, key=lambda each: each[:3])[-1]
    return None


def is_platforms_own(arrival: Arrival) -> bool:
    """Say whether a file is the platform's, not a learner's."""
    return arrival.path.name == gradescope.FILE or arrival.path.parts[-2:] == LAID_BY_GIT
