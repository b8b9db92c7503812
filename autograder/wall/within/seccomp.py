"""Load the filter on system calls: what is on the list is done, all else answers an error."""

import errno
import socket

from autograder.wall.within.system_calls import ALLOWED, DEVICE_REQUESTS, REFUSED

NAMESPACES = sum(1 << bit for bit in (7, 17, 25, 26, 27, 28, 29, 30))  # the CLONE_NEW* flags
UNKNOWN = -1  # to the library: an older one, or another architecture's call
LOW = (1 << 32) - 1  # the kernel reads no more of an ioctl's number


def restrict() -> None:
    """Load the filter into this process and all it will start."""
    import pyseccomp as seccomp

    # a call that is newer than the list: as on a kernel that does not have it, libraries fall back
    rules = seccomp.SyscallFilter(seccomp.ERRNO(errno.ENOSYS))
    refuse = seccomp.ERRNO(errno.EPERM)

    def rule(action: int, name: str, *arguments: seccomp.Arg) -> None:
        if seccomp.resolve_syscall(seccomp.Arch.NATIVE, name) != UNKNOWN:
            rules.add_rule(action, name, *arguments)

    for name in ALLOWED:
        rule(seccomp.ALLOW, name)
    for name in REFUSED:
        rule(refuse, name)
    # clone3 is on no list: glibc falls back to clone, whose flags a filter can read
    rule(seccomp.ALLOW, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, NAMESPACES, 0))
    for bit in range(7, 31):
        if NAMESPACES & 1 << bit:
            rule(refuse, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, 1 << bit, 1 << bit))
    own = int(socket.AF_UNIX)
    for name in ("socket", "socketpair"):
        rule(seccomp.ALLOW, name, seccomp.Arg(0, seccomp.EQ, own))
        rule(refuse, name, seccomp.Arg(0, seccomp.NE, own))
    for request in DEVICE_REQUESTS:
        rule(seccomp.ALLOW, "ioctl", seccomp.Arg(1, seccomp.MASKED_EQ, LOW, request))
    rules.load()
