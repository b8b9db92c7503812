"""Damaged files and hostile bytes: a sentence or a grade, never a traceback, never a full stop."""

import json
import random
import socket
import struct
import time

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from submissions import LESSON, honest, released

from autograder.checks.cells import is_check
from autograder.course.course import init
from autograder.course.repair import repair
from autograder.course.submission import read
from autograder.errors import Unreadable
from autograder.grading.grade import grade
from autograder.report.export import rows
from autograder.running.batch import Job
from autograder.running.side_by_side import SideBySide
from autograder.running.walled import Settings, skippable
from autograder.seam.link import LinkError, receive
from autograder.seam.wire import dumps
from autograder.wall.wall import why_not

RELEASED = released()
BYTES = json.dumps(honest()).encode()
CHECKS = {cell.id for cell in RELEASED.cells if is_check(cell)}
STATUSES = {"graded", "timed out", "crashed", "unreadable"}

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4)
    ),
    max_leaves=12,
)
KEYS = """cells metadata nbformat worksheets kernelspec nbgrader tags id source cell_type outputs
attachments grade_id points grade locked"""
keys = st.sampled_from(KEYS.split())
notebook_like = st.dictionaries(keys, plain | st.lists(st.dictionaries(keys, plain)), max_size=6)
few = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / f"{LESSON}.ipynb"


def survives(path, data: bytes) -> None:
    """Do with a file all that happens before it is run."""
    path.write_bytes(data)
    try:
        notebook = read(path)
    except Unreadable as problem:
        assert str(problem).endswith(".")
        return
    made, notes = repair(notebook, RELEASED)
    assert {cell.id for cell in made.cells} >= CHECKS
    assert all(isinstance(note, str) for note in notes)
    nbformat.validate(made)
    skippable(made.cells, LESSON)
    text = nbformat.writes(made)
    text.encode("utf-8")
    assert Job(LESSON, text, Settings("seed")).key


@few
@given(st.lists(st.integers(0, 8 * len(BYTES) - 1), min_size=1, max_size=20))
def test_flipped_bits(path, places):
    data = bytearray(BYTES)
    for place in places:
        data[place // 8] ^= 1 << place % 8
    survives(path, bytes(data))


@few
@given(st.integers(0, len(BYTES)), st.integers(0, 3000), st.binary(max_size=40))
def test_pieces_cut_out_and_put_in(path, start, length, other):
    survives(path, BYTES[:start] + other + BYTES[start + length :])


@few
@given(plain | notebook_like)
def test_any_json(path, value):
    survives(path, json.dumps(value).encode())


@few
@given(st.data())
def test_wrong_types_anywhere(path, data):
    notebook = json.loads(BYTES)
    for _ in range(data.draw(st.integers(1, 6))):
        target = data.draw(st.sampled_from([*notebook["cells"], notebook]))
        if not isinstance(target, dict):
            continue
        if data.draw(st.booleans()) and isinstance(target.get("metadata"), dict):
            target = target["metadata"]
            if data.draw(st.booleans()) and isinstance(target.get("nbgrader"), dict):
                target = target["nbgrader"]
        value = data.draw(plain | notebook_like)
        target[data.draw(st.sampled_from(sorted(target)) if target else keys)] = value
        if not isinstance(notebook.get("cells"), list):
            break
    survives(path, json.dumps(notebook).encode())


@few
@given(st.text(alphabet=st.characters(), max_size=200), st.sampled_from(sorted(CHECKS)))
def test_any_text_in_any_cell(path, text, name):
    notebook = json.loads(BYTES)
    for cell in notebook["cells"]:
        if cell["id"] in (name, name.removesuffix("-check")):
            cell["source"] = text
    survives(path, json.dumps(notebook).encode())


def sent(data: bytes):
    """Send bytes, hang up, and read them as a frame."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.settimeout(5)
        theirs.sendall(data)
        theirs.shutdown(socket.SHUT_WR)
        return receive(ours, time.monotonic() + 5)


MESSAGE = dumps({"token": "abc", "seen": [1, 2.5, None, b"x", ("a", {"b": True})]})


@few
@given(st.binary(max_size=400))
def test_bytes_that_are_no_frame(data):
    for whole in (data, struct.pack("<Q", len(data)) + data):
        with pytest.raises(LinkError):
            sent(whole)


@few
@given(st.lists(st.tuples(st.integers(0, len(MESSAGE) - 1), st.integers(0, 255)), max_size=8))
def test_a_frame_with_changed_bytes_is_a_value_or_a_link_error(changes):
    data = bytearray(MESSAGE)
    for place, value in changes:
        data[place] = value
    try:
        sent(struct.pack("<Q", len(data)) + bytes(data))
    except LinkError as problem:
        assert str(problem)


@few
@given(plain)
def test_a_header_of_any_json_is_a_value_or_a_link_error(value):
    header = json.dumps(value).encode()
    body = struct.pack("<Q", len(header)) + header
    try:
        sent(struct.pack("<Q", len(body)) + body)
    except LinkError as problem:
        assert str(problem)


def test_a_frame_that_never_comes_ends_at_the_deadline():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(struct.pack("<Q", 100) + b"half")
        with pytest.raises(LinkError, match="too long"):
            receive(ours, time.monotonic() + 0.2)


@pytest.mark.skipif(bool(why_not()), reason=f"no sandbox here: {why_not()}")
def test_damaged_notebooks_never_stop_a_batch(tmp_path, capsys):
    course, dice = init(tmp_path / "course", [LESSON]), random.Random(3)
    for number in range(8):
        data = bytearray(BYTES)
        for _ in range(number * 3):
            data[dice.randrange(len(data))] = dice.randrange(32, 127)
        folder = course.path("submitted", f"learner_{number}", LESSON)
        folder.mkdir(parents=True)
        (folder / f"{LESSON}.ipynb").write_bytes(bytes(data))
    records = grade(course, LESSON, SideBySide(timeout=3, total=30))
    assert {fact for record in records.values() for fact in record.status} <= STATUSES
    assert len(records) == len(rows(course, LESSON)) == 8
    assert rows(course, LESSON)[0].score == 90
    assert "Traceback" not in capsys.readouterr().err
