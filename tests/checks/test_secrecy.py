"""Of a hidden case the kind of difference is told, in words of ours: nothing an answer chose."""

import pytest
import torch

from autograder.checks.compare import difference
from autograder.checks.question import VISIBLE, Case
from autograder.checks.result import Run
from autograder.checks.secrecy import told
from autograder.seam.wire import Died, Other, Raised

CASE = Case("values", "a table", lambda d: ())
EXPECTED = torch.zeros(2, 3)


def hidden(got, seed="a secret seed") -> str:
    run = Run(CASE, (), EXPECTED, got, ("module", "name", seed, 0))
    return told(run, difference(EXPECTED, got))


@pytest.mark.parametrize("name", ["E0_271828", "Exception314159", "print", "__name__", ""])
def test_the_name_of_an_error_is_told_only_if_it_is_one_of_python_s_own(name):
    assert (
        hidden(Raised(name, "0.271828")) == "a table, on hidden numbers: the code raised an error"
    )
    assert hidden(Raised("ValueError", "0.271828")).endswith("the code raised ValueError")


@pytest.mark.parametrize("shape", [(271828,), (2, 314), (0, 271828), (2, 3, 4)])
def test_a_size_that_the_answer_chose_is_not_told(shape):
    found = hidden(torch.empty(shape).expand(shape))
    assert found.endswith("the shape should be (2, 3), yours is another")


@pytest.mark.parametrize("shape", [(3, 2), (3,), (2, 1, 3), ()])
def test_a_shape_made_of_the_asked_for_sizes_is_told(shape):
    assert hidden(torch.zeros(shape)).endswith(f"yours is {shape}")


def test_no_number_type_or_last_word_of_an_answer_is_told():
    for got in (EXPECTED + 0.271828, Other("T0_271828"), [0.271828], Died("0.271828"), "0.271828"):
        assert "271828" not in hidden(got)


def test_of_a_visible_case_all_is_told():
    assert "271828" in hidden(Raised("E0_271828", "why"), VISIBLE)
