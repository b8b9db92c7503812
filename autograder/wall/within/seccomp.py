"""The system calls a learner's process may not make; libseccomp writes the filter."""

import errno
import socket

DENIED = (
    "acct",
    "add_key",
    "bpf",
    "chroot",
    "clock_adjtime",
    "clock_settime",
    "delete_module",
    "fanotify_init",
    "finit_module",
    "fsconfig",
    "fsmount",
    "fsopen",
    "fspick",
    "init_module",
    "io_uring_enter",
    "io_uring_register",
    "io_uring_setup",
    "ioperm",
    "iopl",
    "kcmp",
    "kexec_file_load",
    "kexec_load",
    "keyctl",
    "lookup_dcookie",
    "mbind",
    "migrate_pages",
    "mount",
    "mount_setattr",
    "move_mount",
    "move_pages",
    "name_to_handle_at",
    "nfsservctl",
    "open_by_handle_at",
    "open_tree",
    "perf_event_open",
    "personality",
    "pidfd_getfd",
    "pidfd_open",
    "pivot_root",
    "process_madvise",
    "process_vm_readv",
    "process_vm_writev",
    "ptrace",
    "quotactl",
    "quotactl_fd",
    "reboot",
    "request_key",
    "sethostname",
    "setdomainname",
    "setns",
    "settimeofday",
    "swapoff",
    "swapon",
    "syslog",
    "umount",
    "umount2",
    "unshare",
    "userfaultfd",
    "vhangup",
)
NAMESPACES = [1 << bit for bit in (7, 17, 25, 26, 27, 28, 29, 30)]  # the CLONE_NEW* flags


def restrict() -> None:
    """Load the filter into this process and all it will start."""
    import pyseccomp as seccomp

    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    refuse = seccomp.ERRNO(errno.EPERM)
    for name in DENIED:
        try:
            rules.add_rule(refuse, name)
        except ValueError:
            continue  # this architecture or library does not know the call
    # glibc falls back to clone, whose flags a filter can read
    rules.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
    for flag in NAMESPACES:
        rules.add_rule(refuse, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, flag, flag))
    rules.add_rule(refuse, "socket", seccomp.Arg(0, seccomp.NE, int(socket.AF_UNIX)))
    rules.load()
