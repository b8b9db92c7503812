"""The grader's side: start the zygote inside bubblewrap, and get confined processes from it."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from autograder.errors import WallError
from autograder.wall import cgroup
from autograder.wall.furnish import furnish, trains
from autograder.wall.within.confine import Limits

START = 120.0  # seconds for the first import of torch on a slow disk
SHARE = 0.8  # of the memory may be learners'; the rest is the grader's own
LEAST = 512 << 20  # bytes that a submission needs: what it shares with the zygote is not counted
SYSTEM = ("/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin")
SETTINGS = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/fonts",
    "/etc/localtime",
)
ENVIRONMENT_PLACE = "/env"  # not where it is outside: a checkout below /tmp would be covered
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "PYTHONPATH": "/inside",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONSAFEPATH": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MPLCONFIGDIR": "/tmp/matplotlib",
    "IPYTHONDIR": "/tmp/ipython",
    "MPLBACKEND": "Agg",
    "TQDM_DISABLE": "1",
}


def sized(jobs: int, total: float) -> tuple[int, Limits]:
    """Return how many submissions this machine's memory holds, up to `jobs`, and their limits.

    `total` is the time for a notebook: its cells may take that long, and its checks again.
    """
    room = int(SHARE * cgroup.memory())
    jobs = max(1, min(jobs, room // LEAST))
    together = min(Limits.together, max(LEAST, room // jobs))
    return jobs, Limits(together=together, seconds=int(2 * total) + 60)


def why_not() -> str:
    """Return why no sandbox can be made on this machine, or "" if one can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (apt-get install bubblewrap)"
    try:
        import pyseccomp  # noqa: F401
    except (ImportError, RuntimeError, OSError):
        return "libseccomp or its Python binding pyseccomp is not installed"
    trial = ["bwrap", "--unshare-user", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/"]
    done = subprocess.run([*trial, "true"], capture_output=True, text=True, timeout=30)
    if done.returncode:
        return f"user namespaces are not allowed here ({done.stderr.strip()[:200]})"
    return ""


class Door:
    """One socket to a zygote: asks for confined processes, one answer at a time."""

    def __init__(self, lesson: str, limits: Limits, control: socket.socket | None = None):
        self.lesson, self.limits, self.control = lesson, limits, control
        self.groups: Path | None = None  # where control groups are made, if not beside our own

    def fork(self) -> "Sandbox":
        """Return a fresh confined process."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        with theirs:
            pid = self.request({"fork": self.limits.as_dict()}, theirs.fileno())["pid"]
        return Sandbox(self, ours, pid)

    def request(self, message: dict, *fds: int) -> dict:
        assert self.control is not None, "the wall was not started"
        try:
            socket.send_fds(self.control, [json.dumps(message).encode()], fds)
            answer: dict = json.loads(self._receive())
            return answer
        except (OSError, ValueError):
            raise WallError("The process behind the wall is gone.") from None

    def _receive(self) -> bytes:
        assert self.control is not None, "the wall was not started"
        try:
            return self.control.recv(4096)
        except OSError:
            return b""

    def close(self) -> None:
        if self.control is not None:
            self.control.close()


class Wall(Door):
    """A warm zygote for one lesson; `with Wall(lesson) as wall: sandbox = wall.fork()`."""

    needs_sandbox = True

    def __init__(self, lesson: str, limits: Limits | None = None):
        super().__init__(lesson, limits or Limits())
        self.process: subprocess.Popen | None = None
        self.is_ready = False

    def __enter__(self) -> "Wall":
        self.start()
        self.wait()
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def start(self) -> None:
        """Begin to warm the zygote up, and do not wait for it; a second call does nothing."""
        if self.process is not None:
            return
        if self.needs_sandbox and (reason := why_not()):
            raise WallError(f"No sandbox can be made here: {reason}.")
        self.folder = tempfile.TemporaryDirectory(prefix="wall-")
        inside = Path(self.folder.name) / "inside"
        furnish(inside, self.lesson)
        Path(self.folder.name).chmod(0o755)
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the wall
        # imported by the first optimiser, and it takes two seconds
        warm = ["torch._dynamo"] if trains(self.lesson) else []
        how = "confined" if self.needs_sandbox else "open"
        zygote = ["-m", "autograder.wall.within.zygote", str(theirs.fileno()), how, *warm]
        self.process = subprocess.Popen(
            [*self.command(inside), *zygote],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.log,
            env=self.environment(inside),
        )
        theirs.close()

    def command(self, inside: Path) -> list[str]:
        """Return how Python is started where learners' code will run."""
        return [*cgroup.scope(), *bwrap(inside), python()]

    def environment(self, inside: Path) -> dict[str, str]:
        """Return the environment of that command; bubblewrap sets the one behind the wall."""
        return {name: os.environ[name] for name in cgroup.SESSION if name in os.environ}

    def wait(self) -> None:
        """Wait until the zygote is warm."""
        assert self.control is not None, "the wall was not started"
        self.control.settimeout(START)
        if not self.is_ready and self._receive() != b"ready":
            self.log.seek(0)
            text = self.log.read().decode(errors="replace")[-600:]
            self.close()
            raise WallError(f"The process behind the wall did not start: {text}")
        if not self.is_ready and self.needs_sandbox and cgroup.scope():
            assert self.process is not None
            self.groups = cgroup.delegated(self.process.pid)
        self.is_ready = True

    def door(self) -> Door:
        """Make another socket to the same zygote, for another process to use."""
        self.wait()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.request({"door": True}, theirs.fileno())
        ours.settimeout(START)
        door = Door(self.lesson, self.limits, ours)
        door.groups = self.groups
        return door

    def close(self) -> None:
        if self.process is None:
            return
        super().close()
        self.process.kill()  # bubblewrap takes everything inside with it
        self.process.wait()
        self.process, self.is_ready = None, False
        self.log.close()
        self.folder.cleanup()


class Sandbox:
    """One confined process, alive until it is closed or dies."""

    def __init__(self, wall: Door, link: socket.socket, pid: int):
        self.wall, self.link, self.pid, self.group = wall, link, pid, None
        try:
            link.settimeout(30)
            hello, details, _, _ = link.recvmsg(5, socket.CMSG_SPACE(12))
            if hello != b"hello":
                raise WallError("The confined process did not start.")
            # the kernel says who sent this, in our own numbering
            outside = int.from_bytes(details[0][2][:4], sys.byteorder) if details else 0
            limits = wall.limits
            self.group = cgroup.hold(outside, limits.together, limits.processes, wall.groups)
            link.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
            link.sendall(b"go")
        except OSError:  # it was killed, or the machine is far too busy
            self.close()
            raise WallError("The confined process did not start.") from None
        except BaseException:
            self.close()
            raise

    def ask(self, seconds: float, **request: Any) -> dict:
        from autograder.seam.link import ask  # with torch, which need not be there to start

        return ask(self.link, seconds, **request)

    def close(self) -> None:
        self.link.close()
        self.wall.request({"end": self.pid})
        if self.group is not None:
            self.group.remove()

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def bwrap(inside: Path) -> list[str]:
    """Return the command that makes the outer wall: read-only, no network, nothing private."""
    command = ["bwrap", "--die-with-parent", "--new-session", "--hostname", "wall"]
    command += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    if os.getuid() == 0:  # the zygote then becomes the real nobody
        command += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user", "--uid", "65534", "--gid", "65534"]
    for path in SYSTEM:
        if Path(path).is_symlink():
            command += ["--symlink", str(Path(path).readlink()), path]
        elif Path(path).exists():
            command += ["--ro-bind", path, path]
    for path in (*SETTINGS, sys.base_prefix):
        if Path(path).exists() and not path.startswith("/usr/") and path != "/usr":
            for parent in reversed(Path(path).parents[:-1]):  # else nobody could not pass
                command += ["--perms", "0755", "--dir", str(parent)]
            command += ["--ro-bind", path, path]
    if sys.prefix != sys.base_prefix:
        command += ["--ro-bind", sys.prefix, ENVIRONMENT_PLACE]
    command += ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp"]
    command += ["--ro-bind", str(inside), "/inside", "--chdir", "/"]
    # else one submission could leave files here for the next: all have one zygote's /dev and /
    command += ["--remount-ro", "/dev", "--remount-ro", "/"]
    for name in cgroup.SESSION:
        command += ["--unsetenv", name]
    for name, value in ENVIRONMENT.items():
        command += ["--setenv", name, value]
    return [*command, "--"]


def python() -> str:
    """Return where this Python is behind the wall."""
    if sys.prefix == sys.base_prefix:
        return sys.executable
    return str(Path(ENVIRONMENT_PLACE) / Path(sys.executable).relative_to(sys.prefix))
