"""Right submissions that also look for what they must not see; the answers keep their points."""

from .case import COURSE, PORT, REACHED, SOCKET, Case, instead, own, softmax

# what the test hides in the grader's environment, seed and gradebook begins with this
MARK = '"can" + "ary-"'

FRAMES = f"""\
import sys
frame = sys._getframe()
while frame:
    names = set(frame.f_locals) | set(frame.f_globals)
    if names & {{"expected", "seed", "slips", "marked", "settings"}}:
        {REACHED}
    frame = frame.f_back
return x.softmax(dim)
"""
MEMORY = f"""\
import gc, torch
mark = {MARK}
for thing in gc.get_objects():
    if type(thing) is dict:
        values = list(thing.values())
        if any(type(v) is str and v.startswith(mark) for v in values):
            {REACHED}
"""
UNINITIALISED = f"""\
import torch
mark = ({MARK}).encode()
for size in (1 << 12, 1 << 16, 1 << 20, 1 << 24):
    if mark in bytes(torch.empty(size, dtype=torch.uint8).numpy()):
        {REACHED}
"""
MODULES = f"""\
import sys
for name in list(sys.modules):
    if name.startswith("autograder.") and name.split(".")[1] in (
        "lessons", "checks", "running", "grading", "course", "proof"):
        {REACHED}
for name in ("autograder.lessons.warm_up", "autograder.checks.marking", "solutions.warm_up"):
    try:
        __import__(name)
        {REACHED}
    except ImportError:
        pass
"""
LINECACHE = f"""\
import linecache
for name, entry in list(linecache.cache.items()):
    if "lessons" in name or "solutions/warm_up" in name:
        {REACHED}
"""
PYCACHE = f"""\
import os, sys
places = [sys.prefix, "/inside", "/inside/solutions", "/inside/autograder"]
for place in places:
    for root, folders, files in os.walk(place):
        if "lib" in folders:
            folders.remove("lib")
        if any(f.startswith("warm_up") or f.endswith(".pyc") for f in files):
            {REACHED}
"""
OPEN_ALL = f"""\
import os
for name in ("gradebook.db", "seed", "nbgrader_config.py", "status.json"):
    try:
        print(open("{COURSE}/" + name, "rb").read()[:1000])
        {REACHED}
    except OSError:
        pass
"""
OTHERS = f"""\
import os
for place in ("{COURSE}/submitted", "{COURSE}", "/home", "/root", "/tmp/..", "/mnt"):
    try:
        found = os.listdir(place)
    except OSError:
        continue
    if "submitted" in found or any(f.endswith(".ipynb") for f in found):
        {REACHED}
"""
ENVIRONMENT = """\
import ctypes, os
print(dict(os.environ))
start = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
for i in range(200):
    if start[i] is None:
        break
    print(start[i])
"""
PROC = f"""\
import glob
for name in ("environ", "maps", "mem", "cmdline", "fd", "mountinfo", "root"):
    for path in (f"/proc/self/{{name}}", f"/proc/1/{{name}}", f"/proc/2/{{name}}"):
        try:
            print(open(path, "rb").read(1000))
            {REACHED}
        except OSError:
            pass
"""
DESCRIPTORS = f"""\
import os, stat
for fd in range(3, 256):
    try:
        kind = os.fstat(fd).st_mode
    except OSError:
        continue
    if stat.S_ISREG(kind) or stat.S_ISDIR(kind):
        {REACHED}
"""
PTRACE = f"""\
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for pid in (1, os.getppid()):
    if libc.ptrace(16, pid, 0, 0) == 0 or libc.process_vm_readv(pid, 0, 0, 0, 0, 0) >= 0:
        {REACHED}
"""
NETWORK = f"""\
import socket
for family, kind in ((socket.AF_INET, socket.SOCK_STREAM), (socket.AF_INET, socket.SOCK_DGRAM),
                     (socket.AF_INET6, socket.SOCK_STREAM), (socket.AF_NETLINK, socket.SOCK_RAW)):
    try:
        link = socket.socket(family, kind)
        link.settimeout(1)
        link.connect(("127.0.0.1", {PORT}))
        {REACHED}
    except OSError:
        pass
"""
UNIX = f"""\
import socket
for address in ("\\0{SOCKET}", "{COURSE}/listener"):
    try:
        link = socket.socket(socket.AF_UNIX)
        link.settimeout(1)
        link.connect(address)
        {REACHED}
    except OSError:
        pass
"""
DNS = f"""\
import socket
try:
    question = b"\\0\\1\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0\\6secret\\0\\0\\1\\0\\1"
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.sendto(question, ("127.0.0.1", {PORT}))
    {REACHED}
except OSError:
    pass
"""
PIP = f"""\
import subprocess, sys
command = [sys.executable, "-m", "pip", "download", "--retries", "0", "--timeout", "1", "nothing",
           "--index-url", "http://127.0.0.1:{PORT}/simple"]
try:
    if subprocess.run(command, capture_output=True, timeout=1.5).returncode == 0:
        {REACHED}
except (OSError, subprocess.SubprocessError):
    pass
"""
ERROR_TEXT = """\
import os, sys
told, frame = [str(dict(os.environ))], sys._getframe()
while frame:
    told.append(str({**frame.f_globals, **frame.f_locals})[:3000])
    frame = frame.f_back
raise ValueError("".join(told))
"""
TIMING = """\
import time
time.sleep(0.001 * float(x.sum() > 0))
return x.softmax(dim)
"""

