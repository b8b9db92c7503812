"""Observe the code under test: the one seam every check is written against.

A probe is a plain function `probe(own, *inputs)` that runs beside the code under test. `own`
holds that code's names (a notebook's, the reference's or a slip's). A probe takes and returns
plain values (wire.py) and says what it saw, never whether that is right. It has no globals and
no closure, so that its text can be sent to where the code runs.
"""

import contextlib
import io
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch

from autograder.seam.wire import Raised, WireError, dumps, loads, packed

MISSING = "nothing"  # what `kind` says of an answer that is not there


def observe(own: Mapping[str, Any], probe: Callable, inputs: tuple) -> Any:
    """Run a probe on copies of the inputs; return what it saw, or `Raised`."""
    return unpacked(observe_packed(own, probe, packed(inputs)))


def observe_packed(own: Mapping[str, Any], probe: Callable, inputs: bytes) -> bytes:
    """Run a probe on inputs as they come over the wire; return what it saw as it is sent back."""
    namespace = SimpleNamespace(**{k: v for k, v in own.items() if type(k) is str})
    with quiet():
        copies = loads(inputs)
        try:
            return dumps(probe(namespace, *copies))
        except (Exception, SystemExit) as error:
            return dumps(describe(error))


@dataclass(frozen=True)
class Seen:
    """What a probe saw, as bytes and as a value."""

    packed: bytes
    value: Any


def unpacked(seen: bytes, likely: Seen | None = None) -> Any:
    """Read what a probe saw; the very same bytes as what is likely need not be read again.

    What cannot be read counts as an error of the code under test.
    """
    if likely is not None and seen == likely.packed:
        return likely.value
    try:
        return loads(seen)
    except WireError as error:
        return describe(error)


def describe(error: BaseException) -> Raised:
    """Say what was raised, with the part of the traceback that lies in the learner's code."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = {__file__}
    theirs = [f for f in frames if f.filename not in ours and "/torch/" not in f.filename]
    lines = [f"line {f.lineno}, in {f.name}: {f.line}" for f in theirs if f.line]
    try:
        text = str(error)[:2000]
    except Exception:  # an exception of the learner's own whose text cannot be read
        text = ""
    return Raised(type(error).__name__, text, "\n".join(lines[-5:]))


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep warnings and prints of the code under test out of the notebook, and torch's state.

    What a learner's cell changed globally (default dtype and device, gradient mode) is put right
    for the probe and restored after it.
    """
    dtype, grad = torch.get_default_dtype(), torch.is_grad_enabled()
    threads = torch.get_num_threads()
    torch.set_default_dtype(torch.float32)
    torch.set_num_threads(1)  # probes are small; on a busy machine more threads wait for each other
    out, err = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = io.StringIO()
    try:
        with warnings.catch_warnings(), torch.enable_grad(), _on_cpu():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.stdout, sys.stderr = out, err
        torch.set_default_dtype(dtype)
        torch.set_num_threads(threads)
        torch.set_grad_enabled(grad)


def _on_cpu() -> contextlib.AbstractContextManager:
    """Undo a default device; the mode that does it slows every call down, so only if need be."""
    changed = torch._C._len_torch_function_stack() > 0
    return torch.device("cpu") if changed else contextlib.nullcontext()


def push(tensor: torch.Tensor) -> torch.Tensor:
    """Return what a result is pushed with when its gradient is asked for: no two numbers alike.

    The one helper of probes: they import it in their bodies, for this file is behind the wall too.
    """
    return torch.cos(torch.arange(tensor.numel(), dtype=tensor.dtype)).reshape(tensor.shape)


# The annotations of a probe are read where its text is: builtins are the only names there.


