"""What one submission may use of the machine; where that cannot be held, it is said."""

import os
from pathlib import Path

import pytest

from autograder.course.course import init
from autograder.course.status import Record
from autograder.report import class_report
from autograder.repository import ROOT
from autograder.running.side_by_side import UNCAPPED, SideBySide
from autograder.wall import cgroup
from autograder.wall.session import CRASHED, Session
from autograder.wall.wall import LEAST, Wall, sized, why_not
from autograder.wall.within.confine import Limits

walls = pytest.mark.skipif(bool(why_not()), reason=f"no sandbox here: {why_not()}")
groups = pytest.mark.skipif(not cgroup.capped(), reason="no control groups can be made here")

BUSY = """\
import os, time
start = time.monotonic()
for _ in range(8):
    if not os.fork():
        while time.monotonic() < start + 3:
            pass
        os._exit(0)
for _ in range(8):
    os.wait()
print(sum(os.times()[2:4]) / (time.monotonic() - start))
"""
HOARD = """\
import os, time
for _ in range(5):
    if not os.fork():
        held = bytearray(os.urandom(1)) * (100 << 20)
        time.sleep(3)
        os._exit(0)
killed = sum(os.waitstatus_to_exitcode(os.wait()[1]) != 0 for _ in range(5))
print(killed)
"""


@pytest.fixture
def version_2(tmp_path, monkeypatch) -> Path:
    """A tree like that of control groups of version 2, in which our group may have no others."""
    own = tmp_path / Path(cgroup._path(Path("/proc/self/cgroup")))
    own.mkdir(parents=True, exist_ok=True)
    for folder in {tmp_path, own}:
        (folder / "cgroup.controllers").write_text("cpu memory pids")
        (folder / "cgroup.subtree_control").write_text("")
    monkeypatch.setattr(cgroup, "ROOT", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    cgroup._works.cache_clear()
    yield tmp_path
    cgroup._works.cache_clear()


def systemd(folder: Path, code: int) -> None:
    """Put a command in the place of systemd-run that ends as it would."""
    (folder / "bin").mkdir()
    (folder / "bin" / "systemd-run").write_text(f"#!/bin/sh\nexit {code}\n")
    (folder / "bin" / "systemd-run").chmod(0o755)


def test_where_no_group_can_be_made_nobody_claims_one(version_2):
    assert cgroup.hold(os.getpid(), 1 << 30, 9) is None
    assert not cgroup.capped()
    systemd(version_2, 1)  # installed, but no session to talk to
    assert cgroup.scope() == [] and not cgroup.capped()


def test_systemd_is_asked_for_a_scope_where_there_is_one(version_2):
    systemd(version_2, 0)
    command = cgroup.scope()
    assert command[0] == "systemd-run" and {"--scope", "Delegate=yes"} <= set(command)
    assert ("--user" in command) == (os.getuid() != 0)
    assert cgroup.capped()


def test_a_scope_is_made_ready_for_groups(version_2):
    folder = version_2 / cgroup._path(Path("/proc/self/cgroup"))
    (folder / "cgroup.procs").write_text("17\n")
    assert cgroup.delegated(os.getpid()) is None  # this tree does not enable what is written: "+"
    assert (folder / "zygote" / "cgroup.procs").read_text() == "17"
    assert (folder / "cgroup.subtree_control").read_text() == "+memory +pids +cpu"


def test_a_group_caps_memory_processes_and_processor(version_2):
    (version_2 / "cgroup.subtree_control").write_text("cpu memory pids")
    group = cgroup.hold(17, 1 << 30, 9, version_2)
    (folder,) = group.folders
    found = {file.name: file.read_text() for file in folder.iterdir()}
    assert found == {
        **{"memory.max": str(1 << 30), "memory.swap.max": "0", "pids.max": "9"},
        **{"cpu.max": "100000 100000", "cgroup.procs": "17"},
    }


@pytest.mark.parametrize("jobs", [1, 2, 7, 64, 1000])
@pytest.mark.parametrize("gigabytes", [1, 4, 16, 500])
def test_all_submissions_at_once_fit_into_the_memory(monkeypatch, jobs, gigabytes):
    monkeypatch.setattr(cgroup, "memory", lambda: gigabytes << 30)
    at_once, limits = sized(jobs, total=300)
    assert 1 <= at_once <= jobs
    assert at_once * limits.together <= gigabytes << 30
    assert LEAST <= limits.together <= Limits.together


def test_a_longer_time_for_notebooks_is_more_processor_time():
    assert sized(1, 300)[1].seconds == Limits.seconds
    assert sized(1, 3000)[1].seconds > 2 * 3000


def test_the_memory_is_at_most_the_machines():
    assert 0 < cgroup.memory() <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@walls
def test_where_there_is_no_cap_it_is_said_before_grading(monkeypatch, capsys):
    monkeypatch.setattr(cgroup, "capped", lambda: False)
    assert not SideBySide().capped
    assert capsys.readouterr().out == f"{UNCAPPED}\n"
    monkeypatch.setattr(cgroup, "capped", lambda: True)
    assert SideBySide().capped
    assert capsys.readouterr().out == ""


def test_where_there_was_no_cap_the_report_says_so(monkeypatch, tmp_path):
    course = init(tmp_path / "course", ["warm_up"])
    for capped, wanted in ((True, ""), (False, f"<p>{UNCAPPED} (1 submissions)</p>")):
        records = {"warm_up": {"ada": Record("graded", capped=capped)}}
        monkeypatch.setattr(class_report, "statuses", lambda _, records=records: records)
        assert class_report._uncapped(course, "warm_up") == wanted


@walls
def test_processor_time_has_a_limit_for_each_process():
    with Wall("warm_up", Limits(seconds=2)) as wall:
        session = Session(wall, seconds=60, total=120)
        outputs = session.cell(
            "a", "import time\nend = time.monotonic() + 20\nwhile time.monotonic() < end: pass"
        )
        session.close()
    assert outputs[0]["ename"] == CRASHED


@walls
@groups
def test_many_processes_of_one_submission_use_one_core():
    with Wall("warm_up") as wall:
        session = Session(wall, seconds=60, total=120)
        used = float(session.cell("a", BUSY)[0]["text"])
        session.close()
    assert used < 1.25


@walls
@groups
def test_all_processes_of_one_submission_share_one_cap_on_memory():
    with Wall("warm_up", Limits(together=300 << 20)) as wall:
        session = Session(wall, seconds=60, total=120)
        outputs = session.cell("a", HOARD)
        session.close()
    assert outputs[0].get("ename") == CRASHED or int(outputs[0]["text"]) >= 2


def test_the_guide_names_the_limits_as_they_are():
    guide = (ROOT / "book" / "guide_instructors.md").read_text(encoding="utf-8")
    text, limits = " ".join(guide.split()), Limits()
    assert f"{limits.memory >> 30} GB of address space and {limits.seconds} s of processor" in text
    assert f"{limits.processes} processes, {limits.open_files} open files" in text
    assert f"of its own ({limits.files >> 20} MB each)" in text
