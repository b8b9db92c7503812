"""Behind the wall: what a learner's code can reach, and what happens when it misbehaves.

All that is hostile here runs behind the wall only, touches only loopback addresses and own files,
and every loop in it is bounded.
"""

import socket
import struct
import subprocess
import sys

import pytest
import torch

from autograder.checks.question import Conclusion
from autograder.lessons import load
from autograder.release.setup_cell import setup_text
from autograder.seam.link import LinkError
from autograder.seam.probe import call, observe
from autograder.seam.wire import Died, Raised
from autograder.wall.furnish import hidden_modules
from autograder.wall.session import CRASHED, TIMED_OUT, Session
from autograder.wall.wall import Wall, bwrap, python, why_not
from solutions import COURSE

pytestmark = pytest.mark.skipif(bool(why_not()), reason=f"no sandbox here: {why_not()}")


@pytest.fixture(scope="module")
def wall():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRADER_SEED", "what the grader's own environment may hold")
        with Wall("multi_head") as made:
            yield made


@pytest.fixture
def session(wall):
    made = Session(wall, seconds=20, total=120)
    yield made
    made.close()


def printed(session: Session, code: str) -> str:
    """Run a cell; return what it printed, or the name of the error."""
    outputs = session.cell("cell", code)
    return "".join(o.get("text", o.get("ename", "")) for o in outputs).strip()


def test_cells_share_a_namespace_and_answers_can_be_observed(session):
    session.cell("a", "def double(x):\n    return 2 * x")
    seen = session.observe(call, ("double", (torch.tensor([1.0, 2.0]),), {}))
    assert seen["result"].tolist() == [2.0, 4.0]
    assert seen["gradients"][0].tolist() == pytest.approx([2.0, 2 * 0.5403023])


def test_an_exception_arrives_as_one(session):
    session.cell("a", "def fail(x):\n    raise ValueError('why')")
    seen = session.observe(call, ("fail", (torch.ones(1),), {}))
    assert isinstance(seen, Raised) and (seen.type_name, seen.text) == ("ValueError", "why")


def test_the_set_up_cell_finds_its_packages_and_imports_no_training_for_a_lesson_without(session):
    assert printed(session, setup_text("multi_head")) == f"{COURSE}, lesson multi_head: ready."
    assert (
        printed(session, "import sys\nprint('solutions.training.loop' in sys.modules)") == "False"
    )
    assert "No GPU" in printed(session, setup_text("multi_head", trains=True))


def test_the_code_is_nobody_in_a_world_of_its_own(session):
    code = "import os\nprint(os.getuid(), os.getpid(), sorted(os.listdir('/proc')), os.getcwd())"
    assert printed(session, code) == "65534 2 ['cpuinfo'] /tmp/work"


def test_this_lessons_answers_and_the_checks_are_not_there(session):
    assert "multi_head" in hidden_modules("multi_head")
    assert "warm_up" not in hidden_modules("multi_head")
    assert printed(session, "import solutions.multi_head") == "ModuleNotFoundError"
    assert printed(session, "import autograder.lessons") == "ModuleNotFoundError"
    assert printed(session, "import autograder.checks.marking") == "ModuleNotFoundError"
    assert printed(session, "import solutions.warm_up; print('there')") == "there"


