"""Right submissions that try the wall itself: shared folders, odd system calls, hoarded memory.

Each keeps the points of its answers. Those that concern what one submission could leave for another
look for the others' traces first, and then leave their own. Everything is bounded.
"""

from .case import REACHED, Case, last, own

# by name, so that the number is right on every architecture; -1 where nobody knows the call
KERNEL = """\
import ctypes, os, pyseccomp
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def kernel(name, *arguments):
    try:
        number = pyseccomp.resolve_syscall(pyseccomp.system_arch(), name)
    except (AttributeError, ValueError):
        number = -1
    return libc.syscall(ctypes.c_long(number), *arguments)
"""
NOTE_IN_DEV = f"""\
import os
for place in ("/dev/note", "/dev/mqueue/note", "/dev/pts/note"):
    if os.path.exists(place):
        {REACHED}
    try:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        open(place, "w").close()
        {REACHED}
    except OSError:
        pass
"""
FILL_DEV = f"""\
for number in range(5):
    try:
        with open(f"/dev/filler{{number}}", "wb") as f:
            for _ in range(60):
                f.write(bytes(1 << 20))
        {REACHED}
    except OSError:
        pass
"""
NOTE_ANYWHERE = f"""\
import os
for place in ("/", "/etc", "/root", "/proc", "/inside", "/env", "/usr", "/usr/lib", "/var", "/run"):
    note = os.path.join(place, "note")
    try:
        open(note, "w").close()
        {REACHED}
    except OSError:
        pass
    try:
        os.mkdir(note + "s")
        {REACHED}
    except OSError:
        pass
    try:
        os.rename("/dev/null", note)
        {REACHED}
    except OSError:
        pass
"""
TERMINAL = f"""\
import os
there = os.listdir("/dev/pts") if os.path.isdir("/dev/pts") else []
here = [name for name in there if name.isdigit()]
if here:
    {REACHED}
try:
    kept = os.openpty()
    os.write(kept[0], b"for the neighbour\\n")
except OSError:
    pass
"""
INOTIFY = (
    KERNEL
    + f"""\
watch = libc.inotify_init1(0)
if watch >= 0 and libc.inotify_add_watch(watch, b"/inside/solutions", 0xFFF) >= 0:
    {REACHED}
"""
)
MEMFDS = f"""\
import os
held, total = [], 0
try:
    for number in range(10):
        held.append(os.memfd_create(f"hoard{{number}}"))
        for _ in range(60):
            total += os.write(held[-1], bytes(1 << 20))
except (OSError, AttributeError):
    pass
if total > 300 << 20:
    {REACHED}
for fd in held:
    os.close(fd)
"""
SYSTEM_V = (
    KERNEL
    + f"""\
kept, size = [], 60 << 20
libc.shmat.restype = ctypes.c_void_p
for _ in range(10):
    segment = libc.shmget(0, ctypes.c_size_t(size), 0o600 | 0o1000)
    if segment < 0:
        break
    kept.append(segment)
    at = libc.shmat(segment, None, 0)
    if at not in (None, ctypes.c_void_p(-1).value):
        ctypes.memset(at, 1, size)
        libc.shmdt(ctypes.c_void_p(at))
if len(kept) * size > 300 << 20:
    {REACHED}
for segment in kept:
    libc.shmctl(segment, 0, None)
"""
)
EMPTY_FILES = f"""\
import os
os.makedirs("many", exist_ok=True)
made = 0
try:
    for made in range(30_000):
        os.close(os.open(f"many/{{made}}", os.O_CREAT | os.O_WRONLY))
except OSError:
    pass
if made > 20_000:
    {REACHED}
"""
BUSY = f"""\
import os, resource, time
if resource.getrlimit(resource.RLIMIT_CPU)[1] == resource.RLIM_INFINITY:
    {REACHED}
try:
    resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    {REACHED}
except (ValueError, OSError):
    pass
"""
CROWD = """\
import os, time
children = []
for _ in range(30):
    try:
        child = os.fork()
    except OSError:
        break
    if not child:
        end = time.monotonic() + 0.2
        while time.monotonic() < end:
            pass
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
"""
REAL_TIME = f"""\
import os
for policy in (os.SCHED_FIFO, os.SCHED_RR):
    try:
        os.sched_setscheduler(0, policy, os.sched_param(1))
        {REACHED}
    except OSError:
        pass
try:
    os.setpriority(os.PRIO_PROCESS, 0, -5)
    {REACHED}
except OSError:
    pass
"""
NAMESPACES = (
    KERNEL
    + f"""\
for flag in (0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x02000000):
    made = kernel("clone", ctypes.c_ulong(flag | 17), None, None, None, None)
    if made == 0:
        os._exit(0)
    if made > 0:
        os.waitpid(made, 0)
        {REACHED}
"""
)
ODD_SOCKETS = f"""\
import socket
for family in (2, 10, 16, 17, 29, 30, 31, 38, 40, 44):
    for kind in (1, 2, 3, 5):
        try:
            socket.socket(family, kind).close()
            {REACHED}
        except OSError:
            pass
        try:
            socket.socketpair(family, kind)
            {REACHED}
        except OSError:
            pass
"""
OTHER_ABI = (
    KERNEL
    + f"""\
child = os.fork()
if not child:  # getpid as x32 counts it: another table of calls, that a filter may overlook
    got = libc.syscall(ctypes.c_long(0x40000000 | 39))
    os._exit(7 if got > 0 else 0)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7:
    {REACHED}
"""
)
TYPES_FOR_OTHERS = (
    KERNEL
    + f"""\
pair = os.openpty() if os.path.exists("/dev/ptmx") else ()
for fd in (0, 1, 2, *pair):
    if libc.ioctl(fd, ctypes.c_ulong(0x5412), b"x") == 0:
        {REACHED}
"""
)


