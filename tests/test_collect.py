"""Submissions are found whatever they are called, and land nowhere but in the course."""

import os
import shutil
import zipfile

import pytest
from submissions import LESSON

from autograder.collect import collect
from autograder.course import Course, init
from autograder.submission import Missing, find


@pytest.fixture(scope="module")
def made_once(tmp_path_factory) -> Course:
    return init(tmp_path_factory.mktemp("made") / "course", [LESSON])


@pytest.fixture
def course(made_once, tmp_path) -> Course:
    """A course of one's own; a copy, since making the gradebook takes seconds."""
    return Course(shutil.copytree(made_once.root, tmp_path / "course"))


@pytest.mark.parametrize("name", ["warm_up (1).ipynb", "Copy of warm_up.ipynb", "WarmUp.ipynb.txt"])
def test_a_renamed_notebook_is_found_and_noted(tmp_path, name):
    (tmp_path / name).write_text("{}")
    path, notes = find(tmp_path, LESSON)
    assert path.name == name
    assert len(notes) == 1


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "secret.ipynb").write_text("{}")
    folder = tmp_path / "ada"
    folder.mkdir()
    (folder / "warm_up.ipynb").symlink_to(tmp_path / "secret.ipynb")
    with pytest.raises(Missing):
        find(folder, LESSON)


def test_an_lms_zip_is_taken_apart_by_learner(course, tmp_path):
    path = tmp_path / "download.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("lovelace_ada_123_warm_up.ipynb", "1")
        early = zipfile.ZipInfo("lovelace_ada_123_warm_up-1.ipynb", date_time=(1999, 1, 1, 0, 0, 0))
        archive.writestr(early, "an older upload")
        archive.writestr("Babbage Charles_77_assignsubmission_file_/warm_up.ipynb", "2")
        archive.writestr("noether/warm_up/Copy of warm_up.ipynb", "3")
        archive.writestr("../../../evil/warm_up.ipynb", "4")
        archive.writestr("/etc/warm_up.ipynb", "5")
        archive.writestr("__MACOSX/._warm_up.ipynb", "6")
        archive.writestr("turing/homework.ipynb", "7")
        archive.writestr("turing/notes.txt", "8")
    taken, notes = collect(course, [path])
    assert {student for student, _ in taken} == {
        *("lovelace_ada_123", "Babbage_Charles_77", "noether", "etc")
    }
    got = course.path("submitted", "Babbage_Charles_77", LESSON) / f"{LESSON}.ipynb"
    assert got.read_text() == "2"
    got = course.path("submitted", "lovelace_ada_123", LESSON) / f"{LESSON}.ipynb"
    assert got.read_text() == "1"
    assert any("turing/homework.ipynb" in note and "which lesson" in note for note in notes)
    outside = [p for p in tmp_path.rglob("*.ipynb") if course.root not in p.parents]
    assert outside == []


def test_of_two_uploads_the_newer_one_stays(course, tmp_path):
    for name, when in (
        ("ada_warm_up-1.ipynb", 2_000_000_000),
        ("ada_warm_up.ipynb", 1_000_000_000),
    ):
        (tmp_path / name).write_text(name)
        os.utime(tmp_path / name, (when, when))
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    for path in tmp_path.glob("*.ipynb"):
        path.rename(inbox / path.name)
    _, notes = collect(course, [inbox])
    got = course.path("submitted", "ada", LESSON) / f"{LESSON}.ipynb"
    assert got.read_text() == "ada_warm_up-1.ipynb"
    assert any("replaces the older" in note for note in notes)