@pytest.mark.parametrize(
    "code, wanted",
    {
        "open a socket": ("import socket\nsocket.socket()", "PermissionError"),
        "look a name up": ("import socket\nsocket.getaddrinfo('localhost', 80)\nprint('?')", None),
        "write beside Python": ("open('/usr/x', 'w')", "OSError"),
        "write into the course": ("open('/inside/x', 'w')", "OSError"),
        "read somebody's home": ("import os\nprint(os.path.exists('/home'))", "False"),
        "read the password file": ("open('/etc/passwd')", "FileNotFoundError"),
        "read the environment": (
            "import os\nprint([k for k in os.environ if 'SEED' in k or 'NBGRADER' in k])",
            "[]",
        ),
        "mount": (
            "import ctypes\nprint(ctypes.CDLL(None).mount(b'x', b'/tmp', b'tmpfs', 0, b''))",
            "-1",
        ),
        "new namespaces": ("import ctypes\nprint(ctypes.CDLL(None).unshare(0x10000000))", "-1"),
        "trace a process": ("import ctypes\nprint(ctypes.CDLL(None).ptrace(0, 0, 0, 0))", "-1"),
        "be root": ("import os\nos.setuid(0)", "PermissionError"),
        "kill init": ("import os\nos.kill(1, 9)\nprint('alive')", "alive"),
    }.values(),
    ids=lambda value: None,
)
def test_what_is_forbidden_fails(session, code, wanted):
    found = printed(session, code)
    assert found == wanted if wanted else "?" not in found


def test_the_outer_wall_alone_has_no_network_either(tmp_path):
    """One mistake in the inner wall must not be enough: the zygote too reaches nobody."""
    code = "import socket, sys\nsocket.create_connection(('127.0.0.1', int(sys.argv[1])), 5)"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        here = subprocess.run([sys.executable, "-c", code, port], timeout=60)
        command = [*bwrap(tmp_path), python(), "-c", code, port]
        behind = subprocess.run(command, capture_output=True, text=True, timeout=60, env={})
    assert here.returncode == 0
    assert behind.returncode == 1
    assert "Error" in behind.stderr.splitlines()[-1] and "socket" in behind.stderr


CAPABILITIES = """\
import ctypes
header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
assert ctypes.CDLL(None).capget(header, sets) == 0
print(list(sets))
"""


def test_the_code_has_no_capability_not_even_in_a_world_of_its_own(session):
    assert printed(session, CAPABILITIES) == str([0] * 6)


OPEN = """\
import os, stat
found = []
for fd in range(4096):
    try:
        kind = os.fstat(fd)
    except OSError:
        continue
    found.append("socket" if stat.S_ISSOCK(kind.st_mode) else os.major(kind.st_rdev))
print(found)
"""


def test_one_socket_is_all_the_code_has_open_besides_nothing(session):
    assert printed(session, OPEN) == "[1, 1, 1, 'socket']"  # 1 is the kernel's /dev/null


def test_a_fork_bomb_runs_into_its_limit_and_leaves_nothing(session):
    code = (
        "import os, time\nmade = 0\n"
        "for _ in range(500):\n"
        "    try:\n        pid = os.fork()\n"
        "    except OSError:\n        break\n"
        "    if pid == 0:\n        time.sleep(20)\n        os._exit(0)\n"
        "    made += 1\n"
        "print(made < 100)"
    )
    assert printed(session, code) == "True"


def test_memory_ends_in_an_error_not_in_a_dead_machine(session):
    found = printed(session, "import torch\ntorch.ones(6 << 30, dtype=torch.uint8)")
    assert found in ("RuntimeError", "MemoryError", CRASHED)
    assert printed(session, "print('still here')") == "still here"


def test_a_full_disk_is_the_learners_own(session):
    code = (
        "try:\n    with open('/tmp/work/x', 'wb') as f:\n"
        "        for _ in range(300):\n            f.write(b'x' * (1 << 20))\n"
        "except OSError as e:\n    print('full')"
    )
    assert printed(session, code) in ("full", CRASHED)


def test_a_cell_that_never_ends_is_stopped_and_left_out(wall):
    session = Session(wall, seconds=2, total=60)
    session.cell("good", "x = 41")
    loop = "import time\nend = time.time() + 30\nwhile time.time() < end: pass"
    assert session.cell("loop", loop)[0]["ename"] == TIMED_OUT
    assert printed(session, "print(x + 1)") == "42"
    session.close()


def test_a_cell_that_ends_the_process_costs_itself_only(session):
    session.cell("good", "x = 41")
    assert session.cell("bad", "import os\nos._exit(0)")[0]["ename"] == CRASHED
    assert session.cell("worse", "import ctypes\nctypes.string_at(0)")[0]["ename"] == CRASHED
    assert printed(session, "print(x + 1)") == "42"


