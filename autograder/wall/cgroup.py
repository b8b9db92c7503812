"""A control group for one process, where one can be made: a cap on all its memory together."""

import contextlib
import os
import secrets
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")


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


def hold(pid: int, memory: int, processes: int) -> Group | None:
    """Put a process into a group of its own; None where that is not possible."""
    name, made = f"course-{secrets.token_hex(6)}", []
    try:
        for parent, settings in _places(memory, processes):
            folder = parent / name
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


def _places(memory: int, processes: int) -> list[tuple[Path, dict[str, int]]]:
    if (ROOT / "cgroup.controllers").exists():  # version 2
        own = Path("/proc/self/cgroup").read_text().strip().rpartition("::")[2].lstrip("/")
        parent = ROOT / own
        enabled = (parent / "cgroup.subtree_control").read_text().split()
        if not {"memory", "pids"} <= set(enabled) or not os.access(parent, os.W_OK):
            return []
        return [(parent, {"memory.max": memory, "memory.swap.max": 0, "pids.max": processes})]
    return [
        (ROOT / controller, settings)
        for controller, settings in (
            ("memory", {"memory.limit_in_bytes": memory}),
            ("pids", {"pids.max": processes}),
        )
        if os.access(ROOT / controller, os.W_OK)
    ]
