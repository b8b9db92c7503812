"""Frames between two processes: what is too large, too late or not asked for is refused."""

import socket
import struct
import threading
import time

import pytest

from autograder.seam import link as frames
from autograder.seam.link import LinkError, ask, receive, send


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def test_a_value_arrives_as_it_was_sent(ends):
    ours, theirs = ends
    send(ours, {"a": [1, (2.0, None)]})
    assert receive(theirs, time.monotonic() + 5) == {"a": [1, (2.0, None)]}


def test_a_frame_that_claims_too_much_is_refused_before_any_memory_is_taken(ends, monkeypatch):
    ours, theirs = ends
    theirs.send(struct.pack("<Q", frames.MAX_FRAME + 1))
    sizes, read = [], frames._read
    monkeypatch.setattr(frames, "_read", lambda of, n, end: sizes.append(n) or read(of, n, end))
    with pytest.raises(LinkError, match="more than the 67 allowed"):
        receive(ours, time.monotonic() + 0.5)
    assert sizes == [8]


def test_an_answer_that_drips_in_byte_by_byte_does_not_outlast_the_deadline(ends):
    ours, theirs = ends

    def drip() -> None:
        theirs.send(struct.pack("<Q", 30))
        for _ in range(30):
            time.sleep(0.1)
            try:
                theirs.send(b"x")
            except OSError:
                return

    dripping = threading.Thread(target=drip)
    dripping.start()
    start = time.monotonic()
    with pytest.raises(LinkError, match="it took too long"):
        receive(ours, start + 0.5)
    assert time.monotonic() - start < 2
    ours.close()
    dripping.join()


def test_an_answer_that_was_ready_before_the_question_is_refused(ends):
    ours, theirs = ends
    send(theirs, {"token": "a guess", "seen": b""})
    with pytest.raises(LinkError, match="nobody asked for"):
        ask(ours, 5, do="observe")
