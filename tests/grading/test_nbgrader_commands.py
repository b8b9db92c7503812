"""In a course directory every stock nbgrader command works, with the scores that ours gives."""

import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from submissions import LESSON, honest, plain, released

from autograder.course.course import Course, init
from autograder.course.sample import with_slips
from autograder.grading.grade import grade
from autograder.lessons import load
from autograder.report.export import rows
from autograder.running.side_by_side import SideBySide

BIN = Path(sys.executable).parent
SLIP = load(LESSON).exercises[1].slips[0]


def environment(root: Path) -> dict[str, str]:
    """Keep the user's own Jupyter settings out; nbgrader calls alembic by its name."""
    private = {name: str(root.parent / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")}
    path = os.pathsep.join([str(BIN), os.environ["PATH"]])
    return {**os.environ, **private, "PATH": path, "OMP_NUM_THREADS": "1"}


def nbgrader(root: Path, *arguments: str) -> str:
    ran = subprocess.run(
        [BIN / "nbgrader", *arguments],
        cwd=root,
        env=environment(root),
        capture_output=True,
        text=True,
        timeout=600,  # a busy machine may need most of it
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    return ran.stdout + ran.stderr


def scores(course: Course) -> dict[str, dict[str, float | None]]:
    """Return every learner's automatic score, cell by cell."""
    with course.gradebook() as gradebook:
        return {
            submission.student.id: {
                g.name: g.auto_score for n in submission.notebooks for g in n.grades
            }
            for submission in gradebook.assignment_submissions(LESSON)
        }


def written(course: Course, student: str) -> tuple:
    """Return what stands in a graded notebook besides outputs, and who may write the file."""
    path = course.path("autograded", student, LESSON) / f"{LESSON}.ipynb"
    made = nbformat.read(path, as_version=4)
    for cell in made.cells:
        cell.metadata.pop("execution", None)  # a kernel's time stamps; ours has no kernel
    cells = [(c.cell_type, c.id, c.source, c.metadata) for c in made.cells]
    return made.metadata.kernelspec, cells, path.stat().st_mode, path.read_bytes()[-1:]


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Course:
    """A class of two, graded by the stock commands from beginning to end."""
    course = init(tmp_path_factory.mktemp("stock") / "course", [LESSON])
    nbgrader(course.root, "generate_assignment", LESSON)
    for student, work in (("ada", honest()), ("bob", plain(with_slips(LESSON, SLIP)))):
        nbgrader(course.root, "db", "student", "add", student)
        folder = course.path("submitted", student, LESSON)
        folder.mkdir(parents=True)
        (folder / f"{LESSON}.ipynb").write_text(json.dumps(work))
    nbgrader(course.root, "autograde", LESSON)
    nbgrader(course.root, "generate_feedback", LESSON)
    return course


def test_generate_assignment_makes_the_notebook_we_release(course):
    made = nbformat.read(course.root / "release" / LESSON / f"{LESSON}.ipynb", as_version=4)
    assert made == released()


def test_students_are_listed(course):
    listed = nbgrader(course.root, "db", "student", "list")
    assert "ada" in listed
    assert "bob" in listed


def test_stock_autograde_gives_the_scores_of_our_grader(course, tmp_path):
    stock = scores(course)
    shutil.copytree(course.root, tmp_path / "copy")
    ours = Course(tmp_path / "copy")
    grade(ours, LESSON, SideBySide())
    assert stock["ada"][f"{LESSON}-weighted_average-check"] == 20
    assert stock["bob"][f"{LESSON}-weighted_average-check"] < 20
    assert scores(ours) == stock
    for student in ("ada", "bob"):
        assert written(ours, student) == written(course, student)
    assert [row.status for row in rows(ours, LESSON)] == ["needs a human"] * 2


def test_the_feedback_shows_the_card_with_the_mistake_named(course):
    page = (course.path("feedback", "bob", LESSON) / f"{LESSON}.html").read_text()
    assert "check-card" in page
    assert SLIP.text.split("`")[0] in page


def test_export_writes_the_gradebook(course):
    nbgrader(course.root, "export")
    table = (course.root / "grades.csv").read_text()
    assert f"{LESSON}," in table
    assert ",ada," in table


def test_validate_accepts_the_reference(course, tmp_path):
    path = tmp_path / f"{LESSON}.ipynb"
    path.write_text(json.dumps(honest()))
    assert "Success" in nbgrader(course.root, "validate", str(path))


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def get(port: int, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace")
    finally:
        connection.close()


@pytest.fixture(scope="module")
def port(course):
    """A Jupyter server with formgrader, on this machine only."""
    port = free_port()
    options = [
        *("--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1"),
        *(f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
        *("--IdentityProvider.token=", f"--ServerApp.root_dir={course.root}"),
        "--ServerApp.jpserver_extensions={'nbgrader.server_extensions.formgrader': True}",
    ]
    with (course.root.parent / "server.log").open("w") as log:
        server = subprocess.Popen(
            [BIN / "jupyter-server", *options],
            cwd=course.root,
            env=environment(course.root),
            stdout=log,
            stderr=log,
        )
        try:
            for _ in range(400):  # a busy machine starts it slowly
                try:
                    get(port, "/api")
                    break
                except OSError:
                    assert server.poll() is None, "the server ended at once"
                    time.sleep(0.5)
            yield port
        finally:
            server.terminate()
            server.wait(timeout=30)


@pytest.mark.parametrize(
    "page",
    [
        "/formgrader/manage_assignments",
        f"/formgrader/manage_submissions/{LESSON}",
        "/formgrader/manage_students",
        "/formgrader/gradebook",
        f"/formgrader/gradebook/{LESSON}",
        f"/formgrader/gradebook/{LESSON}/{LESSON}",
    ],
)
def test_formgrader_shows_its_pages(port, page):
    status, text = get(port, page)
    assert status == 200
    assert "nbgrader formgrade" in text


def test_formgrader_lists_the_lesson_and_opens_a_submission(port, course):
    status, text = get(port, "/formgrader/api/assignments")
    assert status == 200
    assert json.loads(text)[0]["num_submissions"] == 2
    with course.gradebook() as gradebook:
        key = gradebook.find_submission_notebook(LESSON, LESSON, "bob").id
    status, text = get(port, f"/formgrader/submissions/{key}/")
    assert status == 200
    assert "check-card" in text
