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

from autograder.seam.wire import Died, Other, Raised

# relative and absolute, of the largest expected value: float32 sums in another order stay inside
TOLERANCE = {torch.float64: 1e-8, torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}

FLOOR = 1e-6  # numbers far below this are not told from zero
GRADIENTS = ("gradients", "parameter gradients")
LEAST_GRADIENT = 1e-2  # where all gradients are zero in theory, rounding leaves parts of this size


@dataclass(frozen=True)
class Difference:
    """The first difference found, and how large it is in units of the tolerance."""

    text: str
    size: float = math.inf
    expected: Any = None
    got: Any = None


def difference(
    expected: Any, got: Any, where: str = "the result", floor: float = FLOOR
) -> Difference | None:
    """Return the first difference between two observations, or None where they agree.

    `floor` is the least scale that numbers are measured against.
    """
    if got is expected:
        return None
    if isinstance(got, Raised) and not isinstance(expected, Raised):
        return Difference(_raised_text(got))
    if isinstance(got, Died):
        return Difference(f"the code did not finish: {got.how}")
    if isinstance(expected, Raised):
        return _different_raise(expected, got, where)
    if _kind(expected) != _kind(got) or isinstance(expected, Other) != isinstance(got, Other):
        return Difference(_type_text(expected, got, where))
    if isinstance(expected, Tensor):
        return _different_tensor(expected, got, where, floor)
    if isinstance(expected, dict):
        return _different_dict(expected, got, where, floor)
    if isinstance(expected, list | tuple):
        return _different_list(expected, got, where, floor)
    if isinstance(expected, float):
        a, b = (torch.tensor(v, dtype=torch.float64) for v in (expected, got))
        found = _different_values(a, b, where, 1e-6, floor)
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


def _different_tensor(expected: Tensor, got: Tensor, where: str, floor: float) -> Difference | None:
    if expected.shape != got.shape:
        return Difference(_shape_text(expected, got, where), expected=expected, got=got)
    if expected.dtype != got.dtype:
        wanted, found = (str(t.dtype).removeprefix("torch.") for t in (expected, got))
        return Difference(f"{where} should be of dtype {wanted}, yours is {found}")
    if expected.is_complex():
        a, b = torch.view_as_real(expected), torch.view_as_real(got)
        return _different_tensor(a, b, where, floor)
    if expected.is_floating_point():
        return _different_values(expected, got, where, TOLERANCE[expected.dtype], floor)
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
    expected: Tensor, got: Tensor, where: str, tolerance: float, floor: float
) -> Difference | None:
    if torch.equal(expected, got):
        return None
    odd, odd_got = _non_finite(expected), _non_finite(got)
    if not torch.equal(odd, odd_got):
        return Difference(
            _non_finite_text(expected, got, odd, odd_got, where), math.inf, expected, got
        )
    a, b = (torch.where(odd == 0, t, 0).double() for t in (expected, got))
    scale = a.abs().max().item() if a.numel() else 0.0
    allowed = tolerance * (a.abs() + max(scale, floor))
    ratio = (a - b).abs() / allowed
    size = ratio.max().item() if ratio.numel() else 0.0
    if size <= 1:
        return None
    return Difference(_value_text(expected, got, ratio > 1, where), size, expected, got)


def _non_finite(x: Tensor) -> Tensor:
    """Mark every place: 0 finite, 1 nan, 2 inf, 3 minus inf."""
    return x.isnan().int() + 2 * x.isposinf().int() + 3 * x.isneginf().int()


def _non_finite_text(
    expected: Tensor, got: Tensor, odd: Tensor, odd_got: Tensor, where: str
) -> str:
    at = _first(odd != odd_got)
    wanted, found = _numbers(expected[at], got[at])
    return f"{where} is {found} at {_place(at)}, where {wanted} was expected"


def _value_text(expected: Tensor, got: Tensor, wrong: Tensor, where: str) -> str:
    if expected.dim() == 0:
        wanted, found = _numbers(expected, got)
        return f"{where} should be {wanted}, yours is {found}"
    at = _first(wrong)
    count = f"{int(wrong.sum())} of {wrong.numel()} numbers differ"
    wanted, found = _numbers(expected[at], got[at])
    pair = f"expected {wanted}, got {found}"
    return f"in {where} {count}; the first at {_place(at)}: {pair}"


def _first(wrong: Tensor) -> tuple[int, ...]:
    return tuple(wrong.nonzero()[0].tolist())


def _place(at: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, at))}]"


def _numbers(expected: Tensor, got: Tensor) -> tuple[str, str]:
    """Write two numbers with as few digits as tell them apart."""
    pair = expected.item(), got.item()
    if not isinstance(pair[0], float):
        return str(pair[0]), str(pair[1])
    texts = [(f"{pair[0]:.{n}g}", f"{pair[1]:.{n}g}") for n in (5, 8, 12, 17)]
    return next((t for t in texts if t[0] != t[1]), texts[0])


def _different_dict(expected: dict, got: dict, where: str, floor: float) -> Difference | None:
    missing = [k for k in expected if k not in got]
    extra = [k for k in got if k not in expected]
    inner = [k for k in expected if k in got]
    for key in inner:
        # a gradient that cancels to zero in theory is rounding noise of the others' size
        least = _largest(expected) if key in GRADIENTS else floor
        found = difference(expected[key], got[key], _key_name(key, where), least)
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


def _largest(seen: dict) -> float:
    groups = [seen[key] for key in GRADIENTS if key in seen]
    tensors = [t for g in groups for t in (g.values() if isinstance(g, dict) else g)]
    sizes = [t.nan_to_num(0, 0, 0).abs().max() for t in tensors if t is not None and t.numel()]
    return max([LEAST_GRADIENT, *map(float, sizes)])


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
    return (
        f"{where} {key}"
        if where.startswith(("the gradient of", "the shape"))
        else f"{where}[{key!r}]"
    )


def _different_list(
    expected: list | tuple, got: list | tuple, where: str, floor: float
) -> Difference | None:
    if len(expected) != len(got):
        return Difference(f"{where} should have {len(expected)} entries, yours has {len(got)}")
    for i, (a, b) in enumerate(zip(expected, got, strict=True)):
        found = difference(a, b, where if "argument" in where else f"{where}[{i}]", floor)
        if found:
            return found
    return None
