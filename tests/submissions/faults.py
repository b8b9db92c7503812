"""Submissions that break: loops, deaths, floods, odd code, odd files. Each loop here is bounded."""

import json

from . import cell, code, place
from .case import (
    CRASHED,
    MISSING,
    TIMED_OUT,
    UNREADABLE,
    Case,
    instead,
    last,
    own,
    softmax,
)

LOOP = "import time\nend = time.time() + 60\nwhile time.time() < end:\n    pass"
STUBBORN = """\
import time
end = time.time() + 60
while time.time() < end:
    try:
        time.sleep(0.1)
    except BaseException:
        pass
"""
DEADLOCK = "import threading\nlock = threading.Lock()\nlock.acquire()\nlock.acquire(timeout=60)"
FORK_BOMB = """\
import os, time
for _ in range(200):
    try:
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
    except OSError:
        break
"""
ORPHANS = """\
import os, subprocess, time
for _ in range(3):
    subprocess.Popen(["sleep", "20"], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    time.sleep(20)
    os._exit(0)
"""
THREADS = """\
import threading, time
def busy(end=time.time() + 20):
    while time.time() < end:
        time.sleep(0.01)
        print("still here")
for _ in range(4):
    threading.Thread(target=busy, daemon=True).start()
"""
MEMORY = "kept = []\nfor _ in range(100):\n    kept.append(bytes(100 << 20))"
DISK = """\
with open("{}", "wb") as f:
    for _ in range(100):
        f.write(b"x" * (1 << 20))
"""
DEL = """\
import atexit, weakref
class Last:
    def __del__(self):
        print("30.0")
        raise ValueError("too late")
thing = Last()
atexit.register(print, "30.0")
"""
HUGE_REPR = "class Big:\n    def __repr__(self):\n        return 'x' * 30_000_000\nBig()"
STATE = """\
import torch
torch.set_default_dtype(torch.float64)
torch.set_grad_enabled(False)
torch.set_num_threads(4)
torch.set_default_device("meta")
"""
WARNINGS = "import warnings, sys\nwarnings.warn('careful')\nprint('careful', file=sys.stderr)\n"
FIGURES = "import matplotlib.pyplot as plt\nfor i in range(25):\n    plt.figure(figsize=(1, 1))"
TAIL = "\nreturn x.softmax(dim)"


def loses(*names: str):
    """Lose whole cells."""

    def make(work: dict) -> dict:
        for name in names:
            work["cells"].remove(cell(work, name))
        return work

    return make


def twice(work: dict) -> dict:
    work["cells"] += json.loads(json.dumps(work["cells"]))
    return work


def backwards(work: dict) -> dict:
    checks = [c for c in work["cells"] if c["id"].endswith("-check")]
    rest = [c for c in work["cells"] if c not in checks]
    return {**work, "cells": [*rest[:3], *reversed(checks), *rest[3:]]}


def stripped(work: dict) -> dict:
    for made in work["cells"]:
        made["metadata"] = {}
        made.pop("id")
    return {**work, "metadata": {}, "nbformat_minor": 0}


