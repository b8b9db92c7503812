"""One writer at a time: a lock of the operating system on a file of the course.

It ends with the process that holds it, however that ends, so that nothing stale is left. It is
`lockf` and not `flock`, because a child inherits the second: one that outlives its killed grader
for a moment would hold up the next.
"""

import contextlib
import errno
import fcntl
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from autograder.errors import CourseError

LOCK_FILE = ".lock"
_held: set[Path] = set()  # by this process: a command asks once, and so does what it calls


@contextlib.contextmanager
def only_writer(root: Path, command: str) -> Iterator[None]:
    """Have the course to oneself, or say who has it."""
    root = root.resolve()
    if root in _held:
        yield
        return
    path = root / LOCK_FILE
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _lock(handle, path)
        me = f"`{command}`, process {os.getpid()} on {socket.gethostname()}"
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{me}, since {time.strftime('%Y-%m-%d %H:%M:%S')}".encode(), 0)
        _held.add(root)
        yield
    finally:
        _held.discard(root)
        os.close(handle)  # lets the lock go; what stands in the file then counts for nothing


def _lock(handle: int, path: Path) -> None:
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        if problem.errno not in (errno.EACCES, errno.EAGAIN):
            print(
                f"{path.parent} is on a file system without locks: make sure that nobody else "
                "grades this course at the same time."
            )
            return
        holder = os.pread(handle, 500, 0).decode("utf-8", "replace") or "another process"
        raise CourseError(
            f"Somebody is writing to {path.parent} already: {holder}. Wait until that has ended, "
            "or end it there, and give this command again. Nothing was changed."
        ) from None
