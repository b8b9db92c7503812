"""Grade the same class with stock `nbgrader autograde` and with ours, and compare the seconds.

Both get the same honest submissions of real lessons. Ours runs before and after every run of
stock, and is compared by the mean of the two, so that a busy moment of the machine hits both.
Stock is one command over the class of a lesson; ours is one command as well.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import nbformat
import psutil

from autograder.checks.cells import is_solution
from autograder.course.course import Course, init
from autograder.course.sample import alternative, answered
from autograder.repository import ROOT
from autograder.running.walled import skippable

LESSONS = ["multi_head"]  # its notebook trains, like most
LARGE = "warm_up"  # for large classes: it is the quickest
STOCK = ("stock", "stock_parallel", "stock_skipping")
TURNS = ("ours", "stock", "ours", "stock_parallel", "ours", "stock_skipping", "ours")
LIMIT = 7200  # seconds for one command
FORKS = 20


def figures(submissions: int = 40, classes: tuple[int, int] = (50, 1000)) -> dict:
    """Return the comparison with stock nbgrader, and how cost and memory grow with the class."""
    return compared(submissions) | {"grading.sandbox_ms": sandbox_ms()} | grown(*classes)


def compared(submissions: int, jobs: int = 2) -> dict[str, float | bool]:
    """Return seconds per submission of both graders, their ratios, and whether scores agree."""
    each = max(1, submissions // len(LESSONS))
    n = each * len(LESSONS)
    spent: dict[str, list[Watch]] = {name: [] for name in TURNS}
    beside = dict.fromkeys(STOCK, 0.0)  # our seconds around each
    equal = True
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        for lesson in LESSONS:
            course = a_class(Path(folder) / lesson, lesson, each)
            took, found = [], []
            for at, name in enumerate(TURNS):
                root = Path(folder) / f"{lesson}-{at}"
                shutil.copytree(course.root, root)
                took.append(run(*commands(name, root, lesson, each, jobs)))
                spent[name].append(took[-1])
                found.append(scores(root, lesson))
            equal &= len(found[0]) == each and all(other == found[0] for other in found)
            for name in STOCK:
                at = TURNS.index(name)
                beside[name] += (took[at - 1].seconds + took[at + 1].seconds) / 2
    seconds, cpu = (
        {name: sum(getattr(w, what) for w in watches) for name, watches in spent.items()}
        for what in ("seconds", "cpu")
    )
    ours_runs = TURNS.count("ours")
    return {
        "grading.submissions": n,
        "grading.seconds_stock": seconds["stock"] / n,
        "grading.seconds_ours": seconds["ours"] / ours_runs / n,
        "grading.cpu_stock": cpu["stock"] / n,
        "grading.cpu_ours": cpu["ours"] / ours_runs / n,
        **{f"grading.ratio_{name}": seconds[name] / beside[name] for name in STOCK},
        "grading.scores_equal": equal,
        "grading.load": os.getloadavg()[0],
    }


def commands(
    name: str, root: Path, lesson: str, learners: int, jobs: int
) -> list[tuple[list[str], Path]]:
    """Return what to run at the same time for one way of grading a class."""
    if name == "ours":
        return [ours(root, lesson, jobs)]
    if name == "stock_parallel":
        return [stock(root, lesson, part) for part in split(learners, jobs)]
    if name == "stock_skipping":
        skip_demonstrations(root, lesson)
    return [stock(root, lesson)]


def grown(small: int, large: int, jobs: int = 2) -> dict[str, float]:
    """Return seconds a submission and the memory of all processes, for two sizes of a class."""
    lesson, found = LARGE, {}
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        for n in (small, large):
            watch = run(ours(a_class(Path(folder) / str(n), lesson, n).root, lesson, jobs))
            found[f"grading.seconds_{n}"] = watch.seconds / n
            found[f"grading.cpu_{n}"] = watch.cpu / n
            found[f"grading.memory_mb_{n}"] = watch.memory / 1e6
    return found


class Watch(threading.Thread):
    """Watches what all processes started from here take together, twice a second."""

    def __init__(self):
        super().__init__(daemon=True)
        self.seconds, self.cpu, self.memory = 0.0, 0.0, 0
        self.begin, self.over = time.perf_counter(), threading.Event()
        self.start()

    def run(self) -> None:
        while not self.over.wait(0.5):
            cpu = memory = 0
            for process in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):
                    cpu += sum(process.cpu_times()[:4])  # with the children that have ended
                    memory += process.memory_full_info().pss  # shared pages are counted once
            self.cpu, self.memory = max(self.cpu, cpu), max(self.memory, memory)

    def stop(self) -> "Watch":
        self.seconds = time.perf_counter() - self.begin
        self.over.set()
        self.join()
        return self


def a_class(root: Path, lesson: str, learners: int) -> Course:
    """Make a course in which everybody answers rightly, each in a notebook of one's own."""
    course = init(root, [lesson])
    course.prepare(lesson)
    works = [nbformat.writes(make(lesson)) for make in (answered, alternative)]
    for number in range(learners):
        work = nbformat.reads(works[number % 2], as_version=4)
        for cell in work.cells:  # else equal notebooks would be run once only
            if is_solution(cell) and cell.cell_type == "code":
                cell.source += f"\n# learner {number}"
        folder = course.path("submitted", f"learner_{number:03}", lesson)
        folder.mkdir(parents=True)
        (folder / f"{lesson}.ipynb").write_text(nbformat.writes(work), encoding="utf-8")
    return course


