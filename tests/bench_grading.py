"""Grade the same class with stock `nbgrader autograde` and with ours, and compare the seconds.

Both get the same honest submissions of real lessons, in turns, so that a busy moment of the
machine hits both. Stock is one command over the class of a lesson; ours is one command as well.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat

from autograder.course import Course, init
from autograder.repair import is_solution
from autograder.sample import alternative, answered

LESSONS = ["warm_up", "multi_head"]
LIMIT = 3600  # seconds for one command
FORKS = 10


def measure(submissions: int = 40, jobs: int = 2) -> dict[str, float | bool]:
    """Return seconds per submission of both graders, their ratios, and whether scores agree."""
    each = max(1, submissions // len(LESSONS))
    n = each * len(LESSONS)
    spent = {"stock": 0.0, "stock_parallel": 0.0, "ours": 0.0}
    equal = True
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        for lesson in LESSONS:
            made = {name: Path(folder) / f"{lesson}-{name}" for name in spent}
            course = a_class(Path(folder) / lesson, lesson, each)
            for root in made.values():
                shutil.copytree(course.root, root)
            spent["ours"] += seconds(ours(made["ours"], lesson, jobs))
            spent["stock"] += seconds(stock(made["stock"], lesson))
            halves = [stock(made["stock_parallel"], lesson, part) for part in split(each, jobs)]
            spent["stock_parallel"] += seconds(*halves)
            equal &= scores(made["ours"], lesson) == scores(made["stock"], lesson)
    return {
        "grading.submissions": n,
        "grading.seconds_stock": spent["stock"] / n,
        "grading.seconds_ours": spent["ours"] / n,
        "grading.ratio_stock": spent["stock"] / spent["ours"],
        "grading.ratio_stock_parallel": spent["stock_parallel"] / spent["ours"],
        "grading.sandbox_ms": sandbox_ms(),
        "grading.scores_equal": equal,
        "grading.load": os.getloadavg()[0],
    }


def a_class(root: Path, lesson: str, learners: int) -> Course:
    """Make a course in which everybody answers rightly, each in a notebook of one's own."""
    course = init(root, [lesson])
    course.prepare(lesson)
    for number in range(learners):
        work = (alternative if number % 2 else answered)(lesson)
        for cell in work.cells:  # else equal notebooks would be run once only
            if is_solution(cell) and cell.cell_type == "code":
                cell.source += f"\n# learner {number}"
        folder = course.path("submitted", f"learner_{number:03}", lesson)
        folder.mkdir(parents=True)
        (folder / f"{lesson}.ipynb").write_text(nbformat.writes(work), encoding="utf-8")
    return course


def split(learners: int, parts: int) -> list[str]:
    """Share the class out by a pattern each that nbgrader's --student understands."""
    digits = [range(10)[part::parts] for part in range(parts)]
    return [f"learner_*[{''.join(map(str, part))}]" for part in digits if part[0] < learners]


def ours(root: Path, lesson: str, jobs: int) -> tuple[list[str], Path]:
    command = [sys.executable, "-m", "autograder", "grade", str(root), lesson, "--jobs", str(jobs)]
    return command, Path(__file__).parents[1]


def stock(root: Path, lesson: str, students: str = "*") -> tuple[list[str], Path]:
    """Return nbgrader's own command, and the folder to run it in."""
    bin_ = Path(sys.executable).parent
    return [str(bin_ / "nbgrader"), "autograde", lesson, f"--student={students}"], root


def seconds(*commands: tuple[list[str], Path]) -> float:
    """Run commands at the same time; return how long it took until all had ended."""
    paths = [str(Path(sys.executable).parent), os.environ["PATH"]]
    env = {**os.environ, "PATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    env["PYTHONPATH"] = str(Path(__file__).parents[1])
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    start = time.perf_counter()
    running = [subprocess.Popen(command, cwd=cwd, env=env, **quiet) for command, cwd in commands]
    ended = [process.wait(timeout=LIMIT) for process in running]
    spent = time.perf_counter() - start
    if any(ended):
        raise RuntimeError(f"{commands[0][0][:4]} ended with the codes {ended}")
    return spent


def scores(root: Path, lesson: str) -> dict[str, float]:
    with Course(root).gradebook() as gradebook:
        return {s.student.id: s.score for s in gradebook.assignment_submissions(lesson)}


def sandbox_ms() -> float:
    """Return the milliseconds a sandbox takes, from asking for it to its answer and its end."""
    from autograder.wall.start import Wall

    spent = []
    with Wall(LESSONS[0]) as wall:
        for _ in range(FORKS):
            start = time.perf_counter()
            with wall.fork() as sandbox:
                sandbox.ask(60, do="cell", code="None")
            spent.append(time.perf_counter() - start)
    return 1000 * statistics.median(spent)


def report(figures: dict[str, float | bool]) -> None:
    """Print the figures as sentences."""
    g = {name.removeprefix("grading."): value for name, value in figures.items()}
    print(f"{g['seconds_stock']:7.2f} s  a submission, stock nbgrader autograde")
    print(f"{g['seconds_ours']:7.2f} s  a submission, ours, with repair, saving and feedback")
    print(f"{g['ratio_stock']:7.1f} x  faster; {g['ratio_stock_parallel']:.1f} x two stock at once")
    print(f"{g['sandbox_ms']:7.0f} ms for a sandbox, made and removed")
    print(f"the scores are {'equal' if g['scores_equal'] else 'NOT EQUAL'}")
