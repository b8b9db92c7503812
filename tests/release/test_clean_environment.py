"""A released notebook needs only what the distribution installs, and no network."""

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from autograder.release.notebooks import author
from autograder.repository import ROOT, order

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


def closure(name: str) -> set[str]:
    """Return a distribution and everything it requires, by name."""
    found, waiting = set(), [name]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # wanted on another platform
        found.add(name)
        for line in distribution.requires or []:
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(requirement.name)
    return found


@pytest.fixture(scope="module")
def clean_python(tmp_path_factory) -> Path:
    """Make an environment with our wheel, what it declares, and torch; linked, not downloaded."""
    home = tmp_path_factory.mktemp("clean")
    source = home / "source"
    shutil.copytree(ROOT / "solutions", source / "solutions")
    shutil.copytree(ROOT / "autograder", source / "autograder")
    for file in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / file, source / file)
    wheel = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*wheel, "-w", home, source], check=True, timeout=120)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home / "env"], check=True)
    python = home / "env" / "bin" / "python"
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = home / "env" / "lib" / version / "site-packages"
    for name in closure("torch") | closure("transformers-from-the-ground-up"):
        if name != "transformers-from-the-ground-up":
            link(importlib.metadata.distribution(name), site)
    built = next(home.glob("*.whl"))
    shutil.unpack_archive(built, site, "zip")
    return python


def link(distribution, site: Path) -> None:
    """Make a distribution's files appear in another site-packages."""
    base = Path(str(distribution.locate_file("")))
    for top in {Path(file).parts[0] for file in distribution.files or []}:
        target = base / top
        if top != ".." and target.exists() and not (site / top).exists():
            (site / top).symlink_to(target)


@pytest.mark.parametrize("lesson", order())
def test_the_answered_notebook_runs_without_nbgrader_book_or_network(
    lesson, clean_python, tmp_path
):
    cells = [cell.source for cell in author(lesson).cells if cell.cell_type == "code"]
    (tmp_path / "cells.json").write_text(json.dumps(cells), encoding="utf-8")
    (tmp_path / "run.py").write_text(textwrap.dedent(RUN), encoding="utf-8")
    bwrap = ["bwrap", "--dev-bind", "/", "/", "--unshare-net", "--chdir", str(tmp_path)]
    # nor the environment these tests run in: IPython would add its packages
    ours = ("PYTHON", "NBGRADER", "VIRTUAL_ENV")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    done = subprocess.run(
        [*bwrap, clean_python, "-s", "run.py", "cells.json"],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "ran to the end" in done.stdout