def call(
    own: object, name: str, args: list | tuple, kwargs: dict | None = None, gradient: bool = True
) -> dict:
    """Call a function: its result, its tensor arguments as it left them, their gradients."""
    import torch

    from autograder.seam.probe import push

    kwargs = kwargs or {}
    function = getattr(own, name)
    fresh = [a.clone() if isinstance(a, torch.Tensor) else a for a in args]
    named = {k: a.clone() if isinstance(a, torch.Tensor) else a for k, a in kwargs.items()}
    result = function(*fresh, **named)
    left = [a for a in [*fresh, *named.values()] if isinstance(a, torch.Tensor)]
    seen = {"result": result, "inputs": left}
    if gradient and isinstance(result, torch.Tensor) and result.is_floating_point():
        leaves = [
            a.clone().requires_grad_()
            if isinstance(a, torch.Tensor) and a.is_floating_point()
            else a
            for a in args
        ]
        asked = [a for a in leaves if isinstance(a, torch.Tensor) and a.requires_grad]
        try:
            # times 1: a leaf may not be written into, and that is not what is asked here
            copies = [
                a * 1 if isinstance(a, torch.Tensor) and a.requires_grad else a for a in leaves
            ]
            again = function(*copies, **kwargs)
            if again.requires_grad and asked:
                one = (again * push(again)).sum()
                seen["gradients"] = list(torch.autograd.grad(one, asked, allow_unused=True))
            elif asked:
                seen["gradients"] = [None for _ in asked]
        except RuntimeError as error:
            seen["gradient error"] = str(error).splitlines()[0]
    return seen


def module(
    own: object,
    name: str,
    config: dict,
    weights: dict,
    args: list | tuple,
    kwargs: dict | None = None,
) -> dict:
    """Build a module, load its weights, run it: result, inputs as left, all gradients."""
    import torch

    from autograder.seam.probe import push

    kwargs = kwargs or {}
    built = getattr(own, name)(**config)
    state = built.state_dict()
    expected = {k: tuple(v.shape) for k, v in weights.items()}
    found = {k: tuple(v.shape) for k, v in state.items()}
    if expected != found:
        return {"parameters": found}
    built.load_state_dict(weights)
    built.eval()
    leaves = [
        a.clone().requires_grad_() if isinstance(a, torch.Tensor) and a.is_floating_point() else a
        for a in args
    ]
    fresh = [a * 1 if isinstance(a, torch.Tensor) and a.requires_grad else a for a in leaves]
    result = built(*fresh, **kwargs)
    seen = {
        "parameters": found,
        "result": result,
        "inputs": [a for a in [*fresh, *kwargs.values()] if isinstance(a, torch.Tensor)],
    }
    named = dict(built.named_parameters())
    asked = [a for a in leaves if isinstance(a, torch.Tensor) and a.requires_grad]
    wanted = [*asked, *named.values()]
    grads: list | tuple = [None for _ in wanted]
    try:
        if isinstance(result, torch.Tensor) and result.requires_grad:
            grads = torch.autograd.grad((result * push(result)).sum(), wanted, allow_unused=True)
        seen["gradients"] = list(grads[: len(asked)])
        seen["parameter gradients"] = dict(zip(named, grads[len(asked) :], strict=True))
    except RuntimeError as error:
        seen["gradient error"] = str(error).splitlines()[0]
    return seen


def module_used_before(
    own: object, name: str, config: dict, weights: dict, first: tuple, second: tuple
) -> dict:
    """Run one layer twice, on other inputs: what it gives the second time."""
    layer = getattr(own, name)(**config)
    layer.load_state_dict(weights)
    layer.eval()
    layer(*first[0], **first[1])
    return {"result": layer(*second[0], **second[1])}


def kind(own: object, name: str) -> str:
    """Say what stands under a name: "nothing", "class", "function" or the name of a type."""
    value = getattr(own, name, None)
    if value is None or value is ...:
        return "nothing"
    if isinstance(value, type):
        return "class"
    return "function" if callable(value) else type(value).__name__


def value(own: object, name: str) -> object:
    """Read a name the learner bound, such as the letter of a chosen answer."""
    return getattr(own, name)


def error_of(own: object, name: str) -> str:
    """Say how the last cell that was to bind a name failed; nothing if no such cell was run."""
    import ast
    import linecache
    import re
    import sys

    binds = re.compile(rf"^\s*((def|class)\s+{name}\b|{name}\s*[:=])", re.MULTILINE)
    cells = [c for c in getattr(own, "In", []) if isinstance(c, str) and binds.search(c)]
    if not cells:
        return ""
    try:
        compile(cells[-1], "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except SyntaxError as error:
        return f"{type(error).__name__}, line {error.lineno}: {error.msg}"
    last = getattr(sys, "last_value", None)
    trace = getattr(last, "__traceback__", None)
    while trace is not None:
        lines = linecache.getlines(trace.tb_frame.f_code.co_filename)
        if "".join(lines).strip() == cells[-1].strip():
            text = f": {last}" if str(last) else ""
            return f"{type(last).__name__}, line {trace.tb_lineno}{text}"
        trace = trace.tb_next
    return ""
