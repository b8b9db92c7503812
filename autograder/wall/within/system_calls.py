"""The system calls that a learner's process may make, and those that are refused by name.

`ALLOWED` is what Python, torch, numpy, matplotlib, IPython and the programs of `!` lines were seen
to use in the notebooks of all lessons (strace on the zygote's children), and beside each call its
older, newer and other-architecture forms, which another C library or kernel uses instead. What is
on neither list answers ENOSYS, as from a kernel that does not have the call yet: libraries then
fall back. `REFUSED` answers EPERM: these exist, and are not for learners' code.
"""

import termios

FILES = (
    *("access", "faccessat", "faccessat2", "chdir", "fchdir", "getcwd", "umask"),
    *("open", "openat", "openat2", "creat", "close", "close_range"),
    *("read", "readv", "pread64", "preadv", "preadv2", "write", "writev", "pwrite64", "pwritev"),
    *("pwritev2", "lseek", "_llseek", "sendfile", "sendfile64", "copy_file_range", "readahead"),
    *("stat", "stat64", "lstat", "lstat64", "fstat", "fstat64", "newfstatat", "fstatat64", "statx"),
    *("statfs", "statfs64", "fstatfs", "fstatfs64", "getdents", "getdents64"),
    *("truncate", "truncate64", "ftruncate", "ftruncate64", "fallocate", "fadvise64"),
    *("fadvise64_64", "sync_file_range", "fsync", "fdatasync", "flock", "fcntl", "fcntl64"),
    *("link", "linkat", "symlink", "symlinkat", "readlink", "readlinkat", "unlink", "unlinkat"),
    *("rename", "renameat", "renameat2", "mkdir", "mkdirat", "rmdir"),
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchown", "fchownat"),
    *("utime", "utimes", "futimesat", "utimensat"),
    *("getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr"),
    *("dup", "dup2", "dup3", "pipe", "pipe2", "splice", "tee"),
)
MEMORY = (
    *("brk", "mmap", "mmap2", "munmap", "mprotect", "mremap", "madvise", "msync", "mincore"),
    *("membarrier", "pkey_alloc", "pkey_free", "pkey_mprotect", "map_shadow_stack"),
)
PROCESSES = (
    *("fork", "vfork", "execve", "execveat", "exit", "exit_group", "wait4", "waitid", "waitpid"),
    *("getpid", "gettid", "getppid", "getpgid", "getpgrp", "setpgid", "getsid", "setsid"),
    *("getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups", "capget"),
    *("prctl", "arch_prctl", "set_tid_address", "set_thread_area", "get_thread_area"),
    *("futex", "futex_waitv", "set_robust_list", "get_robust_list", "rseq"),
    *("getrlimit", "ugetrlimit", "setrlimit", "prlimit64", "getrusage", "times", "sysinfo"),
    *("uname", "getcpu", "getpriority", "getrandom", "restart_syscall"),
    *("sched_yield", "sched_getaffinity", "sched_setaffinity", "sched_getscheduler"),
    *("sched_getparam", "sched_get_priority_max", "sched_get_priority_min", "sched_getattr"),
    *("sched_rr_get_interval", "riscv_flush_icache", "riscv_hwprobe"),
)
SIGNALS = (
    *("kill", "tkill", "tgkill", "pause", "alarm", "getitimer", "setitimer", "sigaltstack"),
    *("rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigreturn", "rt_sigpending"),
    *("rt_sigsuspend", "rt_sigtimedwait", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "signalfd"),
    "signalfd4",
)
TIME = (
    *("time", "gettimeofday", "clock_gettime", "clock_getres", "nanosleep", "clock_nanosleep"),
    *("timer_create", "timer_settime", "timer_gettime", "timer_getoverrun", "timer_delete"),
    *("timerfd_create", "timerfd_settime", "timerfd_gettime"),
)
WAITING = (
    *("poll", "ppoll", "select", "_newselect", "pselect6", "eventfd", "eventfd2"),
    *("epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2"),
)
SOCKETS = (  # made by `socket` and `socketpair`, which may name this machine's own family only
    *("bind", "connect", "listen", "accept", "accept4", "shutdown", "getsockname", "getpeername"),
    *("getsockopt", "setsockopt", "send", "sendto", "sendmsg", "sendmmsg"),
    *("recv", "recvfrom", "recvmsg", "recvmmsg"),
)
ALLOWED = (*FILES, *MEMORY, *PROCESSES, *SIGNALS, *TIME, *WAITING, *SOCKETS)
ARGUMENTS = ("clone", "socket", "socketpair", "ioctl")  # for some arguments: see seccomp.py
# what is asked of a terminal or of any descriptor; not to put letters into a terminal's input
DEVICE_REQUESTS = (
    *(termios.TCGETS, termios.TCSETS, termios.TCSETSW, termios.TCSETSF, termios.TCSBRK),
    *(termios.TCFLSH, termios.TCXONC, termios.TIOCGPGRP, termios.TIOCSPGRP, termios.TIOCSCTTY),
    *(termios.TIOCNOTTY, termios.TIOCGWINSZ, termios.TIOCSWINSZ, termios.TIOCOUTQ),
    *(termios.FIONBIO, termios.FIONREAD, termios.FIOASYNC, termios.FIOCLEX, termios.FIONCLEX),
    *(0x5429, 0x802C542A, 0x402C542B, 0x402C542C, 0x402C542D),  # TIOCGSID, TCGETS2 to TCSETSF2
    *(0x80045430, 0x40045431, 0x5441),  # TIOCGPTN, TIOCSPTLCK, TIOCGPTPEER: make a terminal
)

