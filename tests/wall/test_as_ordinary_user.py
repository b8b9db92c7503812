"""The whole wall again, with a grader who is not root: other rights, other ways round it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from ordinary_user import as_user, ordinary_user  # noqa: F401 - a fixture

from autograder.repository import ROOT
from autograder.wall.wall import why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=f"no sandbox here: {why_not()}")

HERE = Path(__file__).parent
FILES = sorted(f.name for f in HERE.glob("test_*.py") if f.name != Path(__file__).name)


@pytest.mark.parametrize("name", FILES)
def test_the_same_holds_for_an_ordinary_user(ordinary_user, tmp_path_factory, name):  # noqa: F811
    home = tmp_path_factory.mktemp("home")
    for folder in (home, *home.parents[:2]):
        folder.chmod(0o755)
    os.chown(home, ordinary_user.pw_uid, ordinary_user.pw_gid)
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
