"""The one list of runs: what is in it, and that a page can ask for nothing else."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from shutil import copyfile

import pytest

from autograder.repository import ROOT
from solutions.experiments import place
from solutions.experiments.listed import wanted

PAGE = """---
file_format: mystnb
kernelspec:
  name: python3
---

# A page

```{{code-cell}}
from solutions.experiments import kept
from solutions.experiments.square import {function}

print("answer", [kept({function}, n=n) for n in {numbers}], "solutions" in dir())
```
"""
SQUARE = """from solutions.experiments import kept
def squared(n):
    return n * n
def fourth(n):
    return kept(squared, n=n) ** 2
RUNS = [(squared, {"n": 1}), (squared, {"n": 3}), (fourth, {"n": 2})]
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a book of which only the pages are missing, with one file of experiments."""
    for name in ("__init__.py", "ground.py", "experiments/__init__.py", "experiments/listed.py"):
        (tmp_path / "solutions" / name).parent.mkdir(parents=True, exist_ok=True)
        copyfile(ROOT / "solutions" / name, tmp_path / "solutions" / name)
    (tmp_path / "solutions" / "experiments" / "square.py").write_text(SQUARE)
    (tmp_path / "book").mkdir()
    return tmp_path


def build(root: Path, **pages: str) -> tuple[int, str]:
    """Build a book of these pages; return its exit code and what is said and shown."""
    for name, text in pages.items():
        (root / "book" / f"{name}.md").write_text(text)
    settings = ["extensions=myst_nb,stale", "root_doc=page", "nb_execution_mode=cache"]
    options = ["-C", "-b", "html", *(word for line in settings for word in ("-D", line))]
    path = os.pathsep.join([str(root), str(ROOT / "book" / "machinery")])
    result = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, "book", "_build/html"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": path, "COURSE_RUNS": str(root / "runs")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    built = root / "_build" / "html"
    written = [*built.glob("page.html"), *(built / "reports").glob("*.log")]
    texts = (file.read_text() for file in written)
    return result.returncode, "\n".join([result.stdout, result.stderr, *texts])


def page(function: str, *numbers: int) -> str:
    return PAGE.format(function=function, numbers=numbers)


def test_no_run_is_listed_twice():
    names = [place(*run).name for run in (*wanted(), *wanted(["fashion"]))]
    assert len(set(names)) == len(names) > 200


def test_the_first_of_every_file_come_first():
    lessons = ["residual", "vit"]
    first, second, third, fourth = wanted(lessons)[:4]
    lists = [wanted([lesson]) for lesson in lessons]
    assert [first, second] == [runs[0] for runs in lists]
    assert [third, fourth] == [runs[1] for runs in lists]
    for runs in lists:
        places = [wanted(lessons).index(run) for run in runs]
        assert all(a < b for a, b in pairwise(places))


def test_a_run_that_is_not_listed_is_refused_with_a_sentence_and_not_made(root):
    given = page("squared", 1, 3) + "\n```{toctree}\nother\n```\n"
    code, text = build(root, page=given, other=page("squared", 5))
    assert "answer [1, 9] False" in text  # what is listed is given, and no name left on the page
    assert code != 0 and "other failed" in text
    sentence = "square.squared(n=5) is in no list of runs. Add it, with exactly these arguments, to"
    assert sentence in text and "RUNS in solutions/experiments/square.py" in text
    assert len(list((root / "runs").iterdir())) == 2


def test_a_run_that_a_listed_run_rests_on_must_be_listed_as_well(root):
    code, text = build(root, page=page("fourth", 2))
    assert code != 0 and "square.squared(n=2) is in no list of runs" in text
    lists = root / "solutions" / "experiments" / "square.py"
    lists.write_text(SQUARE.replace("RUNS = [", 'RUNS = [(squared, {"n": 2}), '))
    code, text = build(root)
    assert code == 0 and "answer [16] False" in text


def test_a_guard_that_cannot_start_fails_the_build(root):
    listed = root / "solutions" / "experiments" / "listed.py"
    listed.write_text(listed.read_text().replace("    give = ", "    raise OSError\n    give = "))
    code, text = build(root, page=page("squared", 2))
    assert code != 0 and "the guard of the list of runs did not start" in text
