"""A standard nbgrader course directory: make one, open one, talk to its gradebook."""

import os
import secrets
import shutil
import sys
import warnings
from functools import cached_property
from pathlib import Path

from autograder.course.lock import only_writer
from autograder.course.private import make_private
from autograder.course.releases import remember
from autograder.course.trouble import trouble
from autograder.errors import CourseError, UnknownLesson
from autograder.lessons import must_exist
from autograder.repository import order
from solutions.whole_file import whole_file

FOLDERS = ["source", "release", "submitted", "autograded", "feedback"]
CONFIG, SEED_FILE = "nbgrader_config.py", "seed"
COURSE_ID = "transformers"
CONFIG_TEXT = f'''\
# An nbgrader course: every `nbgrader` command and formgrader work from this folder.
# Made by `python -m autograder init`, which writes it only when it is not there.
import importlib.util
import os
from pathlib import Path

here = Path(__file__).resolve().parent
c = get_config()
c.CourseDirectory.course_id = "{COURSE_ID}"
c.CourseDirectory.root = str(here)
# wait for a lock instead of failing: formgrader may have the gradebook open
c.CourseDirectory.db_url = f"sqlite:///{{here / 'gradebook.db'}}?timeout=60"
c.Execute.timeout = 60  # seconds for one cell
# what learners wrote is shown without scripts, in feedback pages and in formgrader
if importlib.util.find_spec("autograder"):
    c.HTMLExporter.filters = {{"markdown2html": "autograder.feedback.harmless_markdown"}}
    c.HTMLExporter.exclude_raw = True
    # what handing in late costs, as deadlines.toml says
    c.AssignLatePenalties.plugin_class = "autograder.course.late_penalty.LatePenalty"

# The cases that learners do not see are drawn from this secret. With the stock `nbgrader
# autograde`, a learner's code could read it here; do not publish it, do not change it mid-term.
os.environ["AUTOGRADER_SEED"] = (here / "{SEED_FILE}").read_text().strip()
'''


def init(root: Path, lessons: list[str] | None = None) -> "Course":
    """Make a course directory, or refresh the sources of one; never touch seed or student data."""
    from autograder.release import notebooks  # with torch, which a grader imports later

    root = root.resolve()
    if root.exists() and not root.is_dir():
        raise CourseError(f"{root} is a file. Name a folder for the course.")
    if root.exists() and any(root.iterdir()) and not (root / CONFIG).is_file():
        raise CourseError(
            f"{root} holds other things and is no course. Name an empty or new folder."
        )
    # all of them first: an exercise file that cannot be released leaves no half-made folder
    made = {lesson: notebooks.author(lesson) for lesson in lessons or order()}
    if not (root / CONFIG).exists():  # the first file: by it a stopped init is known
        with whole_file(root / CONFIG) as part:
            part.write_text(CONFIG_TEXT, encoding="utf-8")
    for folder in FOLDERS:
        (root / folder).mkdir(exist_ok=True)
    _make_seed(root / SEED_FILE)
    course = Course(root)
    with only_writer(root, "init"):
        for lesson, notebook in made.items():
            path = root / "source" / lesson / f"{lesson}.ipynb"
            path.parent.mkdir(exist_ok=True)
            remember(course, lesson, first=not path.exists())  # what was handed out before
            notebooks.write(notebook, path)
            remember(course, lesson)
        course.gradebook().close()  # makes the file
        make_private(root, course.is_shared)
    return course


def _is_course(root: Path) -> bool:
    return (root / CONFIG).is_file() and (root / "source").is_dir()


def _make_seed(path: Path) -> None:
    if path.exists():
        return
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(secrets.token_hex(32) + "\n")


