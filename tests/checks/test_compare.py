"""Two observations are compared in a fixed order, and the first difference is one sentence."""

import math

import pytest
import torch

from autograder.checks.compare import FLOOR, TOLERANCE, difference
from autograder.seam.wire import Died, Other, Raised

X = torch.tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])


def text(expected, got) -> str:
    return difference(expected, got).text


def test_equal_observations_have_no_difference():
    seen = {
        "result": X,
        "inputs": [X],
        "gradients": [X, None],
        "n": 3,
        "name": "a",
        "pair": (1.5, b""),
    }
    assert difference(seen, seen) is None


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_rounding_passes_and_ten_times_the_tolerance_does_not(dtype):
    x = X.to(dtype)
    tolerance = TOLERANCE[dtype]
    assert difference(x.double(), x.double() * (1 + 1e-9)) is None
    assert difference(x, (x.double() * (1 + tolerance)).to(dtype)) is None
    assert difference(x, (x.double() * (1 + 10 * tolerance)).to(dtype)) is not None


def test_the_size_of_a_difference_is_in_units_of_the_tolerance():
    found = difference(torch.tensor([1.0]), torch.tensor([1.0 + 200 * 2e-5]))
    assert found.size == pytest.approx(100, rel=1e-2)


def test_type_comes_before_everything():
    assert (
        text(X, Other("numpy.ndarray")) == "the result should be a Tensor, yours is a numpy.ndarray"
    )
    assert text(X, X.tolist()) == "the result should be a Tensor, yours is a list"
    assert "is a `return` missing?" in text(X, None)


def test_shape_comes_before_dtype_and_values():
    found = text(X, X.double().T + 1)
    assert found.startswith("the result should have shape (2, 3), yours has (3, 2)")
    assert "permuted by (1, 0) would fit" in found


def test_a_shape_that_would_broadcast_is_a_difference():
    assert "should have shape (2, 3), yours has (3,)" in text(torch.ones(2, 3), torch.ones(3))


def test_dtype_comes_before_values():
    assert text(X, X.double() + 1) == "the result should be of dtype float32, yours is float64"


def test_non_finite_places_come_before_values():
    got = X + 1
    got[1, 2] = math.nan
    assert text(X, got) == "the result is nan at [1, 2], where -6 was expected"


def test_minus_infinity_is_right_where_it_is_expected_and_only_there():
    masked = torch.tensor([0.0, -math.inf])
    assert difference(masked, masked.clone()) is None
    for other in (math.inf, math.nan, -1e30):
        assert difference(masked, torch.tensor([0.0, other])) is not None


def test_values_are_counted_and_the_first_is_shown():
    got = X.clone()
    got[1, 0], got[1, 1] = 0.0, 0.0
    expected = "in the result 2 of 6 numbers differ; the first at [1, 0]: expected 4, got 0"
    assert text(X, got) == expected


def test_two_numbers_that_differ_are_never_written_alike():
    one = torch.tensor([1.0], dtype=torch.float64)
    found = text(one, one + 1e-7)
    assert "expected 1, got 1.0000001" in found


def test_a_single_number_is_shown_without_a_place():
    assert text(torch.tensor(2.0), torch.tensor(3.0)) == "the result should be 2, yours is 3"


def test_whole_numbers_must_be_equal():
    found = difference(torch.tensor([1, 2]), torch.tensor([1, 3]))
    assert found.size == math.inf and "expected 2, got 3" in found.text


def test_complex_numbers_are_compared_with_a_tolerance():
    z = torch.tensor([1 + 2j])
    assert difference(z, z * (1 + 1e-6)) is None
    assert difference(z, z * (1 + 1e-3)) is not None


def test_a_value_that_poses_as_a_plain_type_is_a_difference_and_no_crash():
    for expected in (X, {"a": 1}, [1], 1.0, "a", True):
        posing = Other(type(expected).__name__)
        assert difference(expected, posing) is not None


def test_what_was_raised_is_told_with_the_line_that_raised_it():
    got = Raised("ValueError", "no", "line 3, in f: g(x)\nline 7, in g: raise ValueError('no')")
    assert text(X, got) == ("the code raised ValueError: no (line 7, in g: raise ValueError('no'))")


def test_where_an_error_is_asked_for_any_error_will_do_but_no_value():
    asked = Raised("ValueError", "n_embd=5 cannot be shared out")
    assert difference(asked, Raised("AssertionError", "")) is None
    assert text(asked, X).startswith("an error was asked for here (ValueError)")


def test_an_answer_that_died_says_how():
    assert text(X, Died("it ran for 10 s")) == "the code did not finish: it ran for 10 s"


def test_a_missing_gradient_says_what_may_cut_it():
    found = text({"gradients": [X]}, {"gradients": [None]})
    assert "no gradient arrives: is there a detach()" in found


def test_a_gradient_that_fails_says_why():
    found = text({"gradients": [X]}, {"gradient error": "modified by an inplace operation"})
    assert found == "the gradient cannot be computed: modified by an inplace operation"


def test_a_changed_argument_is_called_one():
    found = text({"inputs": [X]}, {"inputs": [X + 1]})
    assert "an argument (it was changed by the call)" in found


def test_a_gradient_that_cancels_to_zero_is_measured_against_the_others():
    large, noise = 100 * X, torch.full((3,), 4e-6)
    expected = {"gradients": [X], "parameter gradients": {"w": large, "b": noise}}
    got = {"gradients": [X], "parameter gradients": {"w": large, "b": -noise}}
    assert difference(expected, got) is None
    got["parameter gradients"]["b"] = noise + 1
    assert "the gradient of b" in difference(expected, got).text


def test_where_every_gradient_is_zero_in_theory_rounding_costs_nothing():
    """The gradient of a bias before a softmax, say: noise of any sign and size below 1e-7."""
    noise = torch.tensor([3e-8, -2e-8, 1e-8])
    for key, expected, got in (
        ("gradients", [noise], [-noise]),
        ("parameter gradients", {"b": noise}, {"b": torch.zeros(3)}),
    ):
        assert difference({key: expected}, {key: got}) is None
    assert difference({"gradients": [noise]}, {"gradients": [noise + 1e-3]}) is not None


def test_a_result_is_measured_against_itself_only():
    expected = {"result": torch.full((3,), 1e-4), "other": 100 * X}
    assert difference(expected, {**expected, "result": torch.full((3,), 2e-4)}) is not None


def test_numbers_far_below_the_floor_are_zero():
    assert difference(0.0, 1e-17) is None
    assert difference(0.0, 10 * FLOOR) is not None


def test_lengths_and_keys_are_compared():
    assert text([1, 2], [1]) == "the result should have 2 entries, yours has 1"
    assert "missing: b; not asked for: c" in text({"a": 1, "b": 2}, {"a": 1, "c": 2})


def test_true_is_not_one():
    assert text(1, True) == "the result should be a int, yours is a bool"
