"""Compare what was observed with what was expected: one sentence for the first difference.

The order is type, shape, dtype, non-finite places, values. A sentence says where and what; a
slip (slips.py) says why.
"""

import math
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import torch
from torch import Tensor

from autograder.wire import Died, Other, Raised

# relative and absolute, of the largest expected value: float32 sums in another order stay inside
TOLERANCE = {torch.float64: 1e-9, torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}


@dataclass(frozen=True)
class Difference:
    """The first difference found, and how large it is in units of the tolerance."""

    text: str
    size: float = math.inf
    expected: Any = None
    got: Any = None


def difference(expected: Any, got: Any, where: str = "the result") -> Difference | None:
    """Return the first difference between two observations, or None where they agree."""
    if isinstance(got, Raised) and not isinstance(expected, Raised):
        return Difference(_raised_text(got))
    if isinstance(got, Died):
        return Difference(f"the code did not finish: {got.how}")
    if isinstance(expected, Raised):
        return _different_raise(expected, got, where)
    if _kind(expected) != _kind(got):
        return Difference(_type_text(expected, got, where))
    if isinstance(expected, Tensor):
        return _different_tensor(expected, got, where)
    if isinstance(expected, dict):
        return _different_dict(expected, got, where)
    if isinstance(expected, list | tuple):
        return _different_list(expected, got, where)
    if isinstance(expected, float):
        pair = (torch.tensor(v, dtype=torch.float64) for v in (expected, got))
        found = _different_values(*pair, where, 1e-6)
        return found and Difference(found.text, found.size, expected, got)
    if expected != got:
        return Difference(f"{where} should be {expected!r}, yours is {got!r}"[:400])
    return None


def _kind(value: Any) -> str:
    return value.type_name if isinstance(value, Other) else type(value).__name__


def _raised_text(got: Raised) -> str:
    at = f" ({got.traceback.splitlines()[-1].strip()})" if got.traceback else ""
    return f"the code raised {got.type_name}: {got.text or 'no message'}{at}"


def _different_raise(expected: Raised, got: Any, where: str) -> Difference | None:
    if isinstance(got, Raised):
        return None  # which exception is a matter of taste unless the exercise says so
    return Difference(f"an error was asked for here ({expected.type_name}), but {where} came back")


def _type_text(expected: Any, got: Any, where: str) -> str:
    wanted = _kind(expected)
    if got is None:
        missing = "no gradient arrives: is there a detach(), .data or no_grad()?"
        return (
            f"{where}: {missing}"
            if "gradient" in where
            else f"{where} is None where a {wanted} was asked for: is a `return` missing?"
        )
    return f"{where} should be a {wanted}, yours is a {_kind(got)}"


def _different_tensor(expected: Tensor, got: Tensor, where: str) -> Difference | None:
    if expected.shape != got.shape:
        return Difference(_shape_text(expected, got, where), expected=expected, got=got)
    if expected.dtype != got.dtype:
        wanted, found = (str(t.dtype).removeprefix("torch.") for t in (expected, got))
        return Difference(f"{where} should be of dtype {wanted}, yours is {found}")
    if expected.is_floating_point():
        return _different_values(expected, got, where, TOLERANCE[expected.dtype])
    wrong = expected != got
    if not wrong.any():
        return None
    return Difference(_value_text(expected, got, wrong, where), math.inf, expected, got)


def _shape_text(expected: Tensor, got: Tensor, where: str) -> str:
    wanted, found = tuple(expected.shape), tuple(got.shape)
    text = f"{where} should have shape {wanted}, yours has {found}"
    if sorted(wanted) == sorted(found) and len(wanted) < 6:
        order = next(p for p in permutations(range(len(wanted))) if _picked(found, p) == wanted)
        text += f" (the same axes in another order: yours permuted by {order} would fit)"
    return text


def _picked(sizes: tuple, order: tuple) -> tuple:
    return tuple(sizes[i] for i in order)


def _different_values(
    expected: Tensor, got: Tensor, where: str, tolerance: float
) -> Difference | None:
    odd, odd_got = _non_finite(expected), _non_finite(got)
    if not torch.equal(odd, odd_got):
        return Difference(_non_finite_text(expected, got, odd, odd_got, where), math.inf, expected, got)
    a, b = (torch.where(odd == 0, t, 0).double() for t in (expected, got))
    scale = a.abs().max().item() if a.numel() else 0.0
    allowed = tolerance * (a.abs() + max(scale, 1e-30))
    ratio = (a - b).abs() / allowed
    size = ratio.max().item() if ratio.numel() else 0.0
    if size <= 1:
        return None
    return Difference(_value_text(expected, got, ratio > 1, where), size, expected, got)


def _non_finite(x: Tensor) -> Tensor:
    """Mark every place: 0 finite, 1 nan, 2 inf, 3 minus inf."""
    return x.isnan().int() + 2 * x.isposinf().int() + 3 * x.isneginf().int()


def _non_finite_text(expected, got, odd, odd_got, where: str) -> str:
    at = _first(odd != odd_got)
    wanted, found = _number(expected[at]), _number(got[at])
    return f"{where} is {found} at {_place(at)}, where {wanted} was expected"


def _value_text(expected: Tensor, got: Tensor, wrong: Tensor, where: str) -> str:
    if expected.dim() == 0:
        return f"{where} should be {_number(expected)}, yours is {_number(got)}"
    at = _first(wrong)
    count = f"{int(wrong.sum())} of {wrong.numel()} numbers differ"
    pair = f"expected {_number(expected[at])}, got {_number(got[at])}"
    return f"in {where} {count}; the first at {_place(at)}: {pair}"


def _first(wrong: Tensor) -> tuple[int, ...]:
    return tuple(wrong.nonzero()[0].tolist())


def _place(at: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, at))}]"


def _number(x: Tensor) -> str:
    value = x.item()
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def _different_dict(expected: dict, got: dict, where: str) -> Difference | None:
    missing = [k for k in expected if k not in got]
    extra = [k for k in got if k not in expected]
    inner = [k for k in expected if k in got]
    for key in inner:
        found = difference(expected[key], got[key], _key_name(key, where))
        if found:
            return found
    if "gradient error" in got and "gradient error" not in expected:
        return Difference(f"the gradient cannot be computed: {got['gradient error']}")
    if missing or extra:
        text = "; ".join(
            f"{word}: {', '.join(map(str, keys[:5]))}"
            for word, keys in (("missing", missing), ("not asked for", extra))
            if keys
        )
        return Difference(f"{where} has other entries than asked for ({text})")
    return None


def _key_name(key: Any, where: str) -> str:
    names = {
        "result": "the result",
        "inputs": "an argument (it was changed by the call)",
        "gradients": "the gradient of an argument",
        "parameter gradients": "the gradient of",
        "parameters": "the shape of parameter",
    }
    if where == "the result" and key in names:
        return names[key]
    return f"{where} {key}" if where.startswith(("the gradient of", "the shape")) else f"{where}[{key!r}]"


def _different_list(expected, got, where: str) -> Difference | None:
    if len(expected) != len(got):
        return Difference(f"{where} should have {len(expected)} entries, yours has {len(got)}")
    for i, (a, b) in enumerate(zip(expected, got, strict=True)):
        found = difference(a, b, where if "argument" in where else f"{where}[{i}]")
        if found:
            return found
    return None
