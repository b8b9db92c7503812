"""What exists behind the wall: the course without this lesson's answers, and without the checks."""

import shutil
from pathlib import Path

from autograder.checks.exercise_file import bodies
from autograder.errors import WallError
from autograder.lessons import files
from autograder.repository import EXERCISES, ROOT, order
from solutions.ground import follow, mentioned_files

CARRIED = ("seam", "wall/within")  # the folders that go behind the wall
STUB = '''"""Stands for the autograder while a notebook is graded: the checks run elsewhere."""


def check(*_, **__):
    """Do nothing: the grader looks through the wall itself."""
'''
PUZZLE = '''"""Stands for the pictures of "which line" questions, which no grade needs."""


def puzzle(lesson):
    """Draw nothing."""
'''


def reference_modules(lesson: str) -> set[str]:
    """Return the modules whose objects a lesson's exercise file names: "multi_head", ..."""
    return {body.module.removeprefix("solutions.") for body in bodies(lesson)}


def hidden_modules(lesson: str) -> set[str]:
    """Return this lesson's and all later lessons' reference modules; earlier ones stay."""
    lessons = order()
    at = lessons.index(lesson)
    earlier = set().union(*map(reference_modules, lessons[:at]))
    return set().union(*map(reference_modules, lessons[at:])) - earlier


def trains(lesson: str) -> bool:
    """Say whether an optimiser is used in a lesson: by its text, its checks or its reference."""
    own = [EXERCISES / f"{lesson}.md", *files(lesson)]
    text = "".join(path.read_text(encoding="utf-8") for path in own)
    used = follow(mentioned_files(text), ROOT)
    code = [*own, *(path for path in used if path.suffix == ".py")]
    return any("optim" in path.read_text(encoding="utf-8") for path in code)


def hide(answers: Path) -> None:
    """Remove a file of answers, or fail aloud: one that is elsewhere would be read by learners."""
    if not answers.is_file():
        raise WallError(
            f"solutions/{answers.name} was to be hidden and is not there: an exercise file names "
            "an object of it. Have the exercise file name the object where it is."
        )
    answers.unlink()


def furnish(folder: Path, lesson: str) -> None:
    """Write the packages `autograder` (a stub) and `solutions` (what may be seen) into a folder."""
    stub = folder / "autograder"
    stub.mkdir(parents=True)
    (stub / "__init__.py").write_text(STUB, encoding="utf-8")
    (stub / "puzzle.py").write_text(PUZZLE, encoding="utf-8")
    skip = shutil.ignore_patterns("__pycache__", "*.pyc")
    (stub / "wall").mkdir()
    shutil.copy(ROOT / "autograder" / "wall" / "__init__.py", stub / "wall")
    for name in CARRIED:
        shutil.copytree(ROOT / "autograder" / name, stub / name, ignore=skip)
    hidden = hidden_modules(lesson)
    shutil.copytree(ROOT / "solutions", folder / "solutions", ignore=skip)
    for module in hidden:
        hide(folder / "solutions" / f"{module}.py")
    shutil.rmtree(folder / "solutions" / "experiments", ignore_errors=True)  # they name answers
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
