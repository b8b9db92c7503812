"""A grader killed in mid-batch loses nothing, and grading again does only what is needed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from submissions import LESSON, cell, code, plain

from autograder.course import status
from autograder.course.course import Course, init
from autograder.course.sample import answered, with_slips
from autograder.grading import grade as grading
from autograder.lessons import load
from autograder.report.export import rows
from autograder.running import batch, runner
from autograder.running.side_by_side import SideBySide
from autograder.wall.wall import Wall, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=f"no sandbox here: {why_not()}")

PATIENCE = 300  # seconds: a busy machine imports torch slowly


def hand_in(course: Course, student: str, content: dict) -> None:
    folder = course.path("submitted", student, LESSON)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{LESSON}.ipynb").write_text(json.dumps(content), encoding="utf-8")


def a_class() -> dict[str, dict]:
    first, second, *_ = load(LESSON).exercises
    works = [
        answered(LESSON),
        with_slips(LESSON, first.slips[0]),
        with_slips(LESSON, first.slips[1]),
        with_slips(LESSON, second.slips[0]),
        answered(LESSON),
    ]
    made = {f"learner_{n}": plain(work) for n, work in enumerate(works, start=1)}
    # the last one takes its time, so that a batch can be met in its middle
    made["learner_5"]["cells"].append(code("import time\ntime.sleep(8)"))
    return made


def new_course(root: Path) -> Course:
    course = init(root, [LESSON])
    (root / "seed").write_text("one seed for all courses of this test\n")
    for student, work in a_class().items():
        hand_in(course, student, work)
    return course


def start(course: Course) -> subprocess.Popen:
    command = [sys.executable, "-m", "autograder", "grade", str(course.root), LESSON, "--jobs", "1"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def results(course: Course) -> dict[str, int]:
    """Return the kept results, with the time each was written."""
    return {p.name: p.stat().st_mtime_ns for p in (course.root / "results").glob("*.json")}


def wait_for(condition, seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def scores(course: Course) -> dict[str, tuple]:
    return {row.student: (row.score, row.status) for row in rows(course, LESSON)}


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory) -> tuple[Course, dict[str, int], list[int]]:
    """A course whose grading was killed after the first result, and what had been kept by then."""
    course = new_course(tmp_path_factory.mktemp("interrupted") / "course")
    grader = start(course)
    try:
        wait_for(lambda: results(course) or grader.poll() is not None)
        family = [p.pid for p in psutil.Process(grader.pid).children(recursive=True)]
    finally:
        os.kill(grader.pid, signal.SIGKILL)
        grader.wait()
    return course, results(course), family


@pytest.fixture(scope="module")
def resumed(interrupted) -> Course:
    course, _, _ = interrupted
    assert start(course).wait(timeout=PATIENCE) == 0
    return course


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_killed_grader_leaves_no_process_behind(interrupted):
    _, _, family = interrupted
    assert family
    wait_for(lambda: not any(alive(pid) for pid in family), 30)


def test_after_a_kill_only_what_is_missing_is_run(interrupted, resumed):
    _, before, _ = interrupted
    after = results(resumed)
    assert 1 <= len(before) < 5
    assert len(after) == 5
    assert before.items() <= after.items()  # not written again


def test_the_final_grades_are_those_of_an_undisturbed_run(resumed, tmp_path):
    undisturbed = new_course(tmp_path / "course")
    grading.grade(undisturbed, LESSON, SideBySide())
    assert scores(resumed) == scores(undisturbed)
    assert scores(resumed)["learner_1"][0] == scores(resumed)["learner_5"][0] == 90
    assert all(scores(resumed)[f"learner_{n}"][0] < 90 for n in (2, 3, 4))


def test_grading_an_unchanged_class_again_runs_and_saves_nothing(resumed, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("nothing should be run or saved")

    before, found = results(resumed), scores(resumed)
    monkeypatch.setattr(batch, "Crew", refuse)
    monkeypatch.setattr(Wall, "start", refuse)
    monkeypatch.setattr(grading, "_save_one", refuse)
    grading.grade(resumed, LESSON, SideBySide())
    assert (results(resumed), scores(resumed)) == (before, found)


def test_a_changed_submission_is_the_only_one_that_is_run_again(resumed, monkeypatch):
    before, found = results(resumed), scores(resumed)
    saved = []
    save_one = grading._save_one
    monkeypatch.setattr(
        grading, "_save_one", lambda *args: saved.append(args[1]) or save_one(*args)
    )
    work = a_class()["learner_1"]
    cell(work, "which_line")["source"] = 'which_line = "a"'
    hand_in(resumed, "learner_1", work)
    grading.grade(resumed, LESSON, SideBySide())
    after = results(resumed)
    assert len(after) == len(before) + 1 and before.items() <= after.items()
    assert saved == ["learner_1"]
    assert scores(resumed) == {**found, "learner_1": (80, found["learner_1"][1])}


def dies(_) -> None:
    """Take the process that runs a job along, each time."""
    os._exit(9)


def test_a_run_that_fails_leaves_no_old_score(resumed, monkeypatch):
    found = scores(resumed)
    work = a_class()["learner_2"]
    work["cells"].append(code("something = 'new'"))
    hand_in(resumed, "learner_2", work)
    monkeypatch.setattr(batch, "run_job", dies)
    grading.grade(resumed, LESSON, SideBySide())
    assert scores(resumed) == {**found, "learner_2": (None, "crashed")}
    assert not resumed.path("autograded", "learner_2", LESSON).exists()


def test_a_status_file_is_never_half_written(resumed, monkeypatch):
    before = (resumed.root / status.STATUS_FILE).read_text()

    def killed(self, *_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        status.write(resumed, LESSON, {})
    assert (resumed.root / status.STATUS_FILE).read_text() == before


def test_a_changed_check_concerns_its_own_lesson_only():
    root = runner.ROOT
    here = {str(path.relative_to(root)) for path in runner.checks_files("warm_up")}
    assert {"autograder/lessons/warm_up/softmax.py", "solutions/warm_up.py"} <= here
    assert {"autograder/checks/compare.py", "autograder/wall/within/seccomp.py"} <= here
    assert not here & {"autograder/lessons/multi_head/split_heads.py", "solutions/multi_head.py"}
    other = {str(path.relative_to(root)) for path in runner.checks_files("multi_head")}
    assert {"solutions/multi_head.py", "solutions/training/loop.py"} <= other


def test_every_module_that_marks_is_part_of_what_a_result_depends_on():
    code = (
        "import sys, autograder.running.walled, autograder.seam.shell\n"
        "from autograder.lessons import load\n"
        "load('warm_up')\n"
        "print(*(m.__file__ for n, m in sys.modules.items() if n.startswith('autograder')))"
    )
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    loaded = {Path(name) for name in ran.stdout.split()}
    rooms = {
        path for path in loaded if path.parent.name != "autograder"
    }  # paths and doors mark nothing
    assert rooms and rooms <= runner.checks_files("warm_up")
