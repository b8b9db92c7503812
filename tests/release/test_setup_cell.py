"""The set-up cell, run as on Colab with a bare repository in place of the hub: it says what fails.

Each test has an environment of its own on top of Colab's versions, in which the cell's own pip
installs with no index: what the course needs is there already.
"""

import subprocess
from pathlib import Path

import pytest
from environments import (
    colab_environment,
    install_course,
    layer,
    outer_environment,
    site_packages,
    source_tree,
)

from autograder.release.setup_cell import setup_text, tag
from autograder.repository import address, branch

RUN = """\
import sys, types
from pathlib import Path
from IPython.core.interactiveshell import InteractiveShell

sys.path.insert(0, "")  # a notebook's own folder comes first
if "--colab" in sys.argv:
    sys.modules["google.colab"] = types.ModuleType("google.colab")
result = InteractiveShell.instance().run_cell(Path("cell.py").read_text(encoding="utf-8"))
print("FAILED" if result.error_in_exec else "FINE", result.error_in_exec)
"""
CLOSED = "https://localhost:1/nobody"  # a port at which nothing listens


def git(*command, at: Path) -> None:
    name = ["-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *name, *command], cwd=at, check=True, capture_output=True)


@pytest.fixture(scope="module")
def hub(tmp_path_factory) -> Path:
    """Make a bare repository of the course as it stands, with its branch and no tag."""
    home = tmp_path_factory.mktemp("hub")
    work = source_tree(home / "work")
    git("init", at=work)
    git("add", ".", at=work)
    git("commit", "-m", "the course", at=work)
    git("branch", "-M", branch(), at=work)
    git("clone", "--bare", str(work), "hub.git", at=home)
    return home / "hub.git"


@pytest.fixture
def tagged(hub):
    git("tag", tag(), at=hub)
    yield hub
    git("tag", "-d", tag(), at=hub)


class Runtime:
    """A learner's machine: an environment and the folder of the notebook."""

    def __init__(self, home: Path):
        self.folder = home / "content"
        self.folder.mkdir()
        self.python = layer(colab_environment(), home / "env")
        self.site = site_packages(home / "env")

    def run(self, hub: str, colab: bool = True, trains: bool = False) -> str:
        """Run the cell with another address for the hub; return all it printed, and the error."""
        cell = setup_text("warm_up", trains).replace(address(), hub)
        (self.folder / "cell.py").write_text(cell, encoding="utf-8")
        (self.folder / "run.py").write_text(RUN, encoding="utf-8")
        pip = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "GIT_TERMINAL_PROMPT": "0"}
        done = subprocess.run(
            [self.python, "-s", "run.py", *(["--colab"] if colab else [])],
            cwd=self.folder,
            env=outer_environment() | pip,
            capture_output=True,
            text=True,
            timeout=180,
        )
        return done.stdout + done.stderr


@pytest.fixture
def runtime(tmp_path) -> Runtime:
    return Runtime(tmp_path)


def test_on_colab_the_cell_installs_the_tagged_version(runtime, tagged):
    said = runtime.run(f"file://{tagged}", trains=True)
    assert "FINE" in said and "lesson warm_up: ready." in said
    assert "is installed instead" not in said
    assert "Runtime → Change runtime type → T4 GPU" in said
    assert "What you train is lost with this runtime" in said
    assert (runtime.site / "solutions" / "runtime.py").exists()


def test_without_the_tag_the_branch_is_installed_and_named(runtime, hub):
    said = runtime.run(f"file://{hub}")
    assert f"has no {tag()}: its branch {branch()} is installed instead." in said
    assert "FINE" in said and "lesson warm_up: ready." in said


def test_a_hub_that_is_not_reached_is_named_and_nothing_is_installed(runtime):
    said = runtime.run(CLOSED)
    assert f"FAILED {CLOSED} was not reached. Is there a network?" in said
    assert not (runtime.site / "solutions").exists()


def test_elsewhere_nothing_is_installed_and_the_one_command_is_given(runtime, tagged):
    said = runtime.run(f"file://{tagged}", colab=False)
    assert f'The course is not here. Run: pip install "git+file://{tagged}@{tag()}"' in said
    assert not (runtime.site / "solutions").exists()


@pytest.fixture(scope="module")
def machine(tmp_path_factory) -> Runtime:
    """A machine on which the course is installed, for all tests that only look for it."""
    runtime = Runtime(tmp_path_factory.mktemp("machine"))
    install_course(runtime.folder.parent / "wheel", runtime.site)
    return runtime


@pytest.fixture
def with_course(machine, tmp_path) -> Runtime:
    machine.folder = tmp_path
    return machine


@pytest.mark.parametrize(
    "stranger, text",
    [
        ("solutions.py", "answer = 42"),
        ("autograder.py", "this is no Python"),
        ("solutions/__init__.py", "raise SystemExit('a stranger ran')"),
        ("autograder/__init__.py", "raise SystemExit('a stranger ran')"),
    ],
)
def test_what_bears_the_name_of_our_package_is_named_and_never_run(with_course, stranger, text):
    file = with_course.folder / stranger  # nearer than ours, which is installed
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    said = with_course.run("file:///nowhere", colab=False)
    name = Path(stranger).parts[0].removesuffix(".py")
    assert f"{file} is in the way" in said and f"or pip uninstall {name};" in said
    assert "a stranger ran" not in said


def test_a_folder_of_the_learner_is_not_in_the_way(with_course):
    (with_course.folder / "solutions").mkdir()
    assert "ready." in with_course.run("file:///nowhere", colab=False)


def test_before_a_training_the_cell_says_on_what_it_runs_and_what_is_kept(with_course):
    said = with_course.run("file:///nowhere", colab=False, trains=True)
    assert "No GPU: trainings take their small recipe" in said
    assert f"are kept in {with_course.folder}." in said


def test_the_cell_is_short_and_every_line_can_be_read_without_scrolling():
    lines = setup_text("queries_keys_values", trains=True).splitlines()
    assert len(lines) <= 28
    assert max(len(line) for line in lines if "hub, version =" not in line) <= 100


def test_notebooks_install_the_version_of_the_project(tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "9.8.7"\n')
    monkeypatch.setattr("autograder.release.setup_cell.ROOT", tmp_path)
    assert '"v9.8.7"' in setup_text("warm_up")
