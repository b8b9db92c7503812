"""Without a wall what breaks costs its own exercise only, and the checks stay on our side."""

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


def test_a_cell_that_ends_the_process_costs_its_own_exercise_only(work):
    target = cell(work, "weighted_average")
    target["source"] = END_PROCESS
    made, _ = repair(work, RELEASED)
    assert points(made) == {
        **{"softmax": 30, "weighted_average": 0, "one_hot_rows": 15, "which_line": 10},
        **{"what_moves": 15},
    }


def test_an_answer_that_never_ends_costs_its_own_exercise_only(work):
    target = cell(work, "softmax")
    body = "\n".join("    " + line for line in WAIT.splitlines())
    target["source"] = f"def softmax(x, dim):\n{body}\n    return x"
    made, _ = repair(work, RELEASED)
    assert points(made, timeout=2) == {
        **{"softmax": 0, "weighted_average": 20, "one_hot_rows": 15, "which_line": 10},
        **{"what_moves": 15},
    }


def test_when_the_whole_time_is_used_up_the_rest_gets_no_points(work):
    work["cells"].insert(place(work, "one_hot_rows"), code(WAIT))
    made, _ = repair(work, RELEASED)
    earned = points(made, timeout=10, total=4)
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
def test_noise_in_other_cells_costs_nothing(work, before):
    work["cells"].insert(3, code(before))
    made, _ = repair(work, RELEASED)
    assert sum(points(made).values()) == 90


def test_a_warning_while_a_check_runs_costs_nothing(work):
    noisy = (
        "import autograder, sys\nright = autograder.check\n"
        "autograder.check = lambda n, points: print('!', file=sys.stderr) or right(n, points)"
    )
    work["cells"].insert(3, code(noisy))
    made, _ = repair(work, RELEASED)
    assert sum(points(made).values()) == 90


@pytest.mark.parametrize("value", ["'full marks'", "1000.0", "float('nan')", "None", "-1.0"])
def test_a_check_of_the_learner_s_own_decides_nothing(work, value):
    forged = f"import autograder\nautograder.check = lambda name, points: {value}"
    work["cells"].insert(3, code(forged))
    cell(work, "softmax")["source"] = "softmax = None"
    made, _ = repair(work, RELEASED)
    assert points(made) == {
        **{"softmax": 0, "weighted_average": 20, "one_hot_rows": 15, "which_line": 10},
        **{"what_moves": 15},
    }


def test_neither_the_seed_nor_a_check_is_where_the_learner_s_code_runs(work, monkeypatch, tmp_path):
    found = tmp_path / "found.txt"
    work["cells"].insert(
        3,
        code(
            "import os, sys, pathlib\n"
            "seen = [k for k in os.environ if 'SEED' in k]\n"
            "seen += [n for n in sys.modules if 'lessons' in n]\n"
            f"pathlib.Path({str(found)!r}).write_text(repr(seen))"
        ),
    )
    made, _ = repair(work, RELEASED)
    assert sum(points(made).values()) == 90
    assert found.read_text() == "[]"


def test_the_notebook_runs_in_a_folder_of_its_own(work, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    work["cells"].append(code("from pathlib import Path\nPath('left_behind.txt').write_text('x')"))
    made, _ = repair(work, RELEASED)
    points(made)
    assert list(tmp_path.iterdir()) == []


def test_a_flood_of_output_is_cut_off_and_says_so():
    recorder = Recorder()
    for _ in range(50):
        recorder.write("stdout", "x" * 10_000)
    (stream,) = recorder.outputs
    assert len(stream["text"]) == MAX_TEXT + len(CUT)
    assert stream["text"].endswith(CUT)
