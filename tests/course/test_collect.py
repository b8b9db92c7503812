"""Submissions are found whatever they are called, and land nowhere but in the course."""

import os
import shutil
import unicodedata
import zipfile

import pytest
from submissions import LESSON

from autograder.course import collect as collecting
from autograder.course.collect import collect
from autograder.course.course import Course, init
from autograder.course.submission import find
from autograder.course.whose import _split
from autograder.errors import CourseError, Missing


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


def laid(root, files: dict[str, str], when: float = 1_800_000_000):
    """Write a folder whose files all have the same date, so that none is older."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (when, when))
    return root


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
        ("warmup.ipynb", "", "warm_up"),
        ("ada_ImageGPT.ipynb", "ada_", "image_gpt"),
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


TOLD_APART_BY_FOLDER = {
    "the inner folder is called the same": (
        {"doe/homework/warm_up.ipynb": "doe", "roe/homework/warm_up.ipynb": "roe"},
        {"doe": "doe", "roe": "roe"},
    ),
    "the file is called the same": (
        {"doe/my_warm_up.ipynb": "doe", "roe/my_warm_up.ipynb": "roe"},
        {"doe": "doe", "roe": "roe"},
    ),
    "one has a folder more": (
        {"doe/warm_up.ipynb": "doe", "roe/homework/warm_up.ipynb": "roe"},
        {"doe": "doe", "roe": "roe"},
    ),
    "learners lie in a week": (
        {"week/doe/warm_up.ipynb": "doe", "week/roe/warm_up.ipynb": "roe"},
        {"doe": "doe", "roe": "roe"},
    ),
    "the late ones lie in a folder": (
        {"doe_warm_up.ipynb": "doe", "late/roe_warm_up.ipynb": "roe"},
        {"doe": "doe", "roe": "roe"},
    ),
    "a lesson's folder holds them": (
        {"warm_up/doe.ipynb": "doe", "warm_up/robert.ipynb": "robert"},
        {"doe": "doe", "robert": "robert"},
    ),
    "a learner has folders of other things": (
        {"lee/warm_up.ipynb": "lee", "lee/figures/plot.png": "", "kim/warm_up.ipynb": "kim"},
        {"lee": "lee", "kim": "kim"},
    ),
}


@pytest.mark.parametrize("kind", ["folder", "zip"])
@pytest.mark.parametrize("case", TOLD_APART_BY_FOLDER)
def test_the_folder_that_tells_works_apart_is_the_learners(course, tmp_path, case, kind):
    files, expected = TOLD_APART_BY_FOLDER[case]
    packed = zipped(tmp_path / "hw.zip", files)
    _, notes = collect(course, [packed if kind == "zip" else laid(tmp_path / "hw", files)])
    assert {student: text for (student, _), text in handed_in(course).items()} == expected
    assert course.students() == sorted(expected) and notes == []


def test_a_learner_is_called_the_same_in_folders_for_weeks_and_for_lessons(course, tmp_path):
    init(course.root, ["recurrence"])
    weeks = {
        "week1/doe/warm_up.ipynb": "1",
        "week1/roe/warm_up.ipynb": "1",
        "week2/doe/recurrence.ipynb": "2",
    }
    nested = {
        "doe/hw1/warm_up.ipynb": "1",
        "roe/hw1/warm_up.ipynb": "1",
        "doe/hw2/recurrence.ipynb": "2",
    }
    expected = {("doe", LESSON): "1", ("roe", LESSON): "1", ("doe", "recurrence"): "2"}
    for name, files in (("weeks", weeks), ("nested", nested)):
        assert collect(course, [laid(tmp_path / name, files)])[1] == []
        assert handed_in(course) == expected


def test_folders_that_are_given_name_the_learners(course, tmp_path):
    files = {
        "doe/warm_up/solution.ipynb": "doe",
        "roe/warm_up/solution.ipynb": "roe",
        "lee/warm_up.ipynb": "lee",
        "paul/scan.pdf": "",
    }
    root = laid(tmp_path / "gl", files)
    _, notes = collect(course, sorted(root.iterdir()))
    assert handed_in(course) == {(name, LESSON): name for name in ("doe", "lee", "roe")}
    assert notes == ["paul: no notebook, only scan.pdf."]
    assert course.students() == ["doe", "lee", "paul", "roe"]


def test_folders_of_one_name_that_are_given_are_of_different_learners(course, tmp_path):
    files = {f"{name}/homework/warm_up.ipynb": name for name in ("doe", "roe")}
    _, notes = collect(course, sorted(laid(tmp_path / "gl", files).glob("*/homework")))
    assert handed_in(course) == {("doe", LESSON): "doe", ("roe", LESSON): "roe"} and notes == []


def test_one_folder_that_is_given_names_its_learner_or_its_lesson(course, tmp_path):
    collect(course, [laid(tmp_path / "doe", {"warm_up.ipynb": "doe"})])
    collect(course, [laid(tmp_path / LESSON, {"ada.ipynb": "ada", "readme.txt": ""})])
    assert handed_in(course) == {("doe", LESSON): "doe", ("ada", LESSON): "ada"}
    assert course.students() == ["ada", "doe"]


def test_a_notebook_beside_the_learners_folders_is_nobodys(course, tmp_path):
    names = ["warm_up.ipynb", "doe/warm_up.ipynb", "roe/warm_up.ipynb"]
    _, notes = collect(course, [laid(tmp_path / "hw", dict.fromkeys(names, "work"))])
    assert course.students() == ["doe", "roe"]
    assert notes == ["hw/warm_up.ipynb: left out, the name does not say whose it is."]


@pytest.mark.parametrize("pattern", ["{}/warm_up.ipynb", "{}_warm_up.ipynb"])
def test_names_that_only_look_the_same_when_cleaned_are_kept_apart(course, tmp_path, pattern):
    init(course.root, ["recurrence"])
    first, second = pattern.format("O'Brien"), pattern.format("O Brien")
    more = first.replace(LESSON, "recurrence")
    path = zipped(tmp_path / "a.zip", {first: "first", second: "second", more: "more"})
    taken, notes = collect(course, [path])
    by_text = {text: student for (student, _), text in handed_in(course).items()}
    assert by_text.keys() == {"first", "second", "more"}
    assert by_text["first"] == by_text["more"] != by_text["second"]
    assert len(notes) == 1 and f"{by_text['first']} (O'Brien)" in notes[0]
    assert collect(course, [path]) == (taken, notes)  # the same names again


def test_two_people_of_one_name_in_different_folders_are_kept_apart(course, tmp_path):
    files = {
        "monday/doe/warm_up.ipynb": "one",
        "monday/roe/warm_up.ipynb": "roe",
        "friday/doe/warm_up.ipynb": "other",
        "friday/kim/warm_up.ipynb": "kim",
    }
    _, notes = collect(course, [zipped(tmp_path / "a.zip", files)])
    assert handed_in(course) == {
        ("doe_monday", LESSON): "one",
        ("doe_friday", LESSON): "other",
        ("roe", LESSON): "roe",
        ("kim", LESSON): "kim",
    }
    assert len(notes) == 1 and notes[0].startswith("doe: different works of one lesson")


@pytest.mark.parametrize("given", ["hw", "hw/lee", "zip"])
def test_a_folder_inside_a_learners_folder_is_no_learner(course, tmp_path, given):
    files = {"lee/old/warm_up.ipynb": "old"}
    root = laid(tmp_path / "hw", files, when=1_700_000_000)
    laid(root, {"lee/warm_up.ipynb": "new"})
    packed = tmp_path / "hw.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for name in ("lee/old/warm_up.ipynb", "lee/warm_up.ipynb"):
            archive.write(root / name, name)
    _, notes = collect(course, [packed if given == "zip" else tmp_path / given])
    assert handed_in(course) == {("lee", LESSON): "new"} and course.students() == ["lee"]
    assert len(notes) == 1 and "replaces the older" in notes[0]


def test_an_accent_is_the_same_however_it_is_written(course, tmp_path):
    name = "José Núñez"
    forms = [unicodedata.normalize(form, name) for form in ("NFC", "NFD")]
    for day, form in enumerate(forms, start=1):
        for pattern in ("{}/warm_up.ipynb", "{}_7_assignsubmission_file_/warm_up.ipynb"):
            path = zipped(tmp_path / "a.zip", {pattern.format(form): f"day {day}"}, day)
            collect(course, [path])
    assert handed_in(course) == {("José_Núñez", LESSON): "day 2"}
    assert course.students() == ["José_Núñez"]


def test_a_lesson_that_the_course_does_not_have_is_named_and_is_nobody(course, tmp_path):
    names = [
        "vit.ipynb",
        "self_attention/ada.ipynb",
        "self_attention/plot.png",
        "doe_warm_up.ipynb",
    ]
    _, notes = collect(course, [laid(tmp_path / "mess", dict.fromkeys(names, ""))])
    assert any(n.startswith("mess/vit.ipynb: left out, vit is no lesson of this") for n in notes)
    assert any("self_attention is no lesson of this course" in n for n in notes)
    assert not {"vit", "self_attention", "mess"} & {*course.students()}


def test_a_zip_in_a_folder_is_not_opened_and_is_nobody(course, tmp_path):
    root = tmp_path / "mess"
    (root / "week1").mkdir(parents=True)
    for name in ("canvas.zip", "week1/canvas.zip", "week1_warm_up.zip"):
        zipped(root / name, {"ada_warm_up.ipynb": "hers"})
    taken, notes = collect(course, [root])
    assert not taken and course.students() == []
    assert len(notes) == 3 and all("is not opened" in note for note in notes)
    sent = {"Pia Pdf_5_assignsubmission_file_/answer.zip": "", "doejane_1_2_all.zip": ""}
    collect(course, [zipped(tmp_path / "moodle.zip", sent)])  # a learner's own, from a platform
    assert course.students() == ["Pia_Pdf", "doejane_1"]


def test_another_file_of_the_same_date_replaces_the_first_with_a_note(course, tmp_path):
    first = zipped(tmp_path / "first.zip", {"ada_warm_up.ipynb": "first"})
    other = zipped(tmp_path / "other.zip", {"ada_warm_up.ipynb": "other"})
    assert collect(course, [first])[1] == collect(course, [first])[1] == []
    notes = collect(course, [other])[1]
    assert len(notes) == 1 and "replaces another file of the same date" in notes[0]