def old_format(work: dict) -> dict:
    cells = []
    for made in work["cells"]:
        key = "input" if made["cell_type"] == "code" else "source"
        cells.append({**made, key: made["source"], "language": "python"})
    return {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": cells}]}


def wrong_types(work: dict) -> dict:
    work["metadata"] = [1]
    cell(work, "softmax-check")["metadata"] = {"nbgrader": [], "tags": "skip-execution"}
    work["cells"][5:5] = [None, 7, {"cell_type": 3, "source": {"a": 1}, "metadata": "x"}]
    return work


def with_magic(work: dict) -> dict:
    cell(work, "softmax")["source"] = "%%time\n" + cell(work, "softmax")["source"]
    work["cells"].insert(
        place(work, "softmax"), code("!echo hello\n%matplotlib inline\n%time 1 + 1")
    )
    return work


def as_bytes(work: dict) -> bytes:
    return json.dumps(work).encode()


CASES = [
    Case("loop", "loops in a cell of its own", own(LOOP), status=TIMED_OUT),
    Case("endless_answer", "loops in an answer", softmax(LOOP), 60, TIMED_OUT),
    Case("stubborn", "loops and swallows interrupts", own(STUBBORN), status=TIMED_OUT),
    Case("loop_in_c", "loops inside one C call", own("sum(range(3 * 10**9))"), status=TIMED_OUT),
    Case("sleep", "sleeps", own("import time\ntime.sleep(60)"), status=TIMED_OUT),
    Case("deadlock", "waits for itself", own(DEADLOCK), status=TIMED_OUT),
    Case("input", "asks for input", own("name = input('Your name? ')")),
    Case("sys_exit", "calls sys.exit", own("import sys\nsys.exit(0)")),
    Case("exit_in_answer", "calls sys.exit in an answer", softmax("raise SystemExit"), 60),
    Case("os_exit", "ends the process", own("import os\nos._exit(0)"), status=CRASHED),
    Case("abort", "aborts", own("import os\nos.abort()"), status=CRASHED),
    Case("segfault", "reads address 0", own("import ctypes\nctypes.string_at(0)"), status=CRASHED),
    Case("base_exception", "raises BaseException", own("raise BaseException('no')")),
    Case("base_in_answer", "raises it in an answer", softmax("raise BaseException"), 60, CRASHED),
    Case(
        "interrupt",
        "raises KeyboardInterrupt in an answer",
        softmax("raise KeyboardInterrupt"),
        60,
        CRASHED,
    ),
    Case("last_words", "acts in __del__ and at exit", own(DEL)),
    Case("threads", "leaves threads running and printing", own(THREADS)),
    Case("fork_bomb", "forks 200 times", own(FORK_BOMB)),
    Case("orphans", "leaves processes behind", own(ORPHANS)),
    Case("memory", "keeps 10 GB", own(MEMORY)),
    Case(
        "memory_in_answer",
        "asks for 60 GB in an answer",
        softmax("return torch.ones(15 << 30)"),
        60,
    ),
    Case("disk", "writes 100 MB", own(DISK.format("big"))),
    Case("shm", "writes 100 MB of shared memory", own(DISK.format("/dev/shm/big"))),
    Case("flood", "prints 200,000 lines", own("for i in range(200_000):\n    print(i)")),
    Case("one_line", "prints one line of 20 MB", own("print('x' * 20_000_000)")),
    Case("huge_repr", "shows an object with a repr of 30 MB", own(HUGE_REPR)),
    Case("figures", "opens 25 figures", own(FIGURES)),
    Case("recursion", "calls itself without end", softmax("return softmax(x, dim)"), 60),
    Case("deep_code", "nests 5,000 brackets", own("(" * 5000 + ")" * 5000)),
    Case("state", "changes dtype, gradient mode, threads and device", own(STATE)),
    Case("warnings", "warns, and is right", softmax(WARNINGS + "return x.softmax(dim)")),
    Case("syntax_error", "has a syntax error", instead(softmax="def softmax(x, dim)\n    x"), 60),
    Case("magics", "has magics beside and above an answer", with_magic),
    Case("missing_function", "deletes a function's text", instead(softmax=""), 60),
    Case("wrong_signature", "forgets a parameter", instead(softmax="def softmax(x):\n    x"), 60),
    Case(
        "a_class", "writes a class for a function", instead(softmax="class softmax:\n    x = 1"), 60
    ),
    Case("colab", "mounts a drive", own("from google.colab import drive\ndrive.mount('/d')")),
    Case("absent_package", "imports what is not there", own("import a_package_of_nowhere")),
    Case("cuda", "moves to a GPU that is not there", softmax("return x.cuda().softmax(dim)"), 60),
    Case("await", "awaits at top level", own("import asyncio\nawait asyncio.sleep(0)")),
    Case("no_stdout", "takes stdout away", own("import sys\nsys.stdout = sys.stderr = None")),
    Case("chatty", "prints in every call of an answer", softmax("print('x' * 9999)" + TAIL)),
    Case("deleted_names", "deletes its names at the end", last("del torch, softmax\n%reset -f")),
]

FILES = [
    Case("corrupt", "is cut off in the middle", lambda w: as_bytes(w)[:3000], None, UNREADABLE),
    Case("empty", "is empty", lambda w: b"", None, UNREADABLE),
    Case("huge", "is larger than 50 MB", lambda w: b" " * 50_000_001, None, UNREADABLE),
    Case("binary", "is a picture", lambda w: b"\x89PNG\r\n\xff" * 99, None, UNREADABLE),
    Case("utf_16", "is in UTF-16", lambda w: json.dumps(w).encode("utf-16"), None, UNREADABLE),
    Case("a_list", "is JSON, but a list", lambda w: b"[1, 2]", None, UNREADABLE),
    Case("deep_json", "nests JSON without end", lambda w: b"[" * 200_000, None, UNREADABLE),
    Case("byte_mark", "begins with a byte order mark", lambda w: b"\xef\xbb\xbf" + as_bytes(w)),
    Case("old_format", "is a notebook of format 3", old_format),
    Case("renamed", "is called otherwise", lambda w: w, file="Copy of Warm-Up (2).ipynb.txt"),
    Case("missing", "is not there", lambda w: None, None, MISSING),
    Case("folder", "is a folder", lambda w: None, None, MISSING, beside=("warm_up.ipynb/x",)),
    Case("extra", "comes with other files", lambda w: w, beside=("data.csv", "notes.ipynb")),
    Case("no_checks", "lost its checks", loses("softmax-check", "which_line-check")),
    Case("no_answer", "lost an answer", loses("softmax"), 60),
    Case("twice", "holds every cell twice", twice),
    Case("moved", "has its checks before the answers", backwards),
    Case("stripped", "lost all ids and metadata", stripped),
    Case("wrong_types", "has wrong types in many places", wrong_types),
    Case("surrogate", "prints half a character", own("print('\\ud800')\n'\\udfff'")),
    Case("surrogate_error", "raises half a character", softmax("raise ValueError('\\ud800')"), 60),
    Case("bad_time", "has a time stamp that is none", lambda w: w, beside=("timestamp.txt",)),
    Case("crashed_file", "crashes in a cell", own("import os\nos._exit(0)"), status=CRASHED),
    Case("endless_file", "never ends in an answer", softmax(LOOP), 60, TIMED_OUT),
]
