"""The proof itself is proved: what should fall short does, and mutants are what they say."""

import json
import sys
import types

import nbformat
import pytest
import torch

from autograder import lessons
from autograder.checks.draw import args
from autograder.checks.question import Case, Exercise, Lesson
from autograder.checks.slips import Slip, run_source
from autograder.proof import trials, verify
from autograder.proof.empty_notebook import notebook_scores
from autograder.proof.mutants import Mutant, mutants, survives, variants
from autograder.proof.trials import written_bodies
from autograder.proof.verify import main

TEXT = '''
def shift(x, by=1):
    """Add, where asked."""
    if by is not None and by > 0:
        x = x + by
    return x[..., :2].sum(-1, keepdim=True) * 1.0
'''


@pytest.fixture
def reference(tmp_path, monkeypatch):
    path = tmp_path / "made_reference.py"
    path.write_text(TEXT)
    module = types.ModuleType("made_reference")
    module.__file__ = str(path)
    exec(compile(TEXT, str(path), "exec"), vars(module))
    monkeypatch.setitem(sys.modules, "made_reference", module)
    return module


def lesson_with(reference, *, cases=(), slips=(), equivalent=None):
    first = Case("values", "a table", lambda d: args(d.normal(3, 4), by=2))
    made = Exercise(
        *(reference.shift, {"values": 10}, [first, *cases], list(slips), equivalent or {})
    )
    return Lesson("made", [made])


def shortfalls(lesson, monkeypatch, tmp_path, alternatives="def shift__again(x, by=1): pass"):
    (tmp_path / "made.py").write_text(alternatives)
    monkeypatch.setattr(trials, "ALTERNATIVES", tmp_path)
    return verify.verify(lesson, n_seeds=1).shortfalls


def test_the_totals_of_a_lesson_that_falls_short_in_nothing(capsys):
    """One lesson with one grading seed; `make test` runs the command over all of them."""
    assert main(["warm_up", "--seeds", "1", "--json"]) == 0
    totals = json.loads(capsys.readouterr().out)
    wanted = "lessons exercises points cases slips slips_rejected slips_named alternatives"
    assert set(totals) >= {*wanted.split(), "alternatives_accepted"}
    assert totals["slips"] == totals["slips_rejected"] == totals["slips_named"] > 0
    assert totals["alternatives"] == totals["alternatives_accepted"] > 0
    assert totals["mutants"] == totals["mutants_killed"] + totals["mutants_equivalent"] > 0
    assert totals["lessons"] == 1


def test_an_unknown_lesson_gets_a_sentence(capsys):
    assert main(["warmup"]) == 2
    assert "there is no lesson 'warmup'. Did you mean 'warm_up'?" in capsys.readouterr().out


def test_a_slip_that_passes_is_a_shortfall(reference, monkeypatch, tmp_path):
    slip = Slip("no shift without a number", reference.shift, "by is not None and by", "by", "Why.")
    found = shortfalls(lesson_with(reference, slips=[slip]), monkeypatch, tmp_path)
    assert "made.shift: slip 'no shift without a number' gets full marks: add a case" in found
    assert any("too alike in every case" in text for text in found)


def test_two_slips_that_do_the_same_are_a_shortfall(reference, monkeypatch, tmp_path):
    twins = [
        Slip("not added", reference.shift, "x = x + by", "x = x", "Add."),
        Slip("zero added", reference.shift, "x = x + by", "x = x + 0 * by", "Add by."),
    ]
    found = shortfalls(lesson_with(reference, slips=twins), monkeypatch, tmp_path)
    assert "made.shift: slip 'zero added' is taken for ['not added']" in found
    assert "made.shift: 'not added' and 'zero added' are too alike in every case" in found


def test_a_slip_that_no_longer_fits_is_a_shortfall(reference, monkeypatch, tmp_path):
    slip = Slip("old", reference.shift, "x - by", "x", "Why.")
    found = shortfalls(lesson_with(reference, slips=[slip]), monkeypatch, tmp_path)
    assert any("slip 'old' cannot be made" in text for text in found)


def test_a_right_solution_that_loses_points_is_a_shortfall(reference, monkeypatch, tmp_path):
    found = shortfalls(lesson_with(reference), monkeypatch, tmp_path)
    assert any("the right answer shift__again loses 'values'" in text for text in found)


def test_an_exercise_without_another_right_solution_is_a_shortfall(
    reference, monkeypatch, tmp_path
):
    found = shortfalls(lesson_with(reference), monkeypatch, tmp_path, alternatives="")
    assert any("no other right solution" in text for text in found)


def test_a_mutant_that_no_case_notices_is_a_shortfall_until_it_is_explained(
    reference, monkeypatch, tmp_path
):
    text = "shift: by is not None and by > 0 -> by > 0"
    found = shortfalls(lesson_with(reference), monkeypatch, tmp_path)
    assert f"made.shift: no case notices the mutant {text}" in found
    lesson = lesson_with(reference, equivalent={text: "no case passes None"})
    found = shortfalls(lesson, monkeypatch, tmp_path)
    assert not any(line.endswith(text) for line in found)


def test_an_explained_mutant_that_is_not_there_is_a_shortfall(reference, monkeypatch, tmp_path):
    lesson = lesson_with(reference, equivalent={"shift: a -> b": "stale"})
    found = shortfalls(lesson, monkeypatch, tmp_path)
    assert "made.shift: `equivalent` names a mutant that is not there: shift: a -> b" in found


