"""What a platform wrote on a submission: whose it is, and what else it says."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePosixPath

from autograder.course.arrivals import TOP, Arrival


@dataclass(frozen=True)
class Learner:
    """A person as a platform names them: `key` is the folder's name, the others find a roster's."""

    key: str
    ids: tuple[str, ...] = ()
    name: str = ""


@dataclass(frozen=True)
class Label:
    """What the platform wrote; everything below `at` is the learner's own."""

    platform: str
    learners: tuple[Learner, ...]
    file: str = ""  # the learner's name for the file, where the platform put its own before it
    number: str = ""  # tells two people of one name apart
    upload: int = 0  # a later one is greater
    when: datetime | None = None  # without a zone: the platform's own
    late: bool | None = None  # the platform's word
    dated: bool = True  # the file's date is that of handing in, not that of the download
    lesson: str | None = None
    account: str = ""  # that must own the files: who writes into an exchange chooses the name
    at: PurePosixPath = TOP  # the folder or file that bears the label
    root: PurePosixPath = TOP  # what shows that the platform laid this: mostly the same


def by_name(
    arrivals: Iterable[Arrival], read: Callable[[str, bool], Label | None]
) -> dict[PurePosixPath, Label]:
    """Label folders and files by their names; `read` takes a name, and whether it is a file's."""
    found: dict[PurePosixPath, Label | None] = {}
    for arrival in arrivals:
        for place in (arrival.path, *arrival.path.parents[:-1]):
            if place not in found:
                is_file = place == arrival.path or place in arrival.zips
                label = read(place.name, is_file)
                found[place] = replace(label, at=place, root=place) if label else None
    return {place: label for place, label in found.items() if label}
