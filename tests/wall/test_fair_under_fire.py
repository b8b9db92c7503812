"""Every kind of submission gets what its answers deserve, a status, and nothing that is not its.

All hostile code runs behind the wall only. What it tries to reach is made here: a course with a
mark in its seed, gradebook and the grader's environment, a port and a socket on this machine.
UPDATE=1 writes tests/submissions/OUTCOMES.md anew.
"""

import hashlib
import json
import os
import re
import secrets
import socket
import sqlite3
import threading
import zipfile
from dataclasses import asdict
from pathlib import Path

import nbformat
import pytest
import torch
from submissions import (
    LESSON,
    escaping,
    forging,
    honest,
    leaking,
    released,
    slow,
    stealing,
    tampering,
)
from submissions import faults as faulty
from submissions.case import ALL, COURSE, GRADED, PORT, SOCKET, Case
from submissions.outcomes import OUTCOMES, table

from autograder.checks.cells import is_check
from autograder.checks.question import VISIBLE
from autograder.checks.reference import DRAWS
from autograder.course.collect import collect
from autograder.course.course import init
from autograder.course.repair import repair
from autograder.grading.grade import grade
from autograder.lessons import load
from autograder.report.export import rows, write_csv
from autograder.running import batch, runner
from autograder.running.runner import Settings
from autograder.running.side_by_side import SideBySide
from autograder.wall.session import CRASHED, TIMED_OUT
from autograder.wall.wall import Wall, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=f"no sandbox here: {why_not()}")

GROUPS = {
    **{"Forging": forging, "Stealing": stealing, "Leaking": leaking},
    **{"Tampering": tampering, "Faults": faulty, "Slow to read": slow, "Escaping": escaping},
}
RUN = [case for group in GROUPS.values() for case in group.CASES]
FILES = [case for group in (tampering, faulty, slow) for case in group.FILES]
SECONDS = 5 + int(os.getloadavg()[0])  # a busy machine runs honest code slowly too
TOTAL = 4 + 12 * SECONDS
# what a page would run; shown as text it has &lt; or &#x27; in it
ACTIVE = (
    r"<script>alert|<[^<>]*=\s*[\"']?\s*javascript:|<[^<>]*\son\w+\s*=[^<>]*ran-in-a-page"
    r"|<iframe|<svg onload"
)
CANARY = f"canary-{secrets.token_hex(16)}"


