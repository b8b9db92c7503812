"""Two graders never write to one course at once, and a killed one leaves nothing in the way."""

import os
import signal
import socket
import subprocess
import sys
import time

from submissions import LESSON, code, hand_in, honest

from autograder.__main__ import main
from autograder.course.course import Course
from autograder.report.export import rows

PATIENCE = 120


def start(course: Course) -> subprocess.Popen:
    command = [sys.executable, "-m", "autograder", "grade", str(course.root)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def wait_until_it_runs(course: Course, before: int) -> None:
    """Wait for the first of two results: the grader is in the middle of its work."""
    end = time.monotonic() + PATIENCE
    while len(list(course.results.glob("*.json"))) == before:
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def test_a_second_grader_is_told_who_writes_and_a_killed_one_leaves_no_lock(course, capsys):
    slow = honest()
    slow["cells"].append(code("import time\ntime.sleep(15)"))
    quick = honest()
    quick["cells"].append(code("'another'"))
    hand_in(course, "ada", quick)
    hand_in(course, "bob", slow)
    before = len(list(course.results.glob("*.json")))
    first = start(course)
    try:
        wait_until_it_runs(course, before)
        for command in (["grade"], ["rebuild"], ["export"], ["init", LESSON]):
            name, *rest = command
            assert main([name, str(course.root), *rest]) == 2, name
            told = capsys.readouterr().err
            assert f"process {first.pid} on {socket.gethostname()}" in told
            assert "`grade`" in told and "since 20" in told and "Traceback" not in told
    finally:
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
    assert main(["grade", str(course.root)]) == 0
    assert [row.score for row in rows(course, LESSON)] == [90, 90]


def test_the_lock_is_let_go_when_a_command_ends_well_or_badly(course):
    assert main(["export", str(course.root)]) == 0
    assert main(["grade", str(course.root), "no_such_lesson"]) == 2
    assert start(course).wait(timeout=PATIENCE) == 0
