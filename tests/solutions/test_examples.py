"""Every worked example in a docstring of solutions/ comes out as written."""

import doctest
import importlib
import math
import re

import pytest
import torch

from autograder.repository import ROOT

FILES = [
    path
    for path in sorted((ROOT / "solutions").rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]
NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?")


class UpToRounding(doctest.OutputChecker):
    """Compare numbers with a point up to their last printed digit, and all else but white space."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        want = want.replace("<BLANKLINE>", "")  # as doctest has empty lines written
        if NUMBER.sub("#", want).split() != NUMBER.sub("#", got).split():
            return False
        pairs = zip(NUMBER.findall(want), NUMBER.findall(got), strict=True)
        return all(math.isclose(float(a), float(b), rel_tol=1e-4, abs_tol=1e-4) for a, b in pairs)


def run_examples(module) -> tuple[int, str]:
    """Run the examples of a module; return how many there were, and what failed."""
    runner, failures = doctest.DocTestRunner(UpToRounding(), verbose=False), []
    names = {"torch": torch, "math": math}  # as in the notebooks, where they are imported
    for test in doctest.DocTestFinder().find(module, extraglobs=names):
        runner.run(test, out=failures.append)
    return runner.summarize(verbose=False).attempted, "".join(failures)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_worked_examples_come_out_as_written(path):
    module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    attempted, failures = run_examples(module)
    assert failures == ""
    assert attempted == path.read_text(encoding="utf-8").count(">>> ")  # none is overlooked


def test_most_lessons_show_an_example():
    assert len(FILES) >= 25


@pytest.mark.parametrize(
    ("printed", "accepted"),
    [
        ("tensor([0.3333, 2.])", True),
        ("tensor([0.33333, 2.0000])", True),
        ("tensor([0.3343, 2.])", False),
        ("tensor([0.3333, 3.])", False),
        ("tensor([0.3333])", False),
        ("array([0.3333, 2.])", False),
    ],
)
def test_an_example_is_accepted_up_to_rounding_and_no_further(printed, accepted):
    assert UpToRounding().check_output("tensor([0.3333,  2.0000])\n", printed, 0) is accepted
