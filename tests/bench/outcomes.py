"""What stock `nbgrader autograde` makes of every fixture, for the table in submissions/OUTCOMES.md.

A fixture may be hostile and stock nbgrader protects nothing, so its whole command runs in a
throwaway bubblewrap sandbox: no network, a copy of a course of its own, limits, a time bound.
What was measured is kept in submissions/stock.json; only what is missing there is run.
"""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

from autograder.repository import ROOT

sys.path.insert(0, str(ROOT / "tests"))  # as the tests see the fixtures

from submissions import LESSON, faults, forging, honest, stealing, tampering
from submissions.case import COURSE, PORT, SOCKET, Case
from submissions.outcomes import STOCK

from autograder.course.course import init
from autograder.wall.wall import SETTINGS, SYSTEM

SECONDS = 300  # for one command; every loop in a fixture ends by itself after 60
MEMORY, FILE, PROCESSES = 6 << 30, 200 << 20, 400
GROUPS = (forging, stealing, tampering, faults)
CASES = [case for group in GROUPS for case in (*group.CASES, *getattr(group, "FILES", []))]
READ = f"""
import json, pathlib, sqlite3
link = sqlite3.connect("file:/course/gradebook.db?mode=ro", uri=True)
scores = [row[0] for row in link.execute("select auto_score from grade")]
pages = list(pathlib.Path("/course/autograded").glob("*/{LESSON}/{LESSON}.ipynb"))
known = [score for score in scores if score is not None]
reached = any("REACHED" in page.read_text(errors="replace") for page in pages)
print(json.dumps({{"score": sum(known) if known and pages else None, "reached": reached}}))
"""


def figures() -> dict[str, float | bool]:
    """Run what has not been run with this version; return how many outcomes are known."""
    known = json.loads(STOCK.read_text(encoding="utf-8")) if STOCK.exists() else {}
    if known.get("nbgrader") != version("nbgrader"):
        known = {"nbgrader": version("nbgrader"), "cases": {}}
    found = known["cases"]
    missing = [case for case in CASES if case.name not in found]
    with tempfile.TemporaryDirectory(prefix="stock-") as folder:
        if missing:
            course = init(Path(folder) / "course", [LESSON])
            course.prepare(LESSON)
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            for case, said in zip(
                missing, pool.map(lambda c: outcome(c, Path(folder)), missing), strict=True
            ):
                found[case.name] = said
                STOCK.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    return {"outcomes.stock": float(len(found)), "outcomes.complete": len(found) == len(CASES)}


def outcome(case: Case, folder: Path) -> str:
    """Grade one fixture with stock nbgrader; say in words what came of it."""
    root = Path(tempfile.mkdtemp(dir=folder))
    shutil.copytree(folder / "course", root / "course")
    hand_in(case, root / "course" / "submitted" / case.name / LESSON)
    ended = inside(root / "course", "nbgrader", "autograde", LESSON, "--Execute.timeout=30")
    read = inside(root / "course", "python", "-I", "-c", READ, keep=True)
    shutil.rmtree(root, ignore_errors=True)
    try:
        seen = json.loads(read)
    except ValueError:
        return "the gradebook cannot be read any more"
    words = [] if seen["score"] is None else [f"{seen['score']:g}"]
    if seen["score"] is None:
        words.append("no score")
    if ended != "0":
        words.append(ended)
    if seen["reached"]:
        words.append("**got where it must not**")
    return ", ".join(words)


def hand_in(case: Case, folder: Path) -> None:
    folder.mkdir(parents=True)
    work = case.make(honest())
    if work is not None:
        data = work if isinstance(work, bytes) else json.dumps(work).encode()
        for mark, place in ((COURSE, "/course"), (PORT, "9"), (SOCKET, "nobody")):
            data = data.replace(mark.encode(), place.encode())
        (folder / case.file).write_bytes(data)
    elif case.file == "link":
        (folder / f"{LESSON}.ipynb").symlink_to("/course/gradebook.db")
    for name in case.beside:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("raise SystemExit('a file beside the notebook was run')")


def inside(course: Path, program: str, *arguments: str, keep: bool = False) -> str:
    """Run a program of this environment in a sandbox that holds one course and nothing else."""
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session"]
    command += ["--uid", "65534", "--gid", "65534", "--clearenv"]
    for path in SYSTEM:
        if Path(path).is_symlink():
            command += ["--symlink", str(Path(path).readlink()), path]
        elif Path(path).exists():
            command += ["--ro-bind", path, path]
    for path in (*SETTINGS, sys.base_prefix, str(ROOT), sys.prefix):
        if Path(path).exists() and not path.startswith("/usr"):
            command += ["--ro-bind", path, path]
    command += ["--proc", "/proc", "--dev", "/dev"]
    command += ["--size", str(FILE), "--tmpfs", "/tmp", "--bind", str(course), "/course"]
    bin_ = Path(sys.prefix) / "bin"
    for name, value in (
        ("PATH", f"{bin_}:/usr/bin:/bin"),
        ("HOME", "/tmp"),
        ("LANG", "C.UTF-8"),
        ("OMP_NUM_THREADS", "1"),
        ("PYTHONDONTWRITEBYTECODE", "1"),
    ):
        command += ["--setenv", name, value]
    command += ["--chdir", "/course", "--", str(bin_ / program), *arguments]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if keep else subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=limits,
    )
    try:
        text, _ = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return f"still running after {SECONDS} s"
    if keep:
        return text
    return "0" if process.returncode == 0 else "the command fails"


def limits() -> None:
    for what, most in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_FSIZE, FILE),
        (resource.RLIMIT_NPROC, PROCESSES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))


if __name__ == "__main__":
    print(figures())
