"""The first code cell of a notebook: it installs the course on Colab and explains its own failure.

It runs before the course is there, so all that it says until then stands in the cell itself;
what it says afterwards is `solutions.runtime.ready`. Colab shows its title and folds the rest away.
"""

import tomllib

from autograder.repository import ROOT, address, branch

FOLDED = {"cellView": "form"}  # Colab's metadata for a cell of which only the title shows

# git's exit code tells apart what pip's would not: 2 says that the hub was reached but has no such
# tag. A package is ours if it holds a file that ours has, which is seen without importing it;
# these two files are also in the packages behind the wall.
CELL = """\
# @title Run this cell first: on Colab it installs the course
import importlib.util, subprocess, sys
from pathlib import Path

hub, version = "{hub}", "{tag}"
if "google.colab" in sys.modules:
    ask = ["git", "ls-remote", "--exit-code", hub, version]
    answer = subprocess.run(ask, stdout=subprocess.DEVNULL).returncode
    if answer == 2:
        print(f"{{hub}} has no {{version}}: its branch {branch} is installed instead.")
        version = "{branch}"
    elif answer != 0:
        raise ConnectionError(f"{{hub}} was not reached. Is there a network? Try again soon.")
    %pip install -q "git+{{hub}}@{{version}}"
for name, part in {{"solutions": "runtime.py", "autograder": "puzzle.py"}}.items():
    found = importlib.util.find_spec(name)
    if not found or not found.origin:
        raise ImportError(f'The course is not here. Run: pip install "git+{{hub}}@{{version}}"')
    if not Path(found.origin).with_name(part).exists():
        raise ImportError(f"{{found.origin}} is in the way: the course has a package of that name. "
                          f"Rename it, or pip uninstall {{name}}; then restart and run this again.")
from autograder import check
from solutions.runtime import ready

ready({arguments})"""


def tag() -> str:
    """Return the tag that notebooks install from; the version is written in pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return f"v{project['version']}"


def setup_text(lesson: str, trains: bool = False) -> str:
    """Return the cell's text; a notebook that trains also says on what, and where that is kept."""
    arguments = f'"{lesson}", trains=True' if trains else f'"{lesson}"'
    return CELL.format(hub=address(), tag=tag(), branch=branch(), arguments=arguments)
