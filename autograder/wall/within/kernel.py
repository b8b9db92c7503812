"""The few system calls that Python's library lacks, by name; each raises OSError when it fails."""

import ctypes
import os
from pathlib import Path
from typing import Any

NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = (
    *(0x00020000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000),
)
RDONLY, NOSUID, NODEV, NOEXEC, REMOUNT, BIND, REC, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 4, 24, 38
LAST_CAPABILITY = Path("/proc/sys/kernel/cap_last_cap")

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _call(function: str, *arguments: Any) -> int:
    result: int = getattr(_libc, function)(*arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{function}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    _call("unshare", ctypes.c_int(flags))


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    encoded = [s.encode() if s is not None else None for s in (source, target, kind)]
    _call("mount", *encoded, ctypes.c_ulong(flags), data.encode())


def prctl(option: int, value: int) -> None:
    _call("prctl", ctypes.c_int(option), *(ctypes.c_ulong(v) for v in (value, 0, 0, 0)))


def drop_capabilities(last: int) -> None:
    """Give up every capability, and the means to get one back."""
    for capability in range(last + 1):
        prctl(PR_CAPBSET_DROP, capability)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3, this process
    nothing = (ctypes.c_uint32 * 6)()
    _call("capset", header, nothing)


def syscall(number: int, *arguments: Any) -> int:
    return _call("syscall", ctypes.c_long(number), *arguments)