def test_an_answer_that_never_ends_is_asked_once_and_the_next_question_is_fresh(wall):
    session = Session(wall, seconds=2, total=60)
    session.cell("a", "import time\ndef slow(x):\n    time.sleep(20)\ndef quick(x):\n    return x")
    inputs = ("slow", (torch.ones(1),), {})
    assert isinstance(session.observe(call, inputs), Died)
    assert isinstance(session.observe(call, inputs), Died)  # at once: the question was given up
    session.remember("the next check")
    session.return_to("the next check")
    seen = session.observe(call, ("quick", (torch.ones(1),), {}))
    assert seen["result"].tolist() == [1.0]
    session.close()


FORGE = (
    "import os, socket\n"
    "from autograder.seam.link import send\n"
    "for fd in range(3, 256):\n"
    "    try:\n        link = socket.socket(fileno=os.dup(fd))\n        {attack}\n"
    "    except OSError:\n        pass\n"
)


@pytest.mark.parametrize(
    "attack",
    [
        "send(link, {'token': 'guess', 'outputs': '[]'})",
        "link.send(b'x' * 8)",
        f"link.send({struct.pack('<Q', 1 << 60)!r})",
        "link.send(b'\\x01')",
    ],
)
def test_forged_frames_end_the_process_and_earn_nothing(session, attack):
    session.cell("good", "x = 1")
    session.cell("forge", FORGE.format(attack=attack))
    session.cell("next", "y = 2")  # whatever was forged is met here at the latest
    assert printed(session, "print(x)") == "1"


def test_an_answer_nobody_asked_for_is_refused(wall):
    with wall.fork() as sandbox:
        sandbox.ask(20, do="cell", code="x = 1")
        attack = FORGE.format(attack="send(link, {'token': 'guess', 'outputs': '[]'})")
        with pytest.raises(LinkError, match="nobody asked for"):
            sandbox.ask(20, do="cell", code=attack)


def test_one_submission_leaves_nothing_for_the_next(wall):
    for _ in range(2):
        session = Session(wall, seconds=20, total=60)
        code = (
            "import os, torch\nprint(os.listdir('/tmp/work'), hasattr(torch, 'mark'))\n"
            "open('/tmp/work/mark', 'w').close()\ntorch.mark = 1"
        )
        assert printed(session, code) == "[] False"
        session.close()


def test_an_experiment_with_the_reference_gives_the_same_behind_the_wall(session):
    lesson = load("multi_head")
    question = next(q for q in lesson.questions if isinstance(q, Conclusion))
    own = {m.__name__: m for m in question.measures}
    with session.replaced(own, question.name):
        there = session.observe(question.probe, question.inputs)
    assert there == observe(own, question.probe, question.inputs)


def test_the_wall_can_start_before_torch_is_imported():
    code = "import sys, autograder.__main__, autograder.course.course, autograder.wall.wall\n"
    code += "sys.exit('torch' in sys.modules or 'nbgrader' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


@pytest.mark.parametrize("forged", ["b'no message'", "b''", "bytes(8)", "b'\\xff' * 20"])
def test_an_answer_that_cannot_be_read_is_an_error_of_the_code(session, forged):
    patch = (
        f"import autograder.wall.within.serve as serve\nserve.observe_packed = lambda *_: {forged}"
    )
    assert session.cell("cell", patch) == []
    seen = session.observe(call, ("double", (torch.ones(1),), {}))
    assert isinstance(seen, Raised) and seen.type_name == "WireError"


def test_an_answer_of_another_kind_ends_the_question(session):
    session.cell("c", "import autograder.wall.within.serve as s\ns.observe_packed = lambda *_: 1.0")
    seen = session.observe(call, ("double", (torch.ones(1),), {}))
    assert seen == Died("an answer of another kind than was asked for")
