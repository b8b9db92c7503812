"""A lesson with one exercise and one slip: written beside the others, in a copy of the tree."""

from pathlib import Path

from autograder.repository import ROOT

NAME = "made_up"
INIT = """\
from autograder.lessons.made_up import double

QUESTIONS = [double.QUESTION]
"""
REFERENCE = '''\
"""A reference."""

from torch import Tensor


def double(x: Tensor) -> Tensor:
    """Double every number."""
    return x * 2
'''
QUESTION = '''\
import math

from autograder.checks.draw import args
from autograder.checks.question import Case, Exercise
from autograder.checks.slips import Slip
from autograder.seam.probe import call
from solutions.made_up import double


def _shape(own, name, x):
    """Say which shape comes out."""
    return {"shape": tuple(getattr(own, name)(x).shape)}


QUESTION = Exercise(
    double,
    parts={"values": 80, "shape": 10},
    cases=[
        Case("values", "a table", lambda d: args(d.normal(3, 4))),
        Case("shape", "three axes", lambda d: (d.normal(2, 3, 4),), _shape),
    ],
    slips=[Slip("tripled", double, "x * 2", "x * 3", "This is three times.")],
)
'''
EXERCISES = """\
---
kernelspec:
  name: python3
  display_name: Python 3
---

# Doubling

```{code-cell}
:name: imports
import torch
from torch import Tensor
```

+++ {"exercise": "double", "difficulty": 1, "minutes": 2}

Double.

```{code-cell}
:solution: solutions.made_up.double
```

```{code-cell}
:check: double
:points: 90
```

+++ {"written": "why", "points": 10}

**Model answer.** Because.
"""
ALTERNATIVE = """\
def double__by_adding(x):
    return x + x
"""
TEXTS = {
    f"autograder/lessons/{NAME}/__init__.py": INIT,
    f"autograder/lessons/{NAME}/double.py": QUESTION,
    f"solutions/{NAME}.py": REFERENCE,
    f"exercises/{NAME}.md": EXERCISES,
    f"tests/alternatives/{NAME}.py": ALTERNATIVE,
}
CARRIED = ("autograder", "solutions")


def checkout(folder: Path, **changed: str) -> Path:
    """Copy what the commands need, and put the lesson last in the book."""
    import shutil

    skip = shutil.ignore_patterns("__pycache__")
    for name in CARRIED:
        shutil.copytree(ROOT / name, folder / name, ignore=skip)
    for name in ("_config.yml", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    (folder / "book").mkdir()
    toc = "parts:\n- chapters:\n  - file: made_up\n"
    (folder / "book" / "_toc.yml").write_text(toc)
    for name, text in (TEXTS | changed).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder
