"""A probe sees what the code does, and nothing the code changed around itself."""

import ast
import builtins
import dis
import inspect
import math
import sys
import types
import warnings

import pytest
import torch

from autograder import lessons
from autograder.checks.question import Case, Conclusion, Exercise
from autograder.repository import ROOT
from autograder.seam.probe import call, module, observe, push, value
from autograder.seam.wire import Other, Raised


def probes() -> dict:
    found = {"call": call, "module": module, "value": value}
    for lesson in map(lessons.load, lessons.names()):
        for question in lesson.questions:
            used = [c.probe for c in question.cases] if isinstance(question, Exercise) else []
            used += [question.probe] if isinstance(question, Conclusion) else []
            found |= {f"{lesson.name}.{probe.__name__}": probe for probe in used}
    return found


def foreign_names(code: types.CodeType) -> set[str]:
    """Return the global names that a function, or one inside it, reads."""
    names = {
        i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return names.union(*map(foreign_names, inner))


@pytest.mark.parametrize("name", probes())
def test_a_probe_has_no_globals_and_no_closure(name):
    probe = probes()[name]
    assert inspect.isfunction(probe) and probe.__closure__ is None
    assert not probe.__code__.co_freevars
    defaults = [*(probe.__defaults__ or ()), *(probe.__kwdefaults__ or {}).values()]
    assert all(type(d) in (type(None), bool, int, float, str) for d in defaults)
    assert foreign_names(probe.__code__) <= set(vars(builtins))


@pytest.mark.parametrize("name", probes())
def test_the_text_of_a_probe_runs_by_itself(name):
    """What is sent to the other side of the wall is this text."""
    probe = probes()[name]
    names: dict = {}
    exec(inspect.getsource(probe), names)
    assert inspect.isfunction(names[probe.__name__])


def test_a_probe_with_a_global_or_a_closure_would_be_noticed():
    def outer():
        return [math.pi for _ in range(3)]

    assert "math" in foreign_names(outer.__code__)
    assert (lambda: probes).__closure__ is None and "probes" in foreign_names(
        (lambda: probes).__code__
    )


def plus_one(x):
    return x + 1


def observed(function, *args, **kwargs):
    return observe({"f": function}, call, ("f", args, kwargs))


def test_inputs_are_copied_so_that_code_cannot_change_the_checks():
    x = torch.zeros(3)
    seen = observed(lambda x: x.add_(1), x)
    assert torch.equal(x, torch.zeros(3))
    assert torch.equal(seen["inputs"][0], torch.ones(3))


def test_a_probe_that_copies_nothing_cannot_change_the_checks_either():
    def overwrite(own, x, numbers):
        numbers.append(x.add_(1).sum().item())
        return numbers

    x, numbers = torch.zeros(3), [1.0]
    assert observe({}, overwrite, (x, numbers)) == [1.0, 3.0]
    assert torch.equal(x, torch.zeros(3)) and numbers == [1.0]


def test_a_changed_keyword_argument_is_seen_too():
    seen = observed(
        lambda x, mask: x.masked_fill(mask.logical_not_(), 0),
        torch.ones(2),
        mask=torch.ones(2).bool(),
    )
    assert seen["inputs"][1].tolist() == [False, False]


def test_a_boolean_argument_stays_boolean_when_the_gradient_is_asked_for():
    seen = observed(
        lambda x, mask: x.masked_fill(~mask, 0.0), torch.ones(2), torch.tensor([True, False])
    )
    assert seen["gradients"][0].tolist() == [1.0, 0.0]


def test_a_transposed_argument_arrives_transposed():
    strides = observed(lambda x: list(x.stride()), torch.zeros(3, 4).T)["result"]
    assert strides == [1, 4]


def test_result_inputs_and_gradients_are_seen():
    seen = observed(lambda x: 3 * x, torch.ones(2))
    assert seen["result"].tolist() == [3, 3]
    assert seen["gradients"][0].tolist() == pytest.approx([3 * math.cos(0), 3 * math.cos(1)])


def test_prints_warnings_and_standard_error_are_kept_out(capfd):
    def noisy(x):
        print("hello")
        print("trouble", file=sys.stderr)
        warnings.warn("look out", stacklevel=1)
        return x + 1

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        seen = observed(noisy, torch.zeros(1))
    assert seen["result"].tolist() == [1]
    assert capfd.readouterr() == ("", "") and not heard


def test_warnings_made_errors_by_the_learner_do_not_matter():
    def warned(x):
        warnings.warn("harmless", stacklevel=1)
        return x + 1

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert observed(warned, torch.zeros(1))["result"].tolist() == [1]


def test_a_changed_default_dtype_or_gradient_mode_does_not_matter_and_is_put_back():
    x = torch.ones(2)
    torch.set_default_dtype(torch.float64)
    torch.set_grad_enabled(False)
    try:
        seen = observed(lambda x: x * torch.ones(2), x)
        assert torch.get_default_dtype() == torch.float64 and not torch.is_grad_enabled()
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_grad_enabled(True)
    assert seen["result"].dtype == torch.float32 and seen["gradients"][0] is not None


def test_a_changed_default_device_does_not_matter_and_is_put_back():
    x = torch.ones(2)
    torch.set_default_device("meta")
    try:
        seen = observed(lambda x: x + torch.ones(2), x)
        assert torch.empty(1).device.type == "meta"
    finally:
        torch.set_default_device(None)
    assert seen["result"].tolist() == [2.0, 2.0]


def test_code_that_changes_the_state_while_it_runs_leaves_it_as_it_was():
    def rude(x):
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)
        sys.stdout = None
        return x

    before = sys.stdout
    observed(rude, torch.ones(1))
    assert torch.get_default_dtype() == torch.float32
    assert torch.is_grad_enabled() and sys.stdout is before


