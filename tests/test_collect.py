"""Submissions are found whatever they are called, and land nowhere but in the course."""

import os
import shutil
import zipfile

import pytest
from submissions import LESSON

from autograder import collect as collecting
from autograder.collect import _split, collect
from autograder.course import Course, CourseError, init
from autograder.submission import Missing, find


@pytest.fixture(scope="module")
def made_once(tmp_path_factory) -> Course:
    return init(tmp_path_factory.mktemp("made") / "course", [LESSON])


@pytest.fixture
def course(made_once, tmp_path) -> Course:
    """A course of one's own; a copy, since making the gradebook takes seconds."""
    return Course(shutil.copytree(made_once.root, tmp_path / "course"))


def zipped(path, files: dict[str, str], day: int = 1):
    """Write a zip whose members all have the date of one day."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name, date_time=(2027, 3, day, 12, 0, 0)), text)
    return path


def handed_in(course: Course) -> dict[tuple[str, str], str]:
    found = (course.root / "submitted").glob("*/*/*.ipynb")
    return {(p.parts[-3], p.parts[-2]): p.read_text() for p in found}


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
        *("lovelace_ada_123", "Babbage_Charles", "noether", "etc")
    }
    got = course.path("submitted", "Babbage_Charles", LESSON) / f"{LESSON}.ipynb"
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


def test_canvas_names_one_learner_however_often_and_late_the_work_came(course, tmp_path):
    init(course.root, ["recurrence"])
    files = {
        "doejane_12345_99_warm_up-1.ipynb": "first",
        "doejane_LATE_12345_100_warm_up.ipynb": "late",
        "doejane_12345_101_my_2_recurrence.ipynb": "another lesson",
        "robertsue_777_102_warm_up.ipynb": "another learner",
    }
    taken, notes = collect(course, [zipped(tmp_path / "canvas.zip", files)])
    assert handed_in(course) == {
        ("doejane_12345", LESSON): "late",
        ("doejane_12345", "recurrence"): "another lesson",
        ("robertsue_777", LESSON): "another learner",
    }
    assert taken.keys() == handed_in(course).keys()
    assert [n for n in notes if "replaces the older doejane_12345_99_warm_up-1.ipynb" in n] == notes


def test_moodle_names_one_learner_in_all_assignments(course, tmp_path):
    init(course.root, ["recurrence"])
    for name, number in ((LESSON, 11), ("recurrence", 22)):
        inside = f"Ada Lovelace_{number}_assignsubmission_file_/{name}.ipynb"
        flat = f"Emil Artin_{number + 1}_assignsubmission_file_{name}.ipynb"
        path = zipped(tmp_path / f"{name}.zip", {inside: "hers", flat: "his"})
        assert collect(course, [path])[1] == []
    assert handed_in(course).keys() == {
        (student, name)
        for student in ("Ada_Lovelace", "Emil_Artin")
        for name in (LESSON, "recurrence")
    }


@pytest.mark.parametrize("second", ["warm_up.ipynb", "scan.pdf"])
def test_two_people_of_one_name_are_told_apart_by_moodles_numbers(course, tmp_path, second):
    files = {
        "Ada Li_11_assignsubmission_file_/warm_up.ipynb": "one",
        f"Ada Li_12_assignsubmission_file_/{second}": "other",
    }
    _, notes = collect(course, [zipped(tmp_path / "moodle.zip", files)])
    assert course.students() == ["Ada_Li_11", "Ada_Li_12"]
    assert any(note.startswith("Ada_Li: two or more of this name") for note in notes)


@pytest.mark.parametrize(
    ("name", "before", "lesson"),
    [
        ("robert_gpt.ipynb", "robert_", "gpt"),
        ("bert_bert.ipynb", "bert_", "bert"),
        ("bert_gpt (2).ipynb", "bert_", "gpt"),
        ("ada_Image GPT.ipynb", "ada_", "image_gpt"),
        ("Copy of warm-up.ipynb", "", "warm_up"),
        ("adawarm_up.ipynb", "ada", "warm_up"),
    ],
)
def test_a_lesson_is_read_from_a_name_as_a_word(name, before, lesson):
    assert _split(name, ["warm_up", "bert", "gpt", "image_gpt"]) == (before, lesson)


def test_a_learner_without_a_notebook_gets_a_note_and_a_row(course, tmp_path):
    files = {
        "pdfpaul_888_103_my report.pdf": "",
        "Pia Pdf_5_assignsubmission_file_/answer.pdf": "",
        "turing/warm_up/scan.jpg": "",
        "ada_warm_up.pdf": "",
        "noether/warm_up.ipynb": "hers",
        "noether/figures/plot.png": "",
        "noether/report.pdf": "",
        "readme.txt": "",
    }
    _, notes = collect(course, [zipped(tmp_path / "download.zip", files)])
    assert sorted(notes) == [
        "Left out: readme.txt.",
        "Pia_Pdf: no notebook, only answer.pdf.",
        "ada: no notebook, only ada_warm_up.pdf.",
        "pdfpaul_888: no notebook, only pdfpaul_888_103_my report.pdf.",
        "turing: no notebook, only scan.jpg.",
    ]
    assert course.students() == ["Pia_Pdf", "ada", "noether", "pdfpaul_888", "turing"]


@pytest.mark.parametrize("kind", ["folder", "zip", "file"])
def test_a_file_that_is_too_large_is_noted_wherever_it_lay(course, tmp_path, monkeypatch, kind):
    monkeypatch.setattr(collecting, "MAX_BYTES", 10)
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    path = inbox / "ada_warm_up.ipynb"
    path.write_text("x" * 11)
    packed = zipped(tmp_path / "inbox.zip", {path.name: "x" * 11})
    taken, notes = collect(course, [{"folder": inbox, "zip": packed, "file": path}[kind]])
    assert not taken and course.students() == ["ada"]
    assert len(notes) == 1 and "ada_warm_up.ipynb: left out, it is larger than" in notes[0]


def test_older_work_does_not_replace_what_was_collected_before(course, tmp_path):
    old = zipped(tmp_path / "old.zip", {"ada_warm_up.ipynb": "old"}, day=1)
    new = zipped(tmp_path / "new.zip", {"ada_warm_up.ipynb": "new"}, day=2)
    assert collect(course, [old])[1] == []
    assert collect(course, [new])[1] == []
    assert collect(course, [new]) == ({("ada", LESSON): "ada_warm_up.ipynb"}, [])
    taken, notes = collect(course, [old])
    assert handed_in(course) == {("ada", LESSON): "new"} and not taken
    assert len(notes) == 1 and "older than what was collected before" in notes[0]
    (course.path("submitted", "ada", LESSON) / f"{LESSON}.ipynb").unlink()
    collect(course, [old])
    assert handed_in(course) == {("ada", LESSON): "old"}


def test_a_zip_without_dates_counts_as_of_its_own_date(course, tmp_path):
    first = zipped(tmp_path / "first.zip", {"ada_warm_up.ipynb": "first"})
    second = tmp_path / "second.zip"
    with zipfile.ZipFile(second, "w") as archive:
        archive.writestr(zipfile.ZipInfo("ada_warm_up.ipynb"), "second")  # 1980
    os.utime(second, (1_900_000_000, 1_900_000_000))
    collect(course, [first])
    assert collect(course, [second])[1] == []
    assert handed_in(course) == {("ada", LESSON): "second"}


def test_a_damaged_zip_gets_a_sentence(course, tmp_path):
    path = zipped(tmp_path / "a.zip", {"ada_warm_up.ipynb": "hers"})
    data = path.read_bytes()
    path.write_bytes(data.replace(b"PK\x01\x02", b"PK\x00\x00"))
    with pytest.raises(CourseError, match="cannot be read"):
        collect(course, [path])


def test_a_member_that_cannot_be_unpacked_is_noted_and_the_others_are_taken(course, tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ada_warm_up.ipynb", "hers" * 100)
        archive.writestr("bob_warm_up.ipynb", "his")
    data = bytearray(path.read_bytes())
    start = 30 + len("ada_warm_up.ipynb")
    data[start : start + 4] = b"\xff" * 4
    path.write_bytes(data)
    taken, notes = collect(course, [path])
    assert taken.keys() == {("bob", LESSON)} and course.students() == ["ada", "bob"]
    assert len(notes) == 1 and "ada_warm_up.ipynb: left out, it cannot be read" in notes[0]
