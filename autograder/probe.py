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
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import torch

from autograder.wire import Raised, dumps, loads


def observe(own: Mapping[str, Any], probe: Callable, inputs: tuple) -> Any:
    """Run a probe on copies of the inputs; return what it saw, or `Raised`."""
    namespace = SimpleNamespace(**{k: v for k, v in own.items() if type(k) is str})
    copies = loads(dumps(inputs))
    with quiet():
        try:
            seen = probe(namespace, *copies)
        except (Exception, SystemExit) as error:
            seen = describe(error)
    return loads(dumps(seen))


def describe(error: BaseException) -> Raised:
    """Say what was raised, with the part of the traceback that lies in the learner's code."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = {__file__}
    frames = [f for f in frames if f.filename not in ours and "/torch/" not in f.filename]
    lines = [f"line {f.lineno}, in {f.name}: {f.line}" for f in frames if f.line]
    return Raised(type(error).__name__, str(error)[:2000], "\n".join(lines[-5:]))


@contextlib.contextmanager
def quiet():
    """Keep warnings and prints of the code under test out of the notebook, and torch's state.

    What a learner's cell changed globally (default dtype, gradient mode) is put right for the
    probe and restored after it.
    """
    dtype, grad = torch.get_default_dtype(), torch.is_grad_enabled()
    torch.set_default_dtype(torch.float32)
    out, err = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = io.StringIO()
    try:
        with warnings.catch_warnings(), torch.enable_grad():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.stdout, sys.stderr = out, err
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(grad)


def call(own, name, args, kwargs=None, gradient=True):
    """Call a function: its result, its tensor arguments as it left them, their gradients."""
    import torch

    kwargs = kwargs or {}
    function = getattr(own, name)
    fresh = [a.clone() if isinstance(a, torch.Tensor) else a for a in args]
    result = function(*fresh, **kwargs)
    seen = {"result": result, "inputs": [a for a in fresh if isinstance(a, torch.Tensor)]}
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
            again = function(*[a * 1 if isinstance(a, torch.Tensor) else a for a in leaves], **kwargs)
            if again.requires_grad and asked:
                push = torch.cos(torch.arange(again.numel(), dtype=again.dtype))
                push = push.reshape(again.shape)
                seen["gradients"] = list(torch.autograd.grad(again, asked, push, allow_unused=True))
            elif asked:
                seen["gradients"] = [None for _ in asked]
        except RuntimeError as error:
            seen["gradient error"] = str(error).splitlines()[0]
    return seen


def module(own, name, config, weights, args, kwargs=None):
    """Build a module, load its weights, run it: result, inputs as left, all gradients."""
    import torch

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
        "inputs": [a for a in fresh if isinstance(a, torch.Tensor)],
    }
    named = dict(built.named_parameters())
    asked = [a for a in leaves if isinstance(a, torch.Tensor) and a.requires_grad]
    wanted = [*asked, *named.values()]
    grads = [None for _ in wanted]
    try:
        if isinstance(result, torch.Tensor) and result.requires_grad:
            push = torch.cos(torch.arange(result.numel(), dtype=result.dtype)).reshape(result.shape)
            grads = torch.autograd.grad(result, wanted, push, allow_unused=True)
        seen["gradients"] = list(grads[: len(asked)])
        seen["parameter gradients"] = dict(zip(named, grads[len(asked) :], strict=True))
    except RuntimeError as error:
        seen["gradient error"] = str(error).splitlines()[0]
    return seen


def value(own, name):
    """Read a name the learner bound, such as the letter of a chosen answer."""
    return getattr(own, name)
