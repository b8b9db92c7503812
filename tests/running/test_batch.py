"""Whatever a task does to its process, every job ends: with a result, or as one that failed."""

import os
import time
from pathlib import Path

import nbformat
import pytest

from autograder.__main__ import main
from autograder.course.course import init
from autograder.course.sample import answered
from autograder.errors import WallError
from autograder.running import batch
from autograder.running.runner import Job, Ran, Settings, keep, kept, place
from autograder.wall import wall as start
from autograder.wall.wall import Door
from autograder.wall.within.confine import Limits

NAMES = ["a", "b", "raises", "c", "dies", "d", "e", "f", "g", "h"]


class NoWall:
    """Stands for a wall where no learner's code is run."""

    lesson, is_ready = "warm_up", True

    def start(self) -> None:
        pass

    def wait(self) -> None:
        pass

    def fork(self) -> None:
        raise WallError("there is none")

    def door(self) -> Door:
        return Door("warm_up", Limits())


def job(name: str) -> Job:
    return Job("warm_up", '{"cells": []}', Settings(seed=name))


def task(job: Job) -> Ran:
    time.sleep(0.02)
    if job.settings.seed == "raises":
        raise ZeroDivisionError("a mistake of ours")
    if job.settings.seed == "dies":
        os._exit(9)
    return Ran(deaths={"cell": job.settings.seed})


@pytest.fixture
def done(tmp_path, monkeypatch) -> dict[str, bool]:
    monkeypatch.setattr(batch, "run_job", task)
    found = batch.run_jobs(map(job, NAMES), tmp_path, 2, NoWall())
    return {work.settings.seed: ran for work, ran in found}


def test_every_job_ends_and_only_the_guilty_fail(done, tmp_path):
    assert done == {name: name not in ("raises", "dies") for name in NAMES}
    assert kept(place(tmp_path, job("h").key)).deaths == {"cell": "h"}


def test_what_is_kept_is_not_run_again(done, tmp_path, monkeypatch):
    def refuse(_):
        raise AssertionError("this was run before")

    monkeypatch.setattr(batch, "run_job", refuse)
    again = batch.run_jobs(map(job, "abcd"), tmp_path, 2, NoWall())
    assert {work.settings.seed: ran for work, ran in again} == dict.fromkeys("abcd", True)


def test_a_result_counts_only_when_it_is_written_whole(tmp_path, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        keep(tmp_path, job("a"), Ran())
    monkeypatch.undo()
    assert not place(tmp_path, job("a").key).exists()
    keep(tmp_path, job("a"), Ran(deaths={"cell": "a"}))
    assert kept(place(tmp_path, job("a").key)).deaths == {"cell": "a"}


def test_jobs_are_taken_a_few_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(batch, "run_job", task)
    taken = []

    def jobs():
        for number in range(40):
            taken.append(number)
            yield job(f"learner {number}")

    finished = 0
    for _ in batch.run_jobs(jobs(), tmp_path, 2, NoWall()):
        finished += 1
        assert len(taken) <= finished + batch.AHEAD * 2  # the rest waits on the disk
    assert finished == 40


def test_a_wall_that_does_not_start_is_said_in_a_sentence(tmp_path, monkeypatch, capsys):
    course = init(tmp_path / "course", ["warm_up"])
    folder = course.path("submitted", "ada", "warm_up")
    folder.mkdir(parents=True)
    (folder / "warm_up.ipynb").write_text(nbformat.writes(answered("warm_up")), encoding="utf-8")
    monkeypatch.setattr(start, "python", lambda: "/bin/false")
    assert main(["grade", str(course.root), "warm_up"]) == 2
    assert "The process behind the wall did not start" in capsys.readouterr().err
