"""One bad member of an archive costs one note: the others' work is collected."""

import contextlib
import io
import struct
import tracemalloc
import unicodedata
import zipfile

import pytest
from exported import handed_in, laid, packed, zipped
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from submissions import LESSON

from autograder.__main__ import main
from autograder.course import archives
from autograder.course.collect import collect
from autograder.errors import CourseError

CENTRAL, LOCAL = b"PK\x01\x02", b"PK\x03\x04"
NOTEBOOK = '{"cells": []}' * 20
METHODS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]


def archive(methods: dict[str, int]) -> bytearray:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as out:
        for name, method in methods.items():
            info = zipfile.ZipInfo(name, date_time=(2027, 3, 1, 12, 0, 0))
            out.writestr(info, NOTEBOOK, compress_type=method)
    return bytearray(made.getvalue())


def entry(data: bytes, name: str) -> tuple[int, int]:
    """Return where a member's local header and its line in the list of contents begin."""
    raw = name.encode()
    local = next(i for i in _all(data, LOCAL) if data[i + 30 : i + 30 + len(raw)] == raw)
    central = next(i for i in _all(data, CENTRAL) if data[i + 46 : i + 46 + len(raw)] == raw)
    return local, central


def _all(data: bytes, mark: bytes) -> list[int]:
    return [i for i in range(len(data)) if data[i : i + 4] == mark]


def corrupt_lzma() -> bytes:
    data = archive({"ada_warm_up.ipynb": zipfile.ZIP_LZMA, "bob_warm_up.ipynb": 0})
    start = 30 + len("ada_warm_up.ipynb")
    data[start + 4 : start + 9] = b"\xff" * 5
    return data


def version_nine() -> bytes:
    data = archive({"ada_warm_up.ipynb": 8, "bob_warm_up.ipynb": 8})
    local, central = entry(data, "ada_warm_up.ipynb")
    data[local + 4 : local + 6] = data[central + 6 : central + 8] = struct.pack("<H", 99)
    return data


def unknown_method() -> bytes:
    data = archive({"ada_warm_up.ipynb": 8, "bob_warm_up.ipynb": 8})
    local, central = entry(data, "ada_warm_up.ipynb")
    data[local + 8 : local + 10] = data[central + 10 : central + 12] = struct.pack("<H", 97)
    return data


def encrypted() -> bytes:
    data = archive({"ada_warm_up.ipynb": 8, "bob_warm_up.ipynb": 8})
    local, central = entry(data, "ada_warm_up.ipynb")
    data[local + 6] |= 1
    data[central + 8] |= 1
    return data


def no_utf8() -> bytes:
    data = archive({"ada_warm_up.ipynb": 8, "bob_warm_up.ipynb": 8})
    local, central = entry(data, "ada_warm_up.ipynb")
    for place in (local + 30, central + 46):
        data[place] = 0xFF
    data[local + 7] |= 8
    data[central + 9] |= 8  # the name is said to be UTF-8, and is not
    return data


def bad_extra_field() -> bytes:
    data = archive({"ada_warm_up.ipynb": 8, "bob_warm_up.ipynb": 8})
    _, central = entry(data, "ada_warm_up.ipynb")
    name = len("ada_warm_up.ipynb")
    data[central + 28 : central + 32] = struct.pack("<HH", name - 4, 4)
    data[central + 46 + name - 4 : central + 46 + name] = struct.pack("<HH", 1, 500)
    return data


def long_extract() -> bytes:
    data = archive({"ada_warm_up.ipynb": 8, "bob_warm_up.ipynb": 8})
    _, central = entry(data, "ada_warm_up.ipynb")
    data[central + 42 : central + 46] = struct.pack("<L", 0xFFFFFF00)  # begins beyond the end
    return data


DAMAGED = [
    *(corrupt_lzma, unknown_method, encrypted),
    *(no_utf8, bad_extra_field, long_extract),
]


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("damaged", DAMAGED)
def test_one_bad_member_costs_one_note(course, tmp_path, damaged, inside):
    data = bytes(damaged())
    path = tmp_path / "a.zip"
    path.write_bytes(packed({"one_1_assignsubmission_file_/all.zip": data}) if inside else data)
    _, notes = collect(course, [path])
    assert [*handed_in(course).values()] == [NOTEBOOK]
    assert len(notes) == 1
    assert "cannot be read" in notes[0] or "replaces the older" in notes[0]  # one learner's two


def test_a_member_for_a_newer_unzip_is_read_if_its_method_is_known(course, tmp_path):
    path = tmp_path / "a.zip"
    path.write_bytes(version_nine())
    assert collect(course, [path])[1] == []
    assert [*handed_in(course).values()] == [NOTEBOOK, NOTEBOOK]


