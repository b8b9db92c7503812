"""The run phase on a Dask cluster: same results, and a lost worker loses nothing."""

import json
import os
import signal
import sys

import pytest
from submissions import LESSON, code, plain

from autograder.__main__ import main
from autograder.course.course import init
from autograder.course.sample import answered
from autograder.errors import CourseError
from autograder.running import cluster
from autograder.running.runner import Job, Settings, kept, place
from autograder.wall.wall import why_not

distributed = pytest.importorskip("distributed", reason="Dask is not installed")
needs_wall = pytest.mark.skipif(bool(why_not()), reason=f"no sandbox here: {why_not()}")


def job(number: int, cell: str = "import time\ntime.sleep(2)") -> Job:
    """Return a right answer that takes a while, unlike any other."""
    work = plain(answered(LESSON))
    work["cells"].append({**code(f"{cell}\n{number}"), "id": "own"})
    return Job(LESSON, json.dumps(work), Settings("a seed"))


def points(ran) -> float:
    shown = [o for outputs in ran.outputs.values() for o in outputs]
    results = [o["data"]["text/plain"] for o in shown if o["output_type"] == "execute_result"]
    return sum(map(float, results))


@needs_wall
def test_a_worker_lost_in_mid_batch_loses_no_submission(tmp_path):
    jobs = [job(n) for n in range(6)]
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        distributed.LocalCluster(**settings) as local,
        distributed.Client(local, set_as_default=False) as client,
    ):
        done, lost = [], None
        for finished, ran in cluster.Cluster(local.scheduler_address).run(jobs, tmp_path):
            assert ran
            assert place(tmp_path, finished.key).exists()  # written as it comes
            done.append(finished)
            if lost is None:
                busy = [w for w, tasks in client.processing().items() if tasks]
                pids = client.run(os.getpid, workers=busy)
                lost = next(iter(pids.values()))
                os.kill(lost, signal.SIGKILL)
        assert lost not in client.run(os.getpid).values()
    assert lost is not None
    assert sorted(j.key for j in done) == sorted(j.key for j in jobs)
    assert [points(kept(place(tmp_path, j.key))) for j in jobs] == [90] * 6


def test_what_is_kept_already_is_not_sent_anywhere(tmp_path):
    known = job(0)
    place(tmp_path, known.key).write_text("{}")
    assert list(cluster.Cluster("tcp://127.0.0.1:9").run([known], tmp_path)) == [(known, True)]


def test_a_node_with_another_copy_of_the_course_refuses():
    with pytest.raises(cluster.OtherVersion, match="same copy"):
        cluster.run_remotely(job(0), "the key that another version gives")


def test_a_scheduler_that_does_not_answer_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT", 1)
    with pytest.raises(CourseError, match="No Dask scheduler answers"):
        list(cluster.Cluster("tcp://127.0.0.1:9").run([job(0)], tmp_path))


def test_without_dask_a_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(CourseError, match="pip install dask distributed"):
        list(cluster.Cluster("tcp://127.0.0.1:9").run([job(0)], tmp_path))


def test_a_cluster_without_walls_is_refused(tmp_path, capsys):
    course = init(tmp_path / "course", [LESSON])
    command = ["grade", str(course.root), LESSON, "--cluster", "tcp://127.0.0.1:9", "--no-sandbox"]
    assert main(command) == 2
    assert "leave --no-sandbox out" in capsys.readouterr().err


def course_with_all_kept(root, monkeypatch):
    """Return a course that has nothing left to run."""
    from autograder.course.course import Course

    course = init(root, [LESSON])
    monkeypatch.setattr(Course, "begun", {LESSON})
    return course


def test_an_address_with_nothing_behind_it_is_told_also_where_nothing_has_to_run(
    tmp_path, monkeypatch, capsys
):
    course = course_with_all_kept(tmp_path / "course", monkeypatch)
    monkeypatch.setattr(cluster, "CONNECT", 1)
    assert main(["grade", str(course.root), "--cluster", "tcp://127.0.0.1:9"]) == 2
    told = capsys.readouterr().err
    assert "No Dask scheduler answers at tcp://127.0.0.1:9" in told and "Nothing was graded" in told


def test_a_scheduler_without_workers_is_told(tmp_path, monkeypatch, capsys):
    course = course_with_all_kept(tmp_path / "course", monkeypatch)
    with distributed.LocalCluster(n_workers=0, dashboard_address=None) as local:
        command = ["grade", str(course.root), "--cluster", local.scheduler_address]
        assert main(command) == 0
    told = capsys.readouterr().out
    assert "has no workers yet: nothing runs until one comes" in told
