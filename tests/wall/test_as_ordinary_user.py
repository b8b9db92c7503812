"""The whole wall again, with a grader who is not root: other rights, other ways round it."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from ordinary_user import as_user, ordinary_user  # noqa: F401 - a fixture

from autograder.repository import ROOT
from autograder.wall.wall import why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=f"no sandbox here: {why_not()}")

HERE = Path(__file__).parent
FILES = sorted(f.name for f in HERE.glob("test_*.py") if f.name != Path(__file__).name)


@pytest.fixture
def home(ordinary_user):  # noqa: F811
    """A folder of the user's own; pytest's are closed to all but whoever started it."""
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, ordinary_user.pw_uid, ordinary_user.pw_gid)
        yield Path(folder)


@pytest.mark.parametrize("name", FILES)
def test_the_same_holds_for_an_ordinary_user(ordinary_user, home, name):  # noqa: F811
    options = ["-q", "-p", "no:cacheprovider", f"--basetemp={home}/pytest"]
    ran = subprocess.run(
        [*as_user(ordinary_user), sys.executable, "-m", "pytest", *options, str(HERE / name)],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert ran.returncode == 0, (ran.stdout + ran.stderr)[-5000:]
    assert " passed" in ran.stdout