def test_a_case_in_which_the_reference_raises_is_a_shortfall(reference, monkeypatch, tmp_path):
    dead = Case("values", "two tables", lambda d: args(d.normal(2, 3), d.normal(2, 3), 1))
    found = shortfalls(lesson_with(reference, cases=[dead]), monkeypatch, tmp_path)
    told = "made.shift: the reference itself raises in 'two tables': TypeError: "
    assert any(text.startswith(told) for text in found)


def test_nothing_long_is_tried_while_something_is_dead(monkeypatch, capsys):
    dead = "exercises/warm_up.md: the points sum to 99, not to 100."
    monkeypatch.setattr(verify, "first_look", lambda lesson: [dead])
    monkeypatch.setattr(verify, "verify_all", lambda *_: pytest.fail("tried all the same"))
    assert main(["warm_up"]) == 1
    assert capsys.readouterr().out.startswith(f"falls short: {dead}\n")


def test_a_lesson_without_an_exercise_file_is_a_shortfall(reference, monkeypatch, tmp_path):
    found = shortfalls(lesson_with(reference), monkeypatch, tmp_path)
    assert "made.notebook: there is no exercises/made.md to release" in found


def test_the_words_for_a_mutant_are_the_same_on_every_run_and_each_its_own(reference):
    once, again = ([m.description for m in mutants(reference, "shift")] for _ in range(2))
    assert once == again and len(once) == len(set(once)) > 15


@pytest.mark.parametrize(
    "change",
    [
        "x + by -> x - by",
        "x + by -> by",
        "by > 0 -> by >= 0",
        "by > 0 -> by < 0",
        "by > 0 -> by > 1",
        "by is not None -> by is None",
        "by is not None and by > 0 -> by is not None or by > 0",
        "x[..., :2].sum(-1, keepdim=True) -> x[..., :2].sum(-1, keepdim=False)",
        "x[..., :2].sum(-1, keepdim=True) -> x[..., :2].sum(0, keepdim=True)",
        "x[..., :2].sum(-1, keepdim=True) -> x[..., :2].sum(-2, keepdim=True)",
        "x[..., :2].sum(-1, keepdim=True) -> x[..., :2]",
        "x[..., :2] -> x[..., :]",
        "x[..., :2] -> x[..., :3]",
        "x = x + by -> pass",
    ],
)
def test_a_mutant_of_every_kind_is_made(reference, change):
    assert f"shift: {change}" in [m.description for m in mutants(reference, "shift")]


def test_every_mutant_differs_from_the_reference_and_leaves_the_other_mutants_alone(reference):
    import ast

    original = ast.unparse(ast.parse(TEXT))
    sources = [m.source for m in mutants(reference, "shift")]
    assert original not in sources
    for source in sources:
        compile(source, "mutant", "exec")
    assert torch.equal(
        run_source(reference, TEXT)["shift"](torch.ones(1, 2)), torch.full((1, 1), 4.0)
    )


def test_a_mutant_of_a_given_constructor_is_not_made():
    exercise = lessons.load("multi_head")["MultiHeadAttention"]
    assert written_bodies("multi_head", exercise) == ["MultiHeadAttention.forward"]
    made = mutants(exercise.module, "MultiHeadAttention.forward")
    assert all(m.description.startswith("MultiHeadAttention.forward: ") for m in made)


def test_a_mutant_that_never_ends_is_stopped_and_counts_as_noticed(reference, monkeypatch):
    monkeypatch.setattr("autograder.proof.mutants.SECONDS", 0.2)
    endless = Mutant("endless", TEXT.replace("x = x + by", "while by > 0: x = x + 0"))
    assert not survives(lesson_with(reference).exercises[0], endless, "seed")


def test_the_reference_itself_would_survive(reference):
    assert survives(lesson_with(reference).exercises[0], Mutant("none", TEXT), "seed")


def test_what_may_stand_in_a_node_s_place_never_includes_the_node():
    import ast

    for text in (
        "a + b",
        "a @ b",
        "-3",
        "not a",
        "f(a, b)",
        "a.t(0, 1)",
        "a[1:2]",
        "a < b",
        "True",
    ):
        node = ast.parse(text, mode="eval").body
        made = [ast.unparse(v) for v in variants(node)]
        assert text not in made and (made or text == "a[1:2]")


def notebook(*sources: str, points: int = 30):
    cells = [nbformat.v4.new_code_cell(s, id=f"warm_up-{i}") for i, s in enumerate(sources)]
    check = nbformat.v4.new_code_cell(
        f'from autograder import check\ncheck("warm_up.softmax", points={points})'
    )
    check.metadata["nbgrader"] = {
        **{"grade": True, "locked": True, "solution": False, "points": points},
        "grade_id": "warm_up-softmax-check",
    }
    return nbformat.v4.new_notebook(cells=[*cells, check])


def test_a_notebook_is_run_for_real_and_its_checks_give_points(capsys):
    right = "import torch\ndef softmax(x, dim):\n    return x.softmax(dim)"
    assert notebook_scores(notebook("%pwd", "1 / 0", right)) == {"softmax": 30.0}
    assert notebook_scores(notebook("def softmax(x, dim):\n    pass")) == {"softmax": 0.0}
    assert capsys.readouterr().out == ""
