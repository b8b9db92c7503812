"""A slip is a patch of the reference; a wrong answer that behaves like one is given its name."""

import sys
import types

import pytest
import torch

from autograder import lessons
from autograder.checks.draw import args
from autograder.checks.marking import mark
from autograder.checks.question import Case, Exercise, Lesson
from autograder.checks.slips import Slip, SlipError, patched, run_source, source_of, span
from solutions.multi_head import MultiHeadAttention, split_heads
from solutions.warm_up import one_hot_rows, softmax, weighted_average

SLIPS = {  # of two lessons; `make test` runs the verify command over all of them
    f"{name}.{exercise.name}: {slip.name}": (name, exercise, slip)
    for name in ("warm_up", "multi_head")
    for exercise in lessons.load(name).exercises
    for slip in exercise.slips
}
TEXT = '''
def twice_plus_one(x):
    """Double and add one."""
    doubled = 2 * x
    return doubled + 1


def other(x):
    return 2 * x
'''


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A module with one small reference, and a lesson over it with two slips."""
    path = tmp_path / "made_reference.py"
    path.write_text(TEXT)
    module = types.ModuleType("made_reference")
    module.__file__ = str(path)
    exec(compile(TEXT, str(path), "exec"), vars(module))
    monkeypatch.setitem(sys.modules, "made_reference", module)
    f = module.twice_plus_one
    slips = [
        Slip("not doubled", f, "2 * x", "1 * x", "Double it."),
        Slip("nothing added", f, "doubled + 1", "doubled", "Add one."),
    ]
    case = Case("values", "a few", lambda d: args(d.normal(4)))
    return Lesson("made", [Exercise(f, {"values": 10}, [case], slips)])


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_loses_points_and_is_named_and_tells_why(name):
    lesson, exercise, slip = SLIPS[name]
    result = mark(lessons.load(lesson), exercise.name, dict(patched(slip)))
    assert result.score < result.points
    assert (result.slips, result.reasons) == ([slip.name], [slip.text])


def test_a_slip_is_written_as_a_sentence_and_has_a_name_of_its_own():
    for lesson, exercise, slip in SLIPS.values():
        assert slip.text.rstrip().endswith((".", "?", ".)")), (lesson, slip.name)
        assert [s.name for s in exercise.slips].count(slip.name) == 1


def test_two_slips_at_once_are_told_as_two(made):
    both = patched(*made.exercises[0].slips)
    result = mark(made, "twice_plus_one", dict(both))
    assert result.slips == ["not doubled", "nothing added"]


def test_an_answer_that_is_no_known_slip_gets_no_name(made):
    result = mark(made, "twice_plus_one", {"twice_plus_one": lambda x: 2 * x + 3})
    assert result.slips == [] and result.score == 0


def test_an_exception_is_no_evidence_for_a_slip(made):
    def raises(x):
        raise TypeError("not thought of")

    f = made.exercises[0].reference
    slip = Slip("raises", f, "return doubled + 1", "raise TypeError('a slip')", "It raises.")
    lesson = Lesson("made", [Exercise(f, {"values": 10}, made.exercises[0].cases, [slip])])
    assert mark(lesson, "twice_plus_one", {"twice_plus_one": raises}).slips == []


def test_a_patch_leaves_the_reference_as_it_is():
    slip = lessons.load("warm_up")["softmax"].slips[0]
    changed = patched(slip)["softmax"]
    x = torch.tensor([[1000.0, 0.0]])
    assert changed(x, -1).isnan().any() and not softmax(x, -1).isnan().any()
    assert changed is not softmax


def test_a_patch_reaches_only_the_lines_of_its_object(made):
    slip = made.exercises[0].slips[0]
    assert patched(slip)["other"](3) == 6 and patched(slip)["twice_plus_one"](3) == 4


@pytest.mark.parametrize(
    "old, new, why",
    [
        ("3 * x", "x", "stands 0 times"),
        ("doubled", "x", "stands 2 times"),
        ("doubled + 1", "doubled\n", "changes the number of lines"),
    ],
)
def test_a_patch_that_does_not_fit_is_refused_with_the_reason(made, old, new, why):
    with pytest.raises(SlipError, match=why):
        patched(Slip("a slip", made.exercises[0].reference, old, new, ""))


def test_the_lines_of_a_method_are_found_by_its_name():
    source = source_of(sys.modules["solutions.multi_head"])
    start, end = span(source, MultiHeadAttention.forward.__qualname__)
    lines = source.splitlines()
    assert lines[start].strip().startswith("def forward(")
    assert lines[end - 1].strip() == "return self.out(merge_heads(heads))"


def test_a_module_run_from_its_own_text_computes_the_same():
    for reference in (softmax, weighted_average, one_hot_rows, split_heads):
        module = sys.modules[reference.__module__]
        assert reference.__name__ in run_source(module, source_of(module))