def test_a_damaged_zip_among_others_costs_one_note(course, tmp_path):
    good = zipped(tmp_path / "good.zip", {"ada_warm_up.ipynb": "hers"})
    bad = zipped(tmp_path / "bad.zip", {"bob_warm_up.ipynb": "his"})
    data = bad.read_bytes()
    bad.write_bytes(data.replace(CENTRAL, b"PK\x00\x00"))
    _, notes = collect(course, [bad, good])
    assert handed_in(course) == {("ada", LESSON): "hers"}
    assert len(notes) == 1 and "bad.zip" in notes[0] and "cannot be read" in notes[0]


@pytest.mark.parametrize("kind", ["zip", "folder"])
@pytest.mark.parametrize(
    "pattern", ["{}_warm_up.ipynb", "{}_7_assignsubmission_file_/warm_up.ipynb"]
)
def test_long_names_are_counted_in_bytes_and_told_apart(course, tmp_path, pattern, kind):
    long = "水" * (70 if kind == "folder" else 100)
    files = {pattern.format(long + last): last for last in "火木"}
    source = zipped(tmp_path / "a.zip", files)
    if kind == "folder":
        source = laid(tmp_path / "a", files)
    collect(course, [source])
    assert sorted(handed_in(course).values()) == ["木", "火"]
    assert all(len(student.encode()) < 160 for student, _ in handed_in(course))


def test_names_are_printed_without_escapes_and_newlines(course, tmp_path, capsys):
    evil = "a\x1b[2J\x1b]0;x\x07\n\rroot: all is well\u202e\u2028_"
    files = {f"{evil}.ipynb": "x", f"{evil}/{evil}.pdf": "x", f"{evil}warm_up.ipynb": "x"}
    assert main(["collect", str(course.root), str(zipped(tmp_path / "a.zip", files))]) == 0
    printed = capsys.readouterr().out
    assert printed.count("\n") == len(printed.splitlines()) <= 4
    assert not [c for c in printed if c != "\n" and unicodedata.category(c)[0] == "C"]
    assert "\u2028" not in printed and "a?[2J" in printed


def test_a_path_that_nobody_would_make_costs_no_time_and_no_memory(course, tmp_path):
    deep = "ada/" + "a/" * 32_000 + "warm_up.ipynb"
    path = zipped(tmp_path / "a.zip", {deep: "deep", "bob/warm_up.ipynb": "bob"})
    tracemalloc.start()
    collect(course, [path])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert handed_in(course) == {("ada", LESSON): "deep", ("bob", LESSON): "bob"}
    assert peak < 20_000_000


def test_a_zip_with_too_many_files_is_not_listed(course, tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MOST_ENTRIES", 5)
    inner = packed({f"{i}.txt": "" for i in range(9)})
    path = zipped(tmp_path / "a.zip", {"ada/all.zip": inner, "bob/warm_up.ipynb": "bob"})
    _, notes = collect(course, [path])
    assert handed_in(course) == {("bob", LESSON): "bob"}
    assert "ada/all.zip: left out, it cannot be read (it holds too many files)." in notes


@st.composite
def damaged_archives(draw) -> bytes:
    """Return an archive as it may come from a bad disk or a bad person."""
    names = draw(
        st.lists(
            st.sampled_from(
                [
                    *("ada_warm_up.ipynb", "bob_warm_up.ipynb", "/etc/warm_up.ipynb"),
                    *("../../out/warm_up.ipynb", "水" * 100 + "_warm_up.ipynb", "x" * 300),
                    *("C:\\ada\\warm_up.ipynb", "a/" * 200 + "warm_up.ipynb", "all.zip"),
                    *("Ada_1_assignsubmission_file_/all.zip", "doe_1_2_warm_up.ipynb", "."),
                    *("ada_warm_up.ipynb/", "con\x00_warm_up.ipynb", "\udcff_warm_up.ipynb"),
                ]
            ),
            min_size=1,
            max_size=6,
        )
    )
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as out, contextlib.suppress(UnicodeEncodeError):
        for name in names:  # also twice the same
            method = draw(st.sampled_from(METHODS))
            inner = bytes(archive({"warm_up.ipynb": method})) if name.endswith("zip") else NOTEBOOK
            out.writestr(zipfile.ZipInfo(name), inner, compress_type=method)
    data = bytearray(made.getvalue())
    for _ in range(draw(st.integers(0, 8))):
        data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    return bytes(data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=damaged_archives())
def test_no_damage_stops_the_others(course, tmp_path, data):
    bad = tmp_path / "bad.zip"
    bad.write_bytes(data)
    good = zipped(tmp_path / "good.zip", {"Zoe_9_assignsubmission_file_/warm_up.ipynb": "hers"})
    with contextlib.suppress(CourseError):  # a file that is no zip at all gets a sentence
        collect(course, [bad, good])
        assert handed_in(course)["Zoe", LESSON] == "hers"
    before = {p.name for p in tmp_path.iterdir()}
    assert before == {"bad.zip", "good.zip", "course"}