def skip_demonstrations(root: Path, lesson: str) -> None:
    """Tag the cells that our grader leaves out, so that stock leaves them out as well."""
    for path in root.glob(f"submitted/*/{lesson}/{lesson}.ipynb"):
        work = nbformat.read(path, as_version=4)
        for number in skippable(work.cells, lesson):
            work.cells[number].metadata.setdefault("tags", []).append("skip-execution")
        path.write_text(nbformat.writes(work), encoding="utf-8")


def split(learners: int, parts: int) -> list[str]:
    """Share the class out by a pattern each that nbgrader's --student understands."""
    digits = [range(10)[part::parts] for part in range(parts)]
    return [f"learner_*[{''.join(map(str, part))}]" for part in digits if part[0] < learners]


def ours(root: Path, lesson: str, jobs: int) -> tuple[list[str], Path]:
    command = [sys.executable, "-m", "autograder", "grade", str(root), lesson, "--jobs", str(jobs)]
    return command, ROOT


def stock(root: Path, lesson: str, students: str = "*") -> tuple[list[str], Path]:
    """Return nbgrader's own command, and the folder to run it in."""
    bin_ = Path(sys.executable).parent
    return [str(bin_ / "nbgrader"), "autograde", lesson, f"--student={students}"], root


def run(*commands: tuple[list[str], Path]) -> Watch:
    """Run commands at the same time; return what they took until all had ended."""
    paths = [str(Path(sys.executable).parent), os.environ["PATH"]]
    env = {**os.environ, "PATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    env["PYTHONPATH"] = str(ROOT)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    watch = Watch()
    running = [subprocess.Popen(command, cwd=cwd, env=env, **quiet) for command, cwd in commands]
    ended = [process.wait(timeout=LIMIT) for process in running]
    watch.stop()
    if any(ended):
        raise RuntimeError(f"{commands[0][0][:4]} ended with the codes {ended}")
    return watch


def scores(root: Path, lesson: str) -> dict[str, float]:
    with Course(root).gradebook() as gradebook:
        return {s.student.id: s.score for s in gradebook.assignment_submissions(lesson)}


def sandbox_ms() -> float:
    """Return the milliseconds a sandbox takes, from asking for it to its answer and its end."""
    from autograder.wall.wall import Wall

    spent = []
    with Wall(LARGE) as wall:
        for _ in range(FORKS):
            start = time.perf_counter()
            with wall.fork() as sandbox:
                sandbox.ask(60, do="cell", code="None")
            spent.append(time.perf_counter() - start)
    return 1000 * statistics.median(spent)
