"""A notebook that trains asks Colab for a GPU, and goes on asking wherever the notebook goes."""

import json
import subprocess
import sys

import nbformat
import pytest

from autograder.course.course import init
from autograder.course.repair import repair
from autograder.course.sample import stripped
from autograder.release.gpu_runtime import trains
from autograder.release.notebooks import author, release
from autograder.release.pieces import practice
from autograder.repository import EXERCISES, order

ASKED = {"accelerator": "GPU", "colab": {"gpuType": "T4", "provenance": []}}
TRAINING, OTHER = "vit", "warm_up"


def asked(notebook) -> dict:
    return {k: v for k, v in dict(notebook.metadata).items() if k in ASKED}


@pytest.mark.parametrize("lesson", order())
def test_the_committed_notebook_asks_for_a_gpu_exactly_if_its_cells_pick_a_device(lesson):
    text = (EXERCISES / f"{lesson}.md").read_text(encoding="utf-8")
    notebook = nbformat.read(EXERCISES / f"{lesson}.ipynb", as_version=4)
    assert asked(notebook) == (ASKED if "pick_device()" in text else {})
    setup = next(c.source for c in notebook.cells if c.id == f"{lesson}-setup")
    assert ("trains=True" in setup) == ("pick_device()" in text)


def test_the_lessons_that_end_in_a_training_are_among_them():
    assert {"gpt", "vit"} <= {lesson for lesson in order() if asked(author(lesson))}


@pytest.mark.parametrize(
    "source, expected",
    [
        ("device = pick_device()", True),
        ("%matplotlib inline\nmodel.to(pick_device())", True),
        ("from solutions.train import pick_device", False),
        ("# pick_device() chooses", False),
    ],
)
def test_a_cell_trains_if_it_calls_for_a_device(source, expected):
    assert trains([nbformat.v4.new_code_cell(source)]) is expected
    assert not trains([nbformat.v4.new_markdown_cell(source)])


def test_a_lessons_page_says_how_to_change_the_runtime_exactly_if_its_notebook_trains():
    assert "Runtime → Change runtime type" in practice(TRAINING).text
    assert "Runtime" not in practice(OTHER).text


def test_release_and_repair_keep_the_request_even_if_colab_lost_it():
    released = release(author(TRAINING))
    assert asked(released) == ASKED
    lost = json.loads(nbformat.writes(stripped(TRAINING)))
    lost["metadata"]["colab"] = {"gpuType": "L4"}
    mended, _ = repair(lost, released)
    assert asked(mended) == ASKED


def test_no_gpu_is_asked_for_where_nothing_trains():
    released = release(author(OTHER))
    chosen = json.loads(nbformat.writes(released))
    chosen["metadata"] |= ASKED  # the learner had chosen one
    assert asked(released) == {} and asked(repair(chosen, released)[0]) == {}


def test_nbgrader_keeps_the_request_in_the_notebooks_it_hands_out(tmp_path):
    course = init(tmp_path / "course", [TRAINING])
    made = [sys.executable, "-m", "nbgrader", "generate_assignment", TRAINING]
    done = subprocess.run(made, cwd=course.root, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    path = course.root / "release" / TRAINING / f"{TRAINING}.ipynb"
    assert asked(nbformat.read(path, as_version=4)) == ASKED
