"""Two submissions of one zygote: neither finds, reads or pays for anything of the other.

Who grades makes a difference (as root the learner's code becomes the real nobody), so this file is
run twice: as whoever runs the tests, and by test_as_ordinary_user.py.
"""

import pytest

from autograder.wall.session import Session
from autograder.wall.wall import Wall, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=f"no sandbox here: {why_not()}")

WRITTEN = """\
import os
def writable(folder):
    try:
        open(os.path.join(folder, "probe"), "w").close()
        os.remove(os.path.join(folder, "probe"))
        return True
    except OSError:
        return False
found = [folder for folder, _, _ in os.walk("/") if writable(folder)]
print(sorted(f for f in found if f != "/tmp/work"))
"""
LEAVE = """\
import os
left = 0
for folder in ("/dev", "/", "/etc", "/proc", "/root", "/dev/pts", "/env", "/inside", "/usr"):
    for number in range(6):
        try:
            with open(f"{folder}/left-behind-{number}", "wb") as f:
                for _ in range(60):
                    left += f.write(bytes(1 << 20))
        except OSError:
            pass
print(left)
"""
FIND = """\
import os
there = [os.path.join(d, f) for d, _, files in os.walk("/") for f in files]
print([path for path in there if "left-behind-" in path])
"""
SPEAK = "import os\nmaster, slave = os.openpty()\nprint(os.write(master, b'for you alone\\n'))"
LISTEN = """\
import os
heard, there = [], [name for name in os.listdir("/dev/pts") if name.isdigit()]
for name in there:
    try:
        fd = os.open("/dev/pts/" + name, os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY)
        heard.append(os.read(fd, 100))
    except OSError:
        pass
print(there, heard)
"""


@pytest.fixture(scope="module")
def wall():
    with Wall("warm_up") as made:
        yield made


@pytest.fixture
def pair(wall):
    made = Session(wall, 60, 120), Session(wall, 60, 120)
    yield made
    for session in made:
        session.close()


def printed(session: Session, code: str) -> str:
    outputs = session.cell("cell", code)
    return "".join(o.get("text", o.get("evalue", "")) for o in outputs).strip()


def test_only_its_own_tmp_and_shared_memory_can_be_written(pair):
    assert printed(pair[0], WRITTEN) == "['/dev/shm', '/tmp']"


def test_what_one_leaves_another_neither_finds_nor_pays_for(pair):
    first, second = pair
    assert printed(first, LEAVE) == "0"
    assert printed(second, FIND) == "[]"


def test_what_one_writes_to_a_terminal_no_neighbour_reads(pair):
    first, second = pair
    assert printed(first, SPEAK) == "14"  # a terminal is there for those who need one
    assert printed(second, LISTEN) == "[] []"


def test_devices_work_and_a_terminal_command_can_be_run(pair):
    code = "open('/dev/null', 'w').write('x'); print(open('/dev/zero', 'rb').read(2))"
    assert printed(pair[0], code) == r"b'\x00\x00'"
    assert "hello" in printed(pair[0], "!echo hello | cat")
