"""A demonstration is left out when grading only where nothing that counts could miss it."""

import nbformat
import pytest
from submissions import LESSON

from autograder.running.demonstrations import skippable


def cells(*sources: str) -> list[nbformat.NotebookNode]:
    """Make code cells; one whose text begins with a star is a demonstration."""
    made = []
    for source in sources:
        tags = ["demonstration"] if source.startswith("*") else []
        made.append(nbformat.v4.new_code_cell(source.lstrip("*"), metadata={"tags": tags}))
    return made


def test_a_demonstration_that_nobody_reads_is_left_out():
    assert skippable(cells("*picture = 1", "def softmax(x, dim):\n    return x"), LESSON) == {0}


def test_a_demonstration_that_an_answer_reads_is_run():
    work = cells("*scores = 1", "def softmax(x, dim):\n    return scores")
    assert skippable(work, LESSON) == set()


def test_what_such_a_demonstration_itself_reads_is_run_too():
    work = cells("*base = 1", "*scores = base + 1", "*alone = 2", "softmax = lambda x: scores")
    assert skippable(work, LESSON) == {2}


@pytest.mark.parametrize(
    "reading",
    [
        *("softmax = eval('scores')", "exec('y = scores')", "globals()['scores']"),
        *("get_ipython().user_ns['scores']", "%timeit scores", "def f(:\n    scores"),
    ],
)
def test_a_name_that_stands_in_a_string_or_in_no_python_counts_as_read(reading):
    assert skippable(cells("*scores = 1", reading), LESSON) == set()
