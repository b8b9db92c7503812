"""The filter on system calls: what it lets through is a list, and nothing dangerous is on it."""

import errno
import json
import platform

import pyseccomp
import pytest

from autograder.wall.session import Session
from autograder.wall.wall import Wall, why_not
from autograder.wall.within.system_calls import ALLOWED, ARGUMENTS, DEVICE_REQUESTS, REFUSED

pytestmark = pytest.mark.skipif(bool(why_not()), reason=f"no sandbox here: {why_not()}")

NUMBERS = 700  # the kernel's table ends well before
# x86's uretprobe and uprobe: the kernel asks no filter about them, and itself refuses every caller
# that it has not sent there (the first with a signal, so it cannot be tried in this process)
UNFILTERED = (335, 336) if platform.machine() == "x86_64" else ()
# calls that gave rights, memory beyond the limits or a look at others in known attacks
DANGEROUS = (
    *(
        "bpf",
        "io_uring_setup",
        "keyctl",
        "add_key",
        "memfd_secret",
        "modify_ldt",
        "mount",
        "ptrace",
    ),
    *("set_mempolicy", "vmsplice", "userfaultfd", "unshare", "setns", "perf_event_open", "shmget"),
    *("open_by_handle_at", "process_vm_writev", "pidfd_getfd", "inotify_add_watch", "personality"),
    *("memfd_create", "init_module", "kexec_load", "pivot_root", "chroot", "clone3", "seccomp"),
)
TRY = """\
import ctypes, json
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
found = {{}}
for number in {numbers}:
    ctypes.set_errno(0)
    done = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(0)] * 6)
    found[number] = ctypes.get_errno() if done < 0 else 0
print(json.dumps(found))
"""
HONEST = {
    "a shell line": ("!echo hello | cat", "hello"),
    "a shell cell": ("%%bash\necho $((40 + 2))", "42"),
    "a timed line": ("%time print(6 * 7)", "42"),
    "a Python of its own": (
        "import subprocess, sys\n"
        "run = [sys.executable, '-c', 'import numpy; print(numpy.arange(3))']\n"
        "print(subprocess.run(run, capture_output=True, text=True).stdout)",
        "[0 1 2]",
    ),
    "threads": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "print(list(ThreadPoolExecutor(3).map(abs, [-1, -2])))",
        "[1, 2]",
    ),
    "processes": (
        "import multiprocessing\nwith multiprocessing.get_context('fork').Pool(2) as pool:\n"
        "    print(pool.map(abs, [-1, -2]))",
        "[1, 2]",
    ),
    "workers that load data": (
        "import torch\nfrom torch.utils.data import DataLoader\n"
        "print(sum(len(b) for b in DataLoader(torch.ones(8), batch_size=2, num_workers=2)))",
        "8",
    ),
    "threads of torch": (
        "import torch\ntorch.set_num_threads(2)\n"
        "print(float((torch.ones(300, 300) @ torch.ones(300, 300)).max()))",
        "300.0",
    ),
    "shared memory": (
        "from multiprocessing import shared_memory\n"
        "s = shared_memory.SharedMemory(create=True, size=9)\nprint(s.size >= 9)\n"
        "s.close(); s.unlink()",
        "True",
    ),
    "files": (
        "import numpy, os, shutil, torch\ntorch.save(torch.ones(2), 'a.pt')\n"
        "numpy.save('b.npy', numpy.ones(2))\nos.rename('a.pt', 'c.pt')\n"
        "shutil.copy('c.pt', 'd.pt')\n"
        "print(torch.load('d.pt').tolist(), numpy.load('b.npy', mmap_mode='r').tolist())",
        "[1.0, 1.0] [1.0, 1.0]",
    ),
    "a database": (
        "import sqlite3\nlink = sqlite3.connect('x.db')\nlink.execute('create table t (a)')\n"
        "link.commit()\nprint('made')",
        "made",
    ),
    "waiting": ("import asyncio\nawait asyncio.sleep(0.01)\nprint('waited')", "waited"),
    "an alarm": (
        "import signal, time\nsignal.signal(signal.SIGALRM, lambda *_: print('rang'))\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.05)\ntime.sleep(0.2)",
        "rang",
    ),
}


@pytest.fixture(scope="module")
def wall():
    with Wall("warm_up") as made:
        yield made


@pytest.fixture
def session(wall):
    made = Session(wall, 60, 120)
    yield made
    made.close()


def printed(session: Session, code: str) -> str:
    outputs = session.cell("cell", code)
    return "".join(o.get("text", o.get("evalue", "")) for o in outputs).strip()


def name_of(number: int) -> str:
    try:
        return pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, number).decode()
    except (ValueError, TypeError):
        return ""


def test_the_lists_do_not_meet_and_the_dangerous_are_not_allowed():
    allowed = {*ALLOWED, *ARGUMENTS}
    assert len(allowed) == len(ALLOWED) + len(ARGUMENTS)
    assert not allowed & set(REFUSED)
    assert not allowed & set(DANGEROUS)
    assert 0x5412 not in DEVICE_REQUESTS  # TIOCSTI, as if somebody had typed


def test_every_call_that_is_not_on_the_list_is_answered_with_an_error(session):
    """By number, over the whole table: also those that this file's author has not heard of."""
    listed = {*ALLOWED, *ARGUMENTS}
    numbers = [n for n in range(NUMBERS) if name_of(n) not in listed and n not in UNFILTERED]
    assert len(numbers) >= NUMBERS - len(listed) - len(UNFILTERED)
    found = json.loads(printed(session, TRY.format(numbers=numbers)))
    wanted = {str(n): errno.EPERM if name_of(n) in REFUSED else errno.ENOSYS for n in numbers}
    assert found == wanted


@pytest.mark.parametrize("name", HONEST)
def test_what_honest_notebooks_do_goes_on_working(session, name):
    code, wanted = HONEST[name]
    assert wanted in printed(session, code)
