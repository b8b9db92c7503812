"""The rebuild rule: a page runs again exactly when something it rests on has changed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import stale

from autograder.repository import ROOT

BOOK = ROOT / "book" / "machinery"

PAGE = """---
file_format: mystnb
kernelspec:
  name: python3
---

# A page

```{code-cell}
%matplotlib inline
```

```{code-cell}
import os
from solutions.double import double

with open(os.environ["RUNS"], "a") as runs:
    runs.write("run ")
print("answer", double(4))
```
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a book of one page that imports double, which imports factor and shows double.js."""
    files = {
        "book/page.md": PAGE,
        "requirements.txt": "numpy\n",
        "solutions/__init__.py": "",
        "solutions/factor.py": "FACTOR = 2\n",
        "solutions/double.py": "from .factor import FACTOR\ndouble = FACTOR.__mul__\n",
        "solutions/double.js": "// a figure\n",
        "solutions/unrelated.py": "NOTHING = 0\n",
        "solutions/data/text.txt": "data\n",
        "autograder/__init__.py": "import importlib\n",
        "autograder/any.py": "import importlib\nname = input\nimportlib.import_module(name)\n",
        "autograder/one.py": "import importlib as i\ni.import_module(f'autograder.lessons.{1}')\n",
        "autograder/lessons/page.py": "CASES = 1\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def change(path: Path) -> None:
    path.write_text(path.read_text() + "\n")


def fingerprint(root: Path) -> str:
    return stale.fingerprint(root / "book" / "page.md", root)


@pytest.mark.parametrize(
    "name",
    [
        "solutions/double.py",
        "solutions/factor.py",
        "solutions/__init__.py",
        "solutions/double.js",
        "solutions/data/text.txt",
        "requirements.txt",
    ],
)
def test_a_page_rests_on_what_it_imports_and_on_what_that_imports(root, name):
    before = fingerprint(root)
    change(root / name)
    assert fingerprint(root) != before


@pytest.mark.parametrize("name", ["solutions/unrelated.py", "autograder/lessons/page.py"])
def test_a_page_does_not_rest_on_a_module_it_never_imports(root, name):
    before = fingerprint(root)
    change(root / name)
    assert fingerprint(root) == before


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        ("import autograder.any", "autograder/one.py"),  # it imports by a computed name
        (
            "import autograder.one",
            "autograder/lessons/page.py",
        ),  # and this one from a known package
        ("!python -m autograder verify", "autograder/lessons/page.py"),
        ("from solutions import unrelated", "solutions/unrelated.py"),
        ("open('../solutions/unrelated.py')", "solutions/unrelated.py"),
        ("files = !ls", "autograder/lessons/page.py"),  # not Python: take no risk
    ],
)
def test_a_cell_may_reach_a_module_in_other_ways(root, cell, name):
    page = root / "book" / "page.md"
    page.write_text(page.read_text() + f"\n```{{code-cell}}\n{cell}\n```\n")
    before = fingerprint(root)
    change(root / name)
    assert fingerprint(root) != before


def test_an_import_from_a_known_package_does_not_reach_the_others(root):
    page = root / "book" / "page.md"
    page.write_text(page.read_text() + "\n```{code-cell}\nimport autograder.one\n```\n")
    before = fingerprint(root)
    change(root / "autograder" / "any.py")
    assert fingerprint(root) == before


def test_a_page_rests_on_the_code_it_shows(root):
    page = root / "book" / "page.md"
    page.write_text(page.read_text() + "\n```{literalinclude} ../solutions/unrelated.py\n```\n")
    before = fingerprint(root)
    change(root / "solutions" / "unrelated.py")
    assert fingerprint(root) != before


def test_a_page_without_cells_rests_on_nothing(root):
    page = root / "book" / "page.md"
    page.write_text("# Only words, about solutions.double\n")
    assert stale.ground(page, root) == set()


def build(root: Path) -> tuple[int, int, str]:
    """Build the small book; return its exit code, how often the page has run, and the page."""
    runs = root.parent / f"{root.name}-runs"  # outside: a file the page names would be its ground
    python_path = os.pathsep.join([str(root), str(BOOK)])
    # Sphinx with the two extensions that matter: Jupyter Book would only take longer to start
    settings = ["extensions=myst_nb,stale", "root_doc=page", "nb_execution_mode=cache"]
    options = ["-C", "-b", "html", *(word for line in settings for word in ("-D", line))]
    result = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, "book", "_build/html"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": python_path, "RUNS": str(runs)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    page = root / "_build" / "html" / "page.html"
    assert page.exists(), result.stdout + result.stderr
    count = len(runs.read_text().split()) if runs.exists() else 0
    return result.returncode, count, page.read_text()


def test_the_book_runs_a_page_again_after_a_change_below_it_and_never_otherwise(root):
    code, runs, page = build(root)
    assert (code, runs) == (0, 1)
    assert "answer 8" in page

    change(root / "solutions" / "unrelated.py")
    page_file = root / "book" / "page.md"
    page_file.write_text(page_file.read_text() + "\nMore words, no new code.\n")
    code, runs, page = build(root)
    assert (code, runs) == (0, 1)
    assert "More words" in page

    (root / "solutions" / "factor.py").write_text("FACTOR = 3\n")
    code, runs, page = build(root)
    assert (code, runs) == (0, 2)
    assert "answer 12" in page


def test_a_failing_cell_fails_this_build_and_the_next_until_it_is_mended(root):
    factor = root / "solutions" / "factor.py"
    factor.write_text("raise ValueError('broken on purpose')\n")
    assert build(root)[0] != 0
    assert build(root)[0] != 0  # Sphinx alone would call the unchanged page up to date
    factor.write_text("FACTOR = 2\n")
    code, _, page = build(root)
    assert code == 0
    assert "answer 8" in page


def test_pages_are_run_side_by_side_each_once_and_shown_from_the_cache(root):
    book = root / "book"
    meet = (  # each page waits for the other: one after the other they would never meet
        "import pathlib, time\n"
        "here = pathlib.Path(os.environ['RUNS'] + '-{me}')\n"
        "here.touch()\n"
        "end = time.monotonic() + 20\n"
        "while not pathlib.Path(os.environ['RUNS'] + '-{you}').exists():\n"
        "    assert time.monotonic() < end, 'alone'\n"
        "    time.sleep(0.05)\n"
        "print('met {you}')\n"
    )
    for me, you in (("page", "other"), ("other", "page")):
        cell = f"\n```{{code-cell}}\n{meet.format(me=me, you=you)}```\n"
        (book / f"{me}.md").write_text(PAGE + cell)
    (book / "page.md").write_text((book / "page.md").read_text() + "\n```{toctree}\nother\n```\n")
    code, runs, page = build(root)
    assert (code, runs) == (0, 2)
    assert "met other" in page
    assert "met page" in (root / "_build" / "html" / "other.html").read_text()