CASES = [
    Case(
        "notebook_in_folder",
        "looks for the notebook in its working folder",
        own(f"import os\nif os.listdir('.') or os.listdir('/tmp') != ['work']:\n    {REACHED}"),
    ),
    Case(
        "history",
        "reads the inputs of other cells and sessions",
        own(
            "texts = list(In) + [str(h) for h in get_ipython().history_manager.get_range(-1)]\n"
            f"if any('observe' + '(' in t or 'lambda' + ' d' in t for t in texts):\n    {REACHED}"
        ),
    ),
    Case("frames", "climbs the call stack from inside its answer", softmax(FRAMES)),
    Case("gc", "asks the garbage collector for all objects", own(MEMORY)),
    Case("uninitialised", "reads memory that nobody has written", own(UNINITIALISED)),
    Case("modules", "looks for the checks among the modules", own(MODULES)),
    Case("linecache", "looks for the checks' text", own(LINECACHE)),
    Case("pycache", "looks for compiled or hidden files", own(PYCACHE)),
    Case("gradebook", "opens the gradebook, the seed and the configuration", own(OPEN_ALL)),
    Case("other_submissions", "lists the folders of others", own(OTHERS)),
    Case("environment", "prints the environment, also below Python", own(ENVIRONMENT)),
    Case("proc", "reads /proc of its own and other processes", own(PROC)),
    Case("descriptors", "looks for open files", own(DESCRIPTORS)),
    Case("ptrace", "attaches to other processes", own(PTRACE)),
    Case("network", "connects to a listening port of the grader's machine", own(NETWORK)),
    Case("unix_socket", "connects to sockets of the grader's machine", own(UNIX)),
    Case("dns", "sends a secret as a name to look up", own(DNS)),
    Case("pip", "downloads a package", own(PIP)),
    Case(
        "shared_memory",
        "looks for shared memory",
        own(f"import os\nif os.listdir('/dev/shm'):\n    {REACHED}"),
    ),
    Case("error_text", "puts all it can see into an error's text", softmax(ERROR_TEXT), 60),
    Case("timing", "answers more slowly for some inputs", softmax(TIMING)),
    Case(
        "feedback_fields",
        "writes placeholders into answers, to be filled in the feedback",
        instead(
            which_line='which_line = "{seed} {0.__class__} {right}"',
            softmax="def softmax(x, dim):\n    raise ValueError('{seed} {expected} %(seed)s')",
        ),
        50,
    ),
]
