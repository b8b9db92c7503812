"""A file that was handed in, with whose it is and for which lesson."""

from dataclasses import dataclass
from pathlib import PurePosixPath

from autograder.course.arrivals import TOP, Arrival
from autograder.course.platforms.label import Label, Learner


@dataclass(frozen=True)
class Work:
    """An arrival, and as far as its names tell: whose it is, and for which lesson."""

    arrival: Arrival
    student: str | None
    lesson: str | None
    by: str = ""  # who says so: a platform's name or "roster"; nothing: a name that people wrote
    doubt: str = ""  # why it may be somebody else's
    barred: bool = False  # the doubt keeps it from being taken
    label: Label | None = None  # what a platform wrote
    learner: Learner | None = None
    said: str = ""  # the learner, if the file's name tells
    folders: tuple[PurePosixPath, ...] = ()  # around it, from the outside, which may be a learner's
    folder: PurePosixPath | None = None  # which gave the name; None: a file's name or a platform
    source: PurePosixPath = TOP  # the name as it was written, then the other folders around it

    @property
    def age(self) -> tuple:
        """Return what sorts the versions of one work: the platform's order, else their dates."""
        label, arrival = self.label, self.arrival
        when = label.when.timestamp() if label and label.when else arrival.when
        return label.upload if label else 0, when, arrival.again, str(arrival.path)

    @property
    def origin(self) -> str:
        """Return what a platform tells two people of one name apart by."""
        return f"{self.by} {self.label.number}".strip() if self.label else self.by