class Course:
    """An existing course directory."""

    def __init__(self, root: Path):
        self.root = root.resolve()
        if not _is_course(self.root):
            raise CourseError(
                f"{self.root} is no course: it has no {CONFIG} and source/. "
                "Make one with: python -m autograder init DIR"
            )
        # nbgrader starts `alembic` by name
        here = str(Path(sys.executable).parent)
        if here not in os.environ.get("PATH", "").split(os.pathsep):
            os.environ["PATH"] = os.pathsep.join([here, os.environ.get("PATH", "")])

    @property
    def config(self):
        """Read nbgrader_config.py as nbgrader does; this also sets the seed, so it is not kept."""
        from traitlets.config import PyFileConfigLoader

        _ = self.seed  # the file reads it too, and would say less clearly what is wrong
        try:
            return PyFileConfigLoader(CONFIG, path=str(self.root)).load_config()
        except Exception as problem:
            raise CourseError(f"{self.root / CONFIG} cannot be read: {problem}") from None

    @property
    def is_shared(self) -> bool:
        """Say whether a group works on this course, as nbgrader's `groupshared` has it."""
        return bool(self.config.CourseDirectory.get("groupshared", False))

    @property
    def lessons(self) -> list[str]:
        """Return the lessons of this course, in the order of the book."""
        return [n for n in order() if self._notebook("source", n).is_file()]

    @property
    def begun(self) -> set[str]:
        """Return the lessons that somebody has handed in, or that were graded before."""
        graded = self.root.glob("autograded/*/*/")
        return {p.name for p in [*graded, *self.root.glob("submitted/*/*/")]}

    @property
    def others(self) -> list[str]:
        """Return the assignments in source/ that are the instructor's own, for nbgrader alone."""
        here = {p.parent.name for p in self.root.glob("source/*/*.ipynb")}
        return sorted(here - set(order()))

    def lesson(self, name: str) -> str:
        """Make sure that a lesson exists, here and at all."""
        must_exist(name)
        if name not in self.lessons:
            raise UnknownLesson(
                f"The course has no lesson {name!r} yet. Add it with: "
                f"python -m autograder init {self.root}"
            )
        return name

    def path(self, step: str, student: str, lesson: str) -> Path:
        return self.root / step / student / lesson

    def gradebook(self):
        from nbgrader.api import Gradebook
        from sqlalchemy.exc import DatabaseError

        settings = self.config.CourseDirectory
        try:
            return Gradebook(settings.db_url, settings.course_id)
        except DatabaseError as problem:
            raise CourseError(
                trouble(problem, self.root)
                or f"{settings.db_url} cannot be opened: {problem.orig}. Put back a copy; or make "
                f"it anew, with all scores and marks: python -m autograder rebuild {self.root}"
            ) from None

    def convert(self, step: str, lesson: str, student: str = "*", **settings: dict) -> None:
        """Run one of nbgrader's converters; its log goes to nbgrader.log."""
        import nbgrader.converters
        from nbgrader.coursedir import CourseDirectory
        from sqlalchemy.exc import SAWarning
        from traitlets.config import Config

        config = Config(self.config)
        config[step].force = True
        for name, values in settings.items():
            for key, value in values.items():
                config[name][key] = value
        config.CourseDirectory.assignment_id = lesson
        config.CourseDirectory.student_id = student
        coursedir = CourseDirectory(config=config)
        converter = getattr(nbgrader.converters, step)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)  # nbgrader's own, about autoflush
            converter(coursedir=coursedir, config=config, log=self.log).start()

    @cached_property
    def log(self):
        import logging

        log = logging.getLogger(f"autograder.{self.root}")
        log.propagate = False
        log.setLevel(logging.WARNING)
        handler = logging.FileHandler(self.root / "nbgrader.log", delay=True, encoding="utf-8")
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        log.addHandler(handler)
        return log

    def prepare(self, lesson: str) -> None:
        """Have a lesson's release and its cells in the gradebook be those of its source."""
        from nbgrader.converters.base import NbGraderException

        source, released = self._notebook("source", lesson), self._notebook("release", lesson)
        with self.gradebook() as gradebook:
            known = lesson in [a.name for a in gradebook.assignments]
        fresh = released.exists() and released.stat().st_mtime >= source.stat().st_mtime
        remember(self, lesson)
        if known and fresh:
            return
        try:
            self.convert("GenerateAssignment", lesson, ".")
        except NbGraderException:
            raise CourseError(
                f"nbgrader could not release {lesson}; {self.root / 'nbgrader.log'} says why. "
                "If cells were added or removed after work was handed in, the gradebook must be "
                f"made anew: python -m autograder rebuild {self.root}"
            ) from None

    def source(self, lesson: str) -> Path:
        """Return the notebook from which a lesson is released and graded."""
        return self._notebook("source", lesson)

    def _notebook(self, step: str, lesson: str) -> Path:
        return self.root / step / lesson / f"{lesson}.ipynb"

    def released(self, lesson: str):
        import nbformat

        return nbformat.read(self._notebook("release", lesson), as_version=4)

    def students(self) -> list[str]:
        """Return everybody who is in the gradebook or has a folder in submitted/."""
        with self.gradebook() as gradebook:
            names = {student.id for student in gradebook.students}
        folders = self.root.glob("submitted/*/")
        return sorted(names | {f.name for f in folders if f.name[0] != "."})

    @property
    def results(self) -> Path:
        """Return where the results of runs behind the wall are kept, by content."""
        return self.root / "results"

    @property
    def seed(self) -> str:
        """Return the instructor's secret, from which hidden cases are drawn."""
        path = self.root / SEED_FILE
        secret = path.read_text(encoding="utf-8").strip() if path.is_file() else ""
        if not secret:
            raise CourseError(
                f"{path} is missing or empty, and hidden cases are drawn from it. Put it back; or "
                f"remove it, and python -m autograder init {self.root} makes a new one."
            )
        return secret

    def forget(self, lesson: str, student: str, repaired: bool = True, gradebook=None) -> None:
        """Take back a submission's automatic marks and pages; marks by a human are kept."""
        from nbgrader.api import MissingEntry

        for step in ("autograded", "feedback", *(["repaired"] if repaired else [])):
            shutil.rmtree(self.path(step, student, lesson), ignore_errors=True)
        with gradebook or self.gradebook() as gradebook:
            try:
                submission = gradebook.find_submission(lesson, student)
            except MissingEntry:
                return
            for notebook in submission.notebooks:
                for grade in notebook.grades:
                    grade.auto_score, grade.needs_manual_grade = None, True
            gradebook.db.commit()