def forbidden(name: str, *arguments: str) -> str:
    """Return code that makes a system call which must not succeed."""
    call = ", ".join([f'"{name}"', *arguments])
    return f"{KERNEL}if kernel({call}) >= 0:\n    {REACHED}\n"


def either(name: str, about: str, code: str) -> list[Case]:
    """Two submissions: what the first leaves, the second would find."""
    return [
        Case(name, f"{about}; looks for what another left", own(code)),
        Case(f"{name}_again", f"{about}, after the one before", last(code)),
    ]


CASES = [
    *either("note_in_dev", "leaves a file in /dev", NOTE_IN_DEV),
    Case("fills_dev", "fills /dev with 300 MB that would outlive it", own(FILL_DEV)),
    *either("note_anywhere", "leaves files in every other folder", NOTE_ANYWHERE),
    *either("terminal", "writes to a terminal that a neighbour could open", TERMINAL),
    Case("types_for_others", "puts letters into a terminal's input", own(TYPES_FOR_OTHERS)),
    Case("inotify", "watches which files its neighbours open", own(INOTIFY)),
    Case("memory_in_files", "hoards 600 MB in files without a name", own(MEMFDS)),
    Case("system_v", "hoards 600 MB in shared memory it is not attached to", own(SYSTEM_V)),
    Case("empty_files", "makes 30,000 empty files", own(EMPTY_FILES)),
    Case("processor_limit", "looks for a limit on processor time and raises it", own(BUSY)),
    Case("crowd", "lets 30 processes compute beside its neighbours", own(CROWD)),
    Case("real_time", "asks to be scheduled before all others", own(REAL_TIME)),
    Case("clones_namespaces", "makes namespaces with clone", own(NAMESPACES)),
    Case("odd_sockets", "opens sockets of ten other families", own(ODD_SOCKETS)),
    Case("other_abi", "calls the kernel by its x32 table", own(OTHER_ABI)),
    Case(
        "secret_memory",
        "asks for memory that the kernel itself cannot read",
        own(forbidden("memfd_secret", "0")),
    ),
    Case(
        "segments", "changes its table of segments", own(forbidden("modify_ldt", "0", "b''", "0"))
    ),
    Case(
        "memory_policy", "sets a policy for memory", own(forbidden("set_mempolicy", "0", "0", "0"))
    ),
    Case(
        "vmsplice",
        "splices its memory into a pipe",
        own(forbidden("vmsplice", "os.pipe()[1]", "0", "0", "0")),
    ),
    Case("key_ring", "asks for a keyring", own(forbidden("keyctl", "1", "0", "0", "0", "0"))),
    Case(
        "io_ring",
        "sets up io_uring",
        own(forbidden("io_uring_setup", "1", "ctypes.create_string_buffer(200)")),
    ),
    Case(
        "own_filter",
        "puts a filter of its own before the wall's",
        own(forbidden("seccomp", "1", "0", "ctypes.create_string_buffer(bytes([1]), 16)")),
    ),
]
