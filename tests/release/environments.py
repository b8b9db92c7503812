"""Environments other than ours to run notebooks in: packages linked from here, or Colab's own."""

import fcntl
import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from packaging.requirements import Requirement

from autograder.repository import ROOT

PINS = Path(__file__).with_name("colab.txt")
OURS = "transformers-from-the-ground-up"


def environment_python(home: Path) -> Path:
    return home / "bin" / "python"


def site_packages(home: Path) -> Path:
    return next((home / "lib").glob("python3.*")) / "site-packages"


def source_tree(to: Path) -> Path:
    """Copy what a wheel of the course is made from."""
    skip = shutil.ignore_patterns("__pycache__")
    for folder in ("solutions", "autograder"):
        shutil.copytree(ROOT / folder, to / folder, ignore=skip)
    for file in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / file, to / file)
    return to


def install_course(home: Path, site: Path) -> None:
    """Build the course's wheel in a folder and unpack it into a site-packages."""
    source = source_tree(home / "source")  # makes the folder, too
    wheel = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*wheel, "-w", home, source], check=True, timeout=120)
    shutil.unpack_archive(next(home.glob("*.whl")), site, "zip")


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


def link(name: str, site: Path) -> None:
    """Make the files of a distribution that we have appear in another site-packages."""
    distribution = importlib.metadata.distribution(name)
    base = Path(str(distribution.locate_file("")))
    for top in {Path(file).parts[0] for file in distribution.files or []}:
        target = base / top
        if top != ".." and target.exists() and not (site / top).exists():
            (site / top).symlink_to(target)


def colab_environment() -> Path:
    """Make an environment with Colab's versions, once, and return its folder.

    COLAB_PYTHON names the interpreter, for the whole of Colab's stack with its torch. Without it
    the interpreter and the torch are ours: the other versions are a small download.
    """
    named = os.environ.get("COLAB_PYTHON")
    python = shutil.which(named or sys.executable) or str(named)
    version = _output(python, "-VV")
    if not version:
        raise FileNotFoundError(f"COLAB_PYTHON: {python} does not start. Name a Python 3.13.")
    torch = "" if named else importlib.metadata.version("torch")
    key = hashlib.sha256(f"{PINS.read_text()}{version}{torch}".encode()).hexdigest()[:12]
    home = ROOT / "_build" / "colab" / key
    with _alone(home.with_suffix(".lock")):
        if not (home / "ready").exists():
            shutil.rmtree(home, ignore_errors=True)
            _build(home, python, with_torch=bool(named))
            (home / "ready").touch()
    return home


def _output(*command: str) -> str:
    """Return what a command prints; nothing if it cannot be run."""
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout
    except OSError:
        return ""


def _build(home: Path, python: str, with_torch: bool) -> None:
    subprocess.run([python, "-m", "venv", home], check=True)
    pins = [p for line in PINS.read_text().splitlines() if (p := line.partition("#")[0].strip())]
    wanted = [p for p in pins if with_torch or not p.startswith("torch==")]
    pip = [environment_python(home), "-m", "pip", "install", "-q", *wanted]
    subprocess.run(pip, check=True, timeout=1800)
    if not with_torch:
        site = site_packages(home)
        there = {d.name.lower() for d in importlib.metadata.distributions(path=[str(site)])}
        for name in closure("torch"):
            if name.lower() not in there:
                link(name, site)


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Let one process at a time build: the others wait and find it done."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def layer(below: Path, home: Path) -> Path:
    """Make an empty environment that sees the packages of another, and return its Python."""
    python = environment_python(below)
    subprocess.run([python, "-m", "venv", "--without-pip", home], check=True)
    (site_packages(home) / "below.pth").write_text(f"{site_packages(below)}\n", encoding="utf-8")
    return environment_python(home)


def outer_environment() -> dict[str, str]:
    """Return the environment variables without those of the tests' own Python; one thread."""
    ours = ("PYTHON", "NBGRADER", "VIRTUAL_ENV")
    return {k: v for k, v in os.environ.items() if not k.startswith(ours)} | {
        "OMP_NUM_THREADS": "1"
    }
