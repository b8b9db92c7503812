"""A file that was handed in, with whose it is and for which lesson."""

from dataclasses import dataclass
from pathlib import PurePosixPath

from autograder.course.arrivals import TOP, Arrival
from autograder.course.platforms.label import Label, Learner

ROSTER = "roster"


@dataclass(frozen=True)
class Work:
    """An arrival, and as far as its names tell: whose it is, and for which lesson."""

    arrival: Arrival
    student: str | None
    lesson: str | None
    by: str = ""  # who says so: a platform's name or ROSTER; nothing: a name that people wrote
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
        upload = self.label.upload if self.label else 0
        return upload, self.when, self.arrival.again, str(self.arrival.path)

    @property
    def when(self) -> float:
        """Return when it was handed in, or its file was written."""
        moment = self.label.when if self.label else None
        return moment.timestamp() if moment else self.arrival.when

    @property
    def origin(self) -> str:
        """Return what a platform tells two people of one name apart by."""
        number = self.label.number if self.label and self.by == self.label.platform else ""
        return f"{self.by} {number}".strip()