REFUSED = (
    # other rights, other roots, other namespaces
    *("setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups"),
    *("setfsuid", "setfsgid", "capset", "chroot", "pivot_root", "unshare", "setns", "seccomp"),
    *("mount", "mount_setattr", "move_mount", "umount", "umount2", "fsconfig", "fsmount", "fsopen"),
    *("fspick", "open_tree", "mknod", "mknodat", "setxattr", "lsetxattr", "fsetxattr"),
    *("removexattr", "lremovexattr", "fremovexattr"),
    # other processes
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease"),
    *("pidfd_open", "pidfd_getfd", "pidfd_send_signal", "kcmp", "migrate_pages", "move_pages"),
    *("setpriority", "sched_setscheduler", "sched_setparam", "sched_setattr", "ioprio_set"),
    # what others do: files they open, kernel events
    *("inotify_init", "inotify_init1", "inotify_add_watch", "fanotify_init", "fanotify_mark"),
    *("perf_event_open", "bpf", "lookup_dcookie", "syslog", "name_to_handle_at"),
    *("open_by_handle_at", "quotactl", "quotactl_fd"),
    # memory that no limit sees, or that outlives a mapping
    *("memfd_create", "memfd_secret", "shmget", "shmat", "shmctl", "shmdt", "msgget", "semget"),
    *("mq_open", "mlock", "mlock2", "mlockall", "mbind", "set_mempolicy"),
    *("set_mempolicy_home_node", "get_mempolicy", "remap_file_pages"),
    # wide doors into the kernel that nothing here needs
    *("io_uring_enter", "io_uring_register", "io_uring_setup", "io_setup", "io_submit"),
    *("io_getevents", "io_pgetevents", "io_cancel", "io_destroy", "userfaultfd", "vmsplice"),
    *("modify_ldt", "personality", "add_key", "keyctl", "request_key", "uselib", "ustat", "sysfs"),
    *("_sysctl", "nfsservctl", "create_module", "query_module", "get_kernel_syms"),
    # the machine
    *("acct", "adjtimex", "clock_adjtime", "clock_settime", "settimeofday", "stime", "reboot"),
    *("delete_module", "finit_module", "init_module", "ioperm", "iopl", "kexec_file_load"),
    *("kexec_load", "sethostname", "setdomainname", "swapoff", "swapon", "sync", "syncfs"),
    "vhangup",
)
