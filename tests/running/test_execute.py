"""Cells run in a forked child: what breaks there costs its own exercise only."""

import copy

import pytest
from submissions import cell, code, honest, place, points, released

from autograder.course.repair import repair
from autograder.seam.shell import CUT, MAX_TEXT, Recorder

HONEST, RELEASED = honest(), released()
END_PROCESS = "import os\nos._exit(3)"
WAIT = "import time\nstart = time.monotonic()\nwhile time.monotonic() - start < 20:\n    pass"


@pytest.fixture
def work() -> dict:
    return copy.deepcopy(HONEST)


def test_a_cell_that_ends_the_process_costs_its_own_exercise_only(work, monkeypatch):
    target = cell(work, "weighted_average")
    target["source"] = END_PROCESS
    made, _ = repair(work, RELEASED)
    assert points(made, monkeypatch) == {
        **{"softmax": 30, "weighted_average": 0, "one_hot_rows": 15, "which_line": 10},
        **{"what_moves": 15},
    }


def test_an_answer_that_never_ends_costs_its_own_exercise_only(work, monkeypatch):
    target = cell(work, "softmax")
    body = "\n".join("    " + line for line in WAIT.splitlines())
    target["source"] = f"def softmax(x, dim):\n{body}\n    return x"
    made, _ = repair(work, RELEASED)
    assert points(made, monkeypatch, timeout=2) == {
        **{"softmax": 0, "weighted_average": 20, "one_hot_rows": 15, "which_line": 10},
        **{"what_moves": 15},
    }


def test_when_the_whole_time_is_used_up_the_rest_gets_no_points(work, monkeypatch):
    work["cells"].insert(place(work, "one_hot_rows"), code(WAIT))
    made, _ = repair(work, RELEASED)
    earned = points(made, monkeypatch, timeout=10, total=4)
    assert (earned["softmax"], earned["one_hot_rows"]) == (30, 0)


@pytest.mark.parametrize(
    "before",
    [
        "import warnings\nwarnings.warn('careful')",
        "import sys\nprint('x' * 3_000_000)\nprint('y', file=sys.stderr)",
        "%matplotlib inline\n!echo hello\n%time 1 + 1",
        "import torch\ntorch.set_default_dtype(torch.float64)\ntorch.set_grad_enabled(False)",
        "raise SystemExit(1)",
        "def broken(:",
    ],
)
def test_noise_in_other_cells_costs_nothing(work, monkeypatch, before):
    work["cells"].insert(3, code(before))
    made, _ = repair(work, RELEASED)
    assert sum(points(made, monkeypatch).values()) == 90


def test_a_warning_while_a_check_runs_costs_nothing(work, monkeypatch):
    noisy = (
        "import autograder, sys\nright = autograder.check\n"
        "autograder.check = lambda n, points: print('!', file=sys.stderr) or right(n, points)"
    )
    work["cells"].insert(3, code(noisy))
    made, _ = repair(work, RELEASED)
    assert sum(points(made, monkeypatch).values()) == 90


@pytest.mark.parametrize("value", ["'full marks'", "1000.0", "float('nan')", "None", "-1.0"])
def test_a_check_that_shows_no_plain_score_gives_nothing(work, monkeypatch, value):
    forged = f"import autograder\nautograder.check = lambda name, points: {value}"
    work["cells"].insert(3, code(forged))
    made, _ = repair(work, RELEASED)
    assert sum(points(made, monkeypatch).values()) == 0


def test_the_notebook_runs_in_a_folder_of_its_own(work, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    work["cells"].append(code("from pathlib import Path\nPath('left_behind.txt').write_text('x')"))
    made, _ = repair(work, RELEASED)
    points(made, monkeypatch)
    assert list(tmp_path.iterdir()) == []


def test_a_flood_of_output_is_cut_off_and_says_so():
    recorder = Recorder()
    for _ in range(50):
        recorder.write("stdout", "x" * 10_000)
    (stream,) = recorder.outputs
    assert len(stream["text"]) == MAX_TEXT + len(CUT)
    assert stream["text"].endswith(CUT)
