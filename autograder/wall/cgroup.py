"""A control group for one process, where one can be made: caps on all that it starts together.

Version 1 gives a folder for each controller, which only root may write. In version 2 a group may
have groups below it only if its owner has been given it for that ("delegated"); systemd gives an
ordinary user such a group, a scope, around a command that it starts.
"""

import contextlib
import os
import secrets
import shutil
import subprocess
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
NEEDED = {"memory", "pids"}  # without the processor's controller a group is still worth making
SESSION = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")  # how a user's systemd is reached
PERIOD = 100_000  # microseconds: one core's worth of them in each period


@dataclass
class Group:
    """The folders of one group (one in version 2, one per controller in version 1)."""

    folders: list[Path]

    def remove(self) -> None:
        """Remove the group; its processes are being killed, which may take a moment."""
        for folder in self.folders:
            for _ in range(100):
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.005)


def hold(pid: int, memory: int, processes: int, parent: Path | None = None) -> Group | None:
    """Put a process into a group of its own; None where that is not possible."""
    name, made = f"course-{secrets.token_hex(6)}", []
    try:
        for place, settings in _places(memory, processes, parent):
            folder = place / name
            folder.mkdir()
            made.append(folder)
            for file, value in settings.items():
                with contextlib.suppress(FileNotFoundError):
                    (folder / file).write_text(str(value))
            (folder / "cgroup.procs").write_text(str(pid))
    except OSError:
        Group(made).remove()
        return None
    return Group(made) if made else None


def scope() -> list[str]:
    """Return the command that has systemd make a group around another, where that helps."""
    if not (ROOT / "cgroup.controllers").exists() or _parent() or not shutil.which("systemd-run"):
        return []
    whose = [] if os.getuid() == 0 else ["--user"]
    command = ["systemd-run", *whose, "--scope", "--quiet", "--collect", "-p", "Delegate=yes", "--"]
    return command if _works(*command) else []


def capped() -> bool:
    """Say whether submissions can be given groups on this machine."""
    return bool(_places(1, 1, None)) or bool(scope())


def delegated(pid: int) -> Path | None:
    """Make the scope around a process one in which groups can be made; return its folder."""
    folder = ROOT / _path(Path(f"/proc/{pid}/cgroup"))
    try:
        (folder / "zygote").mkdir()
        for inside in (folder / "cgroup.procs").read_text().split():  # a group with groups in it
            (folder / "zygote" / "cgroup.procs").write_text(inside)  # may hold no process itself
        there = (folder / "cgroup.controllers").read_text().split()
        wanted = [f"+{name}" for name in ("memory", "pids", "cpu") if name in there]
        (folder / "cgroup.subtree_control").write_text(" ".join(wanted))
    except OSError:
        return None
    return folder if _may_have_groups(folder) else None


def memory() -> int:
    """Return how many bytes of memory this process and all it starts may use."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    found = [machine]
    for line in lines:
        _, names, path = line.split(":", 2)
        for file in (
            ROOT / names / path.lstrip("/") / "memory.limit_in_bytes",
            ROOT / path.lstrip("/") / "memory.max",
        ):
            with contextlib.suppress(OSError, ValueError):  # "max" is no number
                found.append(int(file.read_text()))
    return min(found)


@cache
def _works(*command: str) -> bool:
    try:
        done = subprocess.run([*command, "true"], capture_output=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def _path(file: Path) -> str:
    """Return the path of a process's group of version 2."""
    with contextlib.suppress(OSError):
        for line in file.read_text().splitlines():
            if line.startswith("0::"):
                return line[3:].lstrip("/")
    return ""


def _may_have_groups(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        enabled = set((folder / "cgroup.subtree_control").read_text().split())
        return enabled >= NEEDED and os.access(folder, os.W_OK)
    return False


def _parent() -> Path | None:
    """Return a group of version 2 in which groups can be made as things are: ours, or the top."""
    own = ROOT / _path(Path("/proc/self/cgroup"))
    return next((folder for folder in (own, ROOT) if _may_have_groups(folder)), None)


def _places(
    memory: int, processes: int, parent: Path | None
) -> list[tuple[Path, dict[str, int | str]]]:
    if (ROOT / "cgroup.controllers").exists():  # version 2
        caps = {"memory.max": memory, "memory.swap.max": 0, "pids.max": processes}
        parent = parent or _parent()
        return [(parent, {**caps, "cpu.max": f"{PERIOD} {PERIOD}"})] if parent else []
    wanted: dict[str, dict[str, int | str]] = {
        "memory": {"memory.limit_in_bytes": memory},
        "pids": {"pids.max": processes},
        "cpu": {"cpu.cfs_period_us": PERIOD, "cpu.cfs_quota_us": PERIOD},
    }
    there = [name for name in wanted if os.access(ROOT / name, os.W_OK)]
    return [(ROOT / name, wanted[name]) for name in there] if set(there) >= NEEDED else []
