"""Frames over a socket: a length, then plain values; bounded in size and in time (PROTOCOL.md)."""

import secrets
import socket
import struct
import time
from typing import Any

from autograder.seam.wire import WireError, dumps, loads

MAX_FRAME = 64 * 1024 * 1024


class LinkError(Exception):
    """The other side is gone, late, or does not speak the protocol; the text says which."""


def send(link: socket.socket, value: Any, deadline: float | None = None) -> None:
    """Write one frame."""
    body = dumps(value)
    _arm(link, deadline)
    try:
        link.sendall(struct.pack("<Q", len(body)))
        link.sendall(body)
    except TimeoutError:
        raise LinkError("it took too long") from None
    except OSError:
        raise LinkError("the process ended") from None


def receive(link: socket.socket, deadline: float | None = None, most: int = MAX_FRAME) -> Any:
    """Read one frame; the buffer is made once, and only after its size was found acceptable."""
    (size,) = struct.unpack("<Q", _read(link, 8, deadline))
    if size > most:
        raise LinkError(
            f"an answer of {size / 1e6:.0f} MB is more than the {most / 1e6:.0f} allowed"
        )
    try:
        return loads(_read(link, size, deadline))
    except WireError as problem:
        raise LinkError(str(problem)) from None


def ask(link: socket.socket, seconds: float, **request: Any) -> dict:
    """Send a request and wait for its answer, and for nothing else."""
    token, deadline = secrets.token_hex(8), time.monotonic() + seconds
    send(link, {"token": token, **request}, deadline)
    answer = receive(link, deadline)
    if type(answer) is not dict or answer.get("token") != token:
        raise LinkError("an answer came that nobody asked for")
    return answer


def _read(link: socket.socket, size: int, deadline: float | None) -> bytearray:
    data = bytearray(size)
    view, got = memoryview(data), 0
    while got < size:
        _arm(link, deadline)
        try:
            n = link.recv_into(view[got:])
        except TimeoutError:
            raise LinkError("it took too long") from None
        except OSError:
            raise LinkError("the process ended") from None
        if n == 0:
            raise LinkError("the process ended")
        got += n
    return data


def _arm(link: socket.socket, deadline: float | None) -> None:
    if deadline is None:
        link.settimeout(None)
        return
    left = deadline - time.monotonic()
    if left <= 0:
        raise LinkError("it took too long")
    link.settimeout(left)