class Unreadable(Exception):
    def __str__(self):
        raise RuntimeError("no text")


def fails(error):
    def function(x):
        raise error

    return function


@pytest.mark.parametrize(
    "error",
    [ValueError("no"), NotImplementedError(), SystemExit(3), Unreadable(), RecursionError()],
)
def test_what_the_code_raises_is_told_and_not_raised(error):
    seen = observed(fails(error), torch.ones(1))
    assert isinstance(seen, Raised) and seen.type_name == type(error).__name__


def test_an_interrupt_by_the_user_gets_through():
    with pytest.raises(KeyboardInterrupt):
        observed(fails(KeyboardInterrupt()), torch.ones(1))


def test_a_name_that_is_missing_is_told():
    assert observe({}, value, ("answer",)).type_name == "AttributeError"


def test_what_is_not_plain_arrives_as_its_type():
    assert observed(lambda x: x.numpy(), torch.ones(1))["result"] == Other("numpy.ndarray")
    assert observed(lambda x: 10**6000, torch.ones(1))["result"] == 10**6000


class Double(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.w = torch.nn.Parameter(torch.zeros(n))

    def forward(self, x, mask=None):
        return x * self.w


def test_a_module_is_built_loaded_and_run_in_evaluation_mode():
    class Spy(Double):
        def forward(self, x, mask=None):
            assert not self.training
            return super().forward(x)

    inputs = ("Spy", {"n": 2}, {"w": torch.tensor([2.0, 3.0])}, (torch.ones(2),))
    seen = observe({"Spy": Spy}, module, inputs)
    assert seen["result"].tolist() == [2.0, 3.0]
    assert set(seen["parameter gradients"]) == {"w"} and len(seen["gradients"]) == 1


def test_a_module_with_other_parameters_says_which_it_has():
    inputs = ("Double", {"n": 3}, {"w": torch.ones(2)}, (torch.ones(2),))
    assert observe({"Double": Double}, module, inputs) == {"parameters": {"w": (3,)}}


def test_the_same_seed_draws_the_same_inputs_and_another_seed_others():
    case = Case("values", "about", lambda d: (d.normal(3), d.sizes(2)))
    one, again, other = (case.inputs("f", seed, 0) for seed in ("s", "s", "t"))
    assert torch.equal(one[1], again[1]) and one[2] == again[2]
    assert not torch.equal(one[1], other[1])


def pushes(text: str) -> list[int]:
    """Return the lines on which a cosine of a range is taken."""
    calls = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call)]
    cosines = [c for c in calls if getattr(c.func, "attr", "") == "cos"]
    return [c.lineno for c in cosines if "arange(" in ast.unparse(c)]


def test_what_a_gradient_is_pushed_with_is_written_once():
    copies = {
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / "autograder").rglob("*.py"))
        for line in pushes(path.read_text(encoding="utf-8"))
    }
    here = inspect.getsourcelines(push)
    assert len(copies) == 1, sorted(copies)
    (only,) = copies
    where, line = only.split(":")
    assert where == "autograder/seam/probe.py"
    assert here[1] <= int(line) < here[1] + len(here[0])
