"""The warm process behind the wall: imports torch once, forks a confined child on request.

Started by wall.start inside bubblewrap, with one descriptor: the control socket. It runs a single
thread, holds no check, no seed and no answer, and does nothing but fork, kill and reap.
"""

import contextlib
import gc
import importlib
import io
import json
import os
import select
import signal
import socket
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autograder.wall.within.confine import Limits

NOBODY = 65534


def main(control_fd: int, how: str, *modules: str) -> None:
    confined = how == "confined"
    if confined:
        be_nobody()
    warm(modules)
    control = socket.socket(fileno=control_fd)
    control.send(b"ready")
    serve_doors(control, confined)


def be_nobody() -> None:
    """Give up all rights, for good."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    from autograder.wall.within.kernel import PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, prctl

    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_DUMPABLE, 1)  # changing the user cleared it, and the maps of a child need it


def serve_doors(control: socket.socket, confined: bool) -> None:
    """Answer whoever has a socket to here; when one hangs up, end what was forked for it."""
    from autograder.wall.within.confine import Limits

    doors: dict[socket.socket, set[int]] = {control: set()}
    while True:
        for door in select.select(list(doors), [], [])[0]:
            message, fds, _, _ = socket.recv_fds(door, 4096, 1)
            if not message and door is control:
                return  # the grader is gone
            if not message:
                for child in doors.pop(door):
                    end(child)
                door.close()
                continue
            request, answer = json.loads(message), {}
            if "door" in request:
                doors[socket.socket(fileno=fds[0])] = set()
            elif "fork" in request:
                closed = [other.fileno() for other in doors]
                limits = Limits(**request["fork"]) if confined else None
                answer["pid"] = fork(limits, closed, fds[0])
                os.close(fds[0])
                doors[door].add(answer["pid"])
            else:
                doors[door].discard(request["end"])
                end(request["end"])
            with contextlib.suppress(OSError):
                door.send(json.dumps(answer).encode())


def warm(modules: tuple[str, ...]) -> None:
    """Import what notebooks import; one thread, or the children would hang."""
    import matplotlib
    import torch

    for name in ("matplotlib_inline.backend_inline", "pyseccomp", *modules):
        importlib.import_module(name)
    matplotlib.use("Agg")
    torch.set_num_threads(1)
    from matplotlib.figure import Figure

    import autograder.wall.within.serve  # noqa: F401
    from autograder.seam.shell import Shell

    figure = Figure()
    figure.add_subplot(title="fonts")
    figure.savefig(io.BytesIO())  # finds and reads the fonts
    Shell.instance().run_cell("None", silent=True)  # the first cell imports some more
    gc.collect()
    gc.freeze()  # a child's collections need not visit, and so copy, what is here already


def fork(limits: "Limits | None", doors: list[int], link: int) -> int:
    """Fork; the child shuts itself in and serves the grader until one of them ends.

    Without limits it is not shut in: it gets a folder of its own, and a group to be killed with.
    """
    if threading.active_count() != 1:
        raise RuntimeError("a thread was started before a fork: its locks would hang the child")
    child = os.fork()
    if child:
        return child
    try:
        for door in doors:
            os.close(door)
        from autograder.wall.within.confine import confine, detach
        from autograder.wall.within.serve import serve

        if limits:
            confine(limits, keep=link)
        else:
            detach(keep=link)
        serve(socket.socket(fileno=link))
    finally:
        os._exit(0)


def end(child: int) -> None:
    """Kill a child, and with it everything in its namespaces or its group; then reap it."""
    for kill in (os.killpg, os.kill):  # before setsid there is no group of its own yet
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
