"""A released notebook needs only what the distribution installs, and no network."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from environments import (
    OURS,
    closure,
    environment_python,
    install_course,
    link,
    outer_environment,
    site_packages,
)

from autograder.release.notebooks import author
from autograder.repository import order

RUN = """\
import importlib.util, json, sys
from pathlib import Path
import matplotlib
matplotlib.use("Agg")
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
    result = shell.run_cell(cell)
    if not result.success:
        sys.exit(f"this cell failed: {cell}")
for unwanted in ("nbgrader", "sphinx", "jupyter_book", "myst_nb", "nbformat"):
    assert importlib.util.find_spec(unwanted) is None, unwanted
print("ran to the end")
"""


@pytest.fixture(scope="module")
def clean_python(tmp_path_factory) -> Path:
    """Make an environment with our wheel, what it declares, and torch; linked, not downloaded."""
    home = tmp_path_factory.mktemp("clean")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home / "env"], check=True)
    site = site_packages(home / "env")
    for name in (closure("torch") | closure(OURS)) - {OURS}:
        link(name, site)
    install_course(home / "wheel", site)
    return environment_python(home / "env")


@pytest.mark.parametrize("lesson", order())
def test_the_answered_notebook_runs_without_nbgrader_book_or_network(
    lesson, clean_python, tmp_path
):
    cells = [cell.source for cell in author(lesson).cells if cell.cell_type == "code"]
    (tmp_path / "cells.json").write_text(json.dumps(cells), encoding="utf-8")
    (tmp_path / "run.py").write_text(textwrap.dedent(RUN), encoding="utf-8")
    bwrap = ["bwrap", "--dev-bind", "/", "/", "--unshare-net", "--chdir", str(tmp_path)]
    done = subprocess.run(
        [*bwrap, clean_python, "-s", "run.py", "cells.json"],
        capture_output=True,
        text=True,
        timeout=300,
        env=outer_environment(),  # IPython would add the packages of ours
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "ran to the end" in done.stdout