class Target:
    """What hostile code is sent to: a course with a secret in it, and two listeners."""

    def __init__(self, folder: Path):
        self.course = init(folder / "course", [LESSON])
        (self.course.root / "seed").write_text(CANARY)
        self.port = socket.create_server(("127.0.0.1", 0))
        self.port.setblocking(False)
        self.datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.datagrams.bind(self.port.getsockname())
        self.datagrams.setblocking(False)
        self.name = f"course-{secrets.token_hex(8)}"
        self.sockets = []
        for address in ("\0" + self.name, os.path.relpath(self.course.root / "listener")):
            self.sockets.append(socket.socket(socket.AF_UNIX))
            self.sockets[-1].bind(address)
            self.sockets[-1].listen()
            self.sockets[-1].setblocking(False)
        with self.course.gradebook() as gradebook:
            gradebook.add_student("ada", first_name=CANARY)
        self.before = self.digest()

    def digest(self) -> str:
        files = sorted(f for f in self.course.root.rglob("*") if f.is_file())
        parts = [f"{f}: {hashlib.sha256(f.read_bytes()).hexdigest()}" for f in files]
        return "\n".join(parts)

    def aim(self, text: str) -> str:
        places = {COURSE: str(self.course.root), SOCKET: self.name}
        for mark, place in places.items():
            text = text.replace(mark, place)
        return text.replace(PORT, str(self.port.getsockname()[1]))

    def close(self) -> None:
        for link in (self.port, self.datagrams, *self.sockets):
            link.close()


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    made = Target(tmp_path_factory.mktemp("target"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def graded(target, tmp_path_factory):
    """Run everything that concerns running, in one batch; return (score, status, text) by name."""
    notebooks, jobs = {}, {}
    source = released()
    for case in RUN:
        notebook, _ = repair(case.make(honest()), source)
        notebooks[case.name] = notebook
        text = target.aim(nbformat.writes(notebook))
        jobs[case.name] = runner.Job(LESSON, text, Settings(CANARY, SECONDS, TOTAL))
    store = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRADER_SEED", CANARY)
        patch.setenv("A_SECRET", CANARY)
        with Wall(LESSON) as wall:
            done = dict(batch.run_jobs(jobs.values(), store, len(os.sched_getaffinity(0)), wall))
    assert all(done.values())
    results = {}
    for name, job in jobs.items():
        ran = runner.kept(runner.place(store, job.key))
        results[name] = (points(notebooks[name], ran), status(ran), json.dumps(asdict(ran)))
    return results


def points(notebook: nbformat.NotebookNode, ran: runner.Ran) -> float:
    """Add up what the checks show as their result."""
    total = 0.0
    for number, cell in enumerate(notebook.cells):
        if is_check(cell):
            (shown,) = [
                o["data"]["text/plain"]
                for o in ran.outputs[str(number)]
                if o["output_type"] == "execute_result"
            ]
            total += float(shown)
    return total


def status(ran: runner.Ran) -> str:
    words = {TIMED_OUT: "timed out", CRASHED: "crashed"}
    found = [words[how] for how in ran.deaths.values()]
    return "crashed" if "crashed" in found else found[0] if found else GRADED


def by_name(case: Case) -> str:
    return case.name


@pytest.mark.parametrize("case", RUN, ids=by_name)
def test_a_submission_earns_what_its_answers_deserve(graded, case):
    score, word, text = graded[case.name]
    assert (score, word) == (case.score, case.status), text[:3000]


@pytest.mark.parametrize("case", RUN, ids=by_name)
def test_nothing_it_reached_for_was_reached(graded, case):
    text = graded[case.name][2]
    assert "REACHED" not in text
    assert CANARY not in text
    assert len(text) < 2_000_000


def numbers(value) -> set[str]:
    """Return the numbers of a case's inputs as somebody would write them down."""
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        found = value.double().flatten().tolist()
        written = {w for n in found for w in (f"{n:.6f}", f"{n!r}"[:9], f"{int(abs(n) * 1e6)}")}
        return {text for text in written if len(text.strip("-0.")) >= 6}
    inner = value.values() if isinstance(value, dict) else value
    return set().union(*map(numbers, inner)) if isinstance(value, tuple | list | dict) else set()


@pytest.fixture(scope="module")
def hidden_numbers() -> set[str]:
    cases = [(case, e.name) for e in load(LESSON).exercises for case in e.cases]
    hidden = (case.inputs(name, CANARY, i) for case, name in cases for i in range(DRAWS))
    visible = (case.inputs(name, VISIBLE, 0) for case, name in cases)
    return set().union(*map(numbers, hidden)) - set().union(*map(numbers, visible))


@pytest.mark.parametrize("case", RUN, ids=by_name)
def test_no_number_of_a_hidden_case_comes_back(graded, hidden_numbers, case):
    told = set(re.findall(r"-?\d+(?:\.\d+)?", graded[case.name][2]))
    assert hidden_numbers and not told & hidden_numbers


def test_what_hostile_code_was_sent_to_is_as_it_was(graded, target):
    assert target.digest() == target.before
    for link in (target.port, *target.sockets):
        with pytest.raises(BlockingIOError):
            link.accept()
    with pytest.raises(BlockingIOError):
        target.datagrams.recv(100)


def hand_in(course, case: Case) -> None:
    folder = course.path("submitted", case.name, LESSON)
    folder.mkdir(parents=True)
    work = case.make(honest())
    if work is not None:
        data = work if isinstance(work, bytes) else json.dumps(work).encode()
        (folder / case.file).write_bytes(data)
    elif case.file == "link":
        (folder / f"{LESSON}.ipynb").symlink_to(course.root / "gradebook.db")
    for name in case.beside:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("raise SystemExit('a file beside the notebook was run')")


def locked(database: Path, seconds: float) -> threading.Timer:
    """Have somebody else write to the gradebook for a while."""
    link = sqlite3.connect(database, isolation_level=None, check_same_thread=False)
    link.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(seconds, link.close)
    timer.start()
    return timer


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Grade everything that concerns files, in one batch; the gradebook is locked at first."""
    made = init(tmp_path_factory.mktemp("files") / "course", [LESSON])
    (made.root / "seed").write_text(CANARY)
    for case in FILES:
        hand_in(made, case)
    lock = locked(made.root / "gradebook.db", seconds=3)
    made.records = grade(made, LESSON, SideBySide(timeout=SECONDS, total=TOTAL))
    lock.join()
    made.rows = {row.student: row for row in rows(made, LESSON)}
    return made


@pytest.mark.parametrize("case", FILES, ids=by_name)
def test_a_file_earns_what_its_answers_deserve(course, case):
    record = course.records[case.name]
    assert (course.rows[case.name].score, record.word) == (case.score, case.status), record.notes


def test_pages_and_table_run_nothing_and_tell_no_secret(course):
    pages = list(course.root.glob("feedback/*/*/*.html"))
    assert len(pages) == len([case for case in FILES if case.score is not None])
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert CANARY not in text
        assert not re.search(ACTIVE, text), page
        assert "\x1b" not in text
    table_text = write_csv(course).read_text(encoding="utf-8")
    assert not re.search(r"(^|,)\"?[=+@]", table_text, flags=re.MULTILINE)
    assert CANARY not in table_text


def test_a_zip_that_climbs_out_lands_in_the_course(course, tmp_path):
    path = tmp_path / "upload.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../../out/warm_up.ipynb", "{}")
        archive.writestr("/abs/olute/warm_up.ipynb", "{}")
        archive.writestr("..\\..\\back\\warm_up.ipynb", "{}")
    before = {p for p in tmp_path.parent.rglob("*.ipynb") if course.root not in p.parents}
    taken, _ = collect(course, [path])
    after = {p for p in tmp_path.parent.rglob("*.ipynb") if course.root not in p.parents}
    assert after == before
    for student, lesson in taken:
        assert course.path("submitted", student, lesson).resolve().is_relative_to(course.root)


def test_every_kind_is_there_and_names_are_unique():
    names = [case.name for case in RUN + FILES]
    assert len(names) == len(set(names)) >= 80
    assert max(case.score or 0 for case in RUN + FILES) == ALL


def test_the_table_of_outcomes_is_what_came_out(graded, course):
    found = {**graded}
    for case in FILES:
        found[case.name] = (course.rows[case.name].score, course.records[case.name].word)
    groups = {title: group.CASES + getattr(group, "FILES", []) for title, group in GROUPS.items()}
    made = table(groups, found)
    if os.environ.get("UPDATE"):
        OUTCOMES.write_text(made, encoding="utf-8")
    assert OUTCOMES.read_text(encoding="utf-8") == made
