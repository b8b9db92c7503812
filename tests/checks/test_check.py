"""The one line of a graded cell, in a notebook and under nbgrader."""

import subprocess
import sys

import pytest
import torch

from autograder.checks.card import MIME, Card, as_text
from autograder.checks.check import SEED, CheckFailed, check
from autograder.checks.marking import mark
from autograder.lessons import load
from solutions import warm_up

LINE = 'check("warm_up.{}", points={})'


def cell(line: str, **own):
    """Run a check as a notebook's cell does: the names it looks up are the cell's own globals."""
    return eval(line, {"check": check, **own})


@pytest.fixture
def graded(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    monkeypatch.setenv(SEED, "a seed")


@pytest.fixture(autouse=True)
def not_graded(monkeypatch):
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)


def flattened(x, dim):
    return x.flatten().softmax(0).reshape(x.shape)


def without_maximum(x, dim):
    return x.exp() / x.exp().sum(dim, keepdim=True)


def test_a_right_answer_returns_nothing_and_says_correct(capsys):
    assert cell(LINE.format("softmax", 30), softmax=warm_up.softmax) is None
    assert capsys.readouterr().out.startswith("softmax: correct\n")


def test_a_wrong_answer_stops_run_all_with_one_sentence_and_no_traceback(capsys):
    with pytest.raises(CheckFailed) as caught:
        cell(LINE.format("softmax", 30), softmax=flattened)
    shown = caught.value._render_traceback_()
    assert shown == ["warm_up.softmax: not yet. The card above says what was found."]
    out, err = capsys.readouterr()
    assert "`dim` is not used" in out and err == ""


def test_graded_it_returns_a_plain_float_and_never_raises(graded, capsys):
    for answer, low, high in (
        (warm_up.softmax, 30, 30),
        (without_maximum, 1, 29),
        (flattened, 0, 15),
    ):
        points = cell(LINE.format("softmax", 30), softmax=answer)
        assert type(points) is float and low <= points <= high
    assert capsys.readouterr().err == ""


def test_a_card_that_cannot_be_drawn_costs_no_points_and_is_told_as_text(
    graded, monkeypatch, capsys
):
    import IPython

    def breaks(*_, **__):
        raise OSError("no room for a picture")

    monkeypatch.setattr(IPython, "get_ipython", lambda: object())
    monkeypatch.setattr("IPython.display.display", breaks)
    assert cell(LINE.format("softmax", 30), softmax=warm_up.softmax) == 30
    assert capsys.readouterr().out.startswith("softmax: correct, 30 of 30 points")


def test_graded_the_points_of_the_cell_are_shared_out(graded):
    full = cell(LINE.format("softmax", 30), softmax=without_maximum)
    assert cell(LINE.format("softmax", 3), softmax=without_maximum) == pytest.approx(full / 10)


def test_graded_cases_are_drawn_from_the_seed(graded, monkeypatch):
    seen: dict[str, list] = {}

    def spy(x, dim):
        seen[seed].append(x)
        return warm_up.softmax(x, dim)

    for seed in ("one", "two"):
        seen[seed] = []
        monkeypatch.setenv(SEED, seed)
        cell(LINE.format("softmax", 30), softmax=spy)
    same = [a.shape == b.shape and torch.equal(a, b) for a, b in zip(*seen.values(), strict=True)]
    visible = len(load("warm_up")["softmax"].cases)
    assert same.count(True) == 2 * visible  # each is called twice, the second time for its gradient
    assert same.count(False) == 3 * 2 * visible


def test_ungraded_only_the_visible_cases_run_whatever_the_environment_holds(monkeypatch):
    monkeypatch.setenv(SEED, "a seed")
    calls = []

    def spy(x, dim):
        calls.append(x)
        return warm_up.softmax(x, dim)

    cell(LINE.format("softmax", 30), softmax=spy)
    assert len(calls) == 2 * len(load("warm_up")["softmax"].cases)


def test_validating_with_nbgrader_is_not_grading(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    with pytest.raises(CheckFailed):
        cell(LINE.format("softmax", 30), softmax=flattened)


@pytest.mark.parametrize(
    "name, sentence",
    [
        ("warm_up.sofmax", "Lesson 'warm_up' has no 'sofmax'. Did you mean 'softmax'?"),
        ("warmup.softmax", "There is no lesson 'warmup'. Did you mean 'warm_up'?"),
        ("warm_up", "Lesson 'warm_up' has no ''."),
        ("", "There is no lesson ''."),
    ],
)
def test_a_name_that_is_not_there_gets_a_sentence_with_the_nearest(name, sentence):
    with pytest.raises(CheckFailed) as caught:
        cell(f"check({name!r}, points=1)")
    assert str(caught.value).startswith(sentence)


def test_graded_a_name_that_is_not_there_is_worth_nothing(graded, capsys):
    assert cell('check("warm_up.sofmax", points=30)') == 0.0
    assert "Did you mean 'softmax'?" in capsys.readouterr().out


@pytest.mark.parametrize(
    "own, sentence",
    [
        ({}, "`softmax` is not there yet"),
        ({"softmax": None}, "`softmax` is not there yet"),
        ({"softmax": torch.nn.Softmax}, "should be a function, yours is a class"),
        ({"softmax": 3}, "should be a function, yours is a int"),
    ],
)
def test_an_answer_of_the_wrong_kind_gets_a_sentence(own, sentence, capsys):
    with pytest.raises(CheckFailed):
        cell(LINE.format("softmax", 30), **own)
    assert sentence in capsys.readouterr().out


def test_an_unwritten_body_is_told_apart_from_a_wrong_one(capsys):
    def softmax(x, dim):
        raise NotImplementedError

    with pytest.raises(CheckFailed):
        cell(LINE.format("softmax", 30), softmax=softmax)
    assert "the code raised NotImplementedError" in capsys.readouterr().out


def test_a_card_has_text_a_picture_and_data_without_tensors():
    import json

    result = mark(load("warm_up"), "softmax", {"softmax": flattened})
    bundle = Card(result, graded=True)._repr_mimebundle_()
    assert bundle["text/html"].count("<table") == 2
    assert bundle["text/plain"] == as_text(result, graded=True)
    data = json.loads(json.dumps(bundle[MIME]))
    assert data["slips"] == ["flattened"] and data["score"] == result.score


def test_a_card_escapes_what_the_learner_wrote():
    def softmax(x, dim):
        raise ValueError("<script>alert(1)</script>")

    result = mark(load("warm_up"), "softmax", {"softmax": softmax})
    shown = Card(result, graded=False)._repr_mimebundle_()["text/html"]
    assert "<script>" not in shown and "&lt;script&gt;" in shown


def test_importing_and_checking_needs_nothing_that_a_learners_machine_lacks():
    """In a fresh process: neither nbgrader nor the book's tools are imported."""
    program = (
        "import sys, torch\n"
        "from autograder import check\n"
        "def one_hot_rows(ids, n): return torch.eye(n)[ids]\n"
        "check('warm_up.one_hot_rows', points=15)\n"
        "heavy = ('nbgrader', 'sphinx', 'myst_nb', 'nbformat', 'yaml', 'matplotlib', 'IPython')\n"
        "print(sorted(set(heavy) & {name.split('.')[0] for name in sys.modules}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
    assert done.stderr == ""
