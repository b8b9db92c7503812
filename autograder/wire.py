"""Plain values as bytes and back: what may cross between a learner's code and a check.

Plain = None, bool, int, float, str, bytes, list, tuple, dict and CPU tensors. Anything else
arrives as `Other(type name)`, so that a comparison can still say what was returned. The same
encoding is used in one process and between two, so that scores are equal in both.
"""

import json
import math
import struct
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

MAX_DEPTH = 40
DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.bool, torch.uint8),
        *(torch.int8, torch.int16, torch.int32, torch.int64, torch.complex64, torch.complex128),
    )
}


@dataclass(frozen=True)
class Other:
    """Stands for a value that is not plain: only the name of its type is kept."""

    type_name: str


@dataclass(frozen=True)
class Raised:
    """An exception that the code under test raised."""

    type_name: str
    text: str
    traceback: str = ""


@dataclass(frozen=True)
class Died:
    """The process of the code under test ended or overran its time."""

    how: str


class WireError(ValueError):
    """The bytes are not a well-formed message."""


def dumps(value: Any) -> bytes:
    """Write a value as a length, a JSON header and the raw buffers of its tensors."""
    buffers: list[bytes] = []
    header = json.dumps(_pack(value, buffers, 0)).encode("utf-8", "surrogatepass")
    return struct.pack("<Q", len(header)) + header + b"".join(buffers)


def loads(data: bytes) -> Any:
    """Read what `dumps` wrote; raise WireError for anything else."""
    try:
        (size,) = struct.unpack_from("<Q", data)
        header = json.loads(bytes(data[8 : 8 + size]).decode("utf-8", "surrogatepass"))
        return _unpack(header, memoryview(data)[8 + size :], [0], 0)
    except WireError:
        raise
    except (struct.error, ValueError, TypeError, KeyError, RuntimeError, RecursionError) as error:
        raise WireError(f"not a message: {error}") from None


def _type_name(value: Any) -> str:
    kind = type(value)
    name = str(getattr(kind, "__qualname__", kind))
    return name if kind.__module__ == "builtins" else f"{kind.__module__}.{name}"


def _pack(value: Any, buffers: list[bytes], depth: int) -> Any:
    """Describe a value in JSON; `type(x) is` rather than isinstance, so that no subclass lies."""
    kind = type(value)
    if depth > MAX_DEPTH:
        return {"other": "a value nested too deeply"}
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if kind is bytes:
        buffers.append(value)
        return {"bytes": len(value)}
    if kind in (list, tuple):
        return {kind.__name__: [_pack(item, buffers, depth + 1) for item in value]}
    if kind is dict:
        pairs = [
            [_pack(k, buffers, depth + 1), _pack(v, buffers, depth + 1)] for k, v in value.items()
        ]
        return {"dict": pairs}
    if kind in (Raised, Died, Other):
        return {kind.__name__: [str(v) for v in vars(value).values()]}
    if kind in (Tensor, torch.nn.Parameter):
        return _pack_tensor(value, buffers)
    return {"other": _type_name(value)}


def _pack_tensor(tensor: Tensor, buffers: list[bytes]) -> Any:
    dtype = str(tensor.dtype).removeprefix("torch.")
    if dtype not in DTYPES or tensor.layout is not torch.strided or tensor.is_meta:
        return {"other": f"a {tensor.layout} tensor of {dtype} on {tensor.device}"}
    flat = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous().reshape(-1)
    buffers.append(flat.view(torch.uint8).numpy().tobytes())
    return {"tensor": [dtype, *tensor.shape]}


def _unpack(node: Any, data: memoryview, at: list[int], depth: int) -> Any:
    """Rebuild a value; `at` holds how far the buffers have been read."""
    if node is None or type(node) in (bool, int, float, str):
        return node
    if depth > MAX_DEPTH or type(node) is not dict or len(node) != 1:
        raise WireError("a node is neither plain nor a tagged value")
    ((tag, body),) = node.items()
    if tag == "float":
        return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[body]
    if tag == "bytes":
        return bytes(_take(data, at, body))
    if tag in ("list", "tuple"):
        items = [_unpack(item, data, at, depth + 1) for item in body]
        return items if tag == "list" else tuple(items)
    if tag == "dict":
        pairs = [(_unpack(k, data, at, depth + 1), _unpack(v, data, at, depth + 1)) for k, v in body]
        return dict(pairs)
    if tag == "tensor":
        return _unpack_tensor(body, data, at)
    if tag in ("other", "Other"):
        return Other(body if tag == "other" else body[0])
    if tag in ("Raised", "Died"):
        return {"Raised": Raised, "Died": Died}[tag](*body)
    raise WireError(f"unknown tag {tag!r}")


def _unpack_tensor(body: list, data: memoryview, at: list[int]) -> Tensor:
    dtype, shape = DTYPES[body[0]], body[1:]
    if not all(type(n) is int and n >= 0 for n in shape):
        raise WireError("a tensor with a shape that is none")
    raw = _take(data, at, math.prod(shape) * dtype.itemsize)
    if not raw:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(bytearray(raw), dtype=dtype).reshape(shape)


def _take(data: memoryview, at: list[int], size: int) -> memoryview:
    if type(size) is not int or size < 0 or at[0] + size > len(data):
        raise WireError("the message is shorter than it says")
    at[0] += size
    return data[at[0] - size : at[0]]
