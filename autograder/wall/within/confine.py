"""Shut one process in: namespaces, private folders, limits, no rights, few system calls.

`confine` runs in a fork of the zygote and returns only in the learner's process. Between the
zygote and it stand two others: one that holds the new namespaces together with the outside, and
a small init, because the first process of a pid namespace ignores its own signals.
"""

import os
import resource
import signal
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from autograder.wall.within import landlock, seccomp
from autograder.wall.within.kernel import (
    BIND,
    LAST_CAPABILITY,
    NEWIPC,
    NEWNET,
    NEWNS,
    NEWPID,
    NEWUSER,
    NEWUTS,
    NODEV,
    NOEXEC,
    NOSUID,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_PDEATHSIG,
    PRIVATE,
    RDONLY,
    REC,
    REMOUNT,
    drop_capabilities,
    mount,
    prctl,
    unshare,
)

WORK = "/tmp/work"
WRITABLE = ("/tmp", "/dev/shm")  # private to one process and its children; all else is read-only
TERMINALS = "/dev/pts"  # private too
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")


@dataclass(frozen=True)
class Limits:
    """What one learner's process may use."""

    memory: int = 3 << 30  # bytes of address space: torch maps much more than it uses
    together: int = 3 << 30  # bytes of memory of all its processes, where control groups allow it
    seconds: int = 660  # of processor time, for each process: twice the time for a notebook
    files: int = 64 << 20  # bytes of one file, and of all in /tmp and in /dev/shm
    inodes: int = 16384  # files and folders in /tmp and in /dev/shm: empty ones take memory too
    open_files: int = 256
    processes: int = 64

    def as_dict(self) -> dict[str, int]:
        return asdict(self)


def confine(limits: Limits, keep: int) -> None:
    """Enter the cell; `keep` is the one descriptor that stays open. Returns in the learner only."""
    last = int(LAST_CAPABILITY.read_text())
    _new_namespaces()
    _private_folders(limits)
    _be_third_process(keep)
    _close_all_but(keep)
    for what, most in (
        (resource.RLIMIT_AS, limits.memory),
        (resource.RLIMIT_FSIZE, limits.files),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_NPROC, limits.processes),
        (resource.RLIMIT_CPU, limits.seconds),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
    ):
        resource.setrlimit(what, (most, most))
    os.chdir(WORK)
    drop_capabilities(last)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    landlock.restrict((*WRITABLE, TERMINALS), [f"/dev/{name}" for name in DEVICES])
    seccomp.restrict()


def detach(keep: int) -> None:
    """Be a process that nothing confines: a folder of its own, no terminal, no descriptors."""
    os.setsid()
    _close_all_but(keep)
    os.chdir(tempfile.mkdtemp(prefix="submission-"))


def _new_namespaces() -> None:
    user, group = os.getuid(), os.getgid()
    unshare(NEWUSER | NEWNS | NEWPID | NEWNET | NEWIPC | NEWUTS)
    me = Path("/proc/self")
    (me / "setgroups").write_text("deny")
    (me / "uid_map").write_text(f"{user} {user} 1")
    (me / "gid_map").write_text(f"{group} {group} 1")


def _private_folders(limits: Limits) -> None:
    processor = Path("/proc/cpuinfo").read_bytes()  # without it torch complains
    mount("none", "/", None, REC | PRIVATE)
    room = f"size={limits.files},nr_inodes={limits.inodes},mode=777"
    for target in (*WRITABLE, "/proc"):
        mount("tmpfs", target, "tmpfs", NOSUID | NODEV, room)
    Path("/proc/cpuinfo").write_bytes(processor)
    mount("none", "/proc", None, BIND | REMOUNT | RDONLY | NOSUID | NODEV)
    # a terminal of another instance is another file: nobody reads what a neighbour writes
    mount("devpts", TERMINALS, "devpts", NOSUID | NOEXEC, "newinstance,ptmxmode=0666,mode=0600")
    Path(WORK).mkdir()


def _be_third_process(keep: int) -> None:
    """Fork twice; the first two only wait, and take everything with them when they end."""
    for _ in ("the holder waits for init", "init waits for the learner"):
        child = os.fork()
        if child:
            os.close(keep)  # so that the grader sees at once when the learner's end is closed
            while True:
                ended, _status = os.wait()
                if ended == child:
                    os._exit(0)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.setsid()


def _close_all_but(keep: int) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    os.closerange(3, keep)
    os.closerange(keep + 1, 1 << 16)
