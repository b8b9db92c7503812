"""Plain values as bytes and back: what may cross between a learner's code and a check.

Plain = None, bool, int, float, str, bytes, list, tuple, dict and CPU tensors. Anything else
arrives as `Other(type name)`, so that a comparison can still say what was returned. The same
encoding is used in one process and between two, so that scores are equal in both.
"""

import json
import math
import struct
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

MAX_DEPTH = 40
MAX_NODES = 200_000  # a list that holds itself twice would grow without end
MAX_HEADER = 16_000_000  # bytes: a header of 64 MB can unfold to gigabytes of small objects
MAX_MARKS = 2_000_000  # brackets and commas, each of which may become an object
MAX_KEYS = 20_000  # of all dicts together: Python's hashes of numbers are no secret
MAX_ALIKE = 64  # keys with one hash: each is compared with all the others
MAX_KEY = 1000  # characters of a key, or values of one that is a tuple
MAX_BITS = 10_000  # Python reads no longer numbers from decimal digits
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


NAMED = {"other": Other, "Other": Other, "Raised": Raised, "Died": Died}


class WireError(ValueError):
    """The bytes are not a well-formed message."""


def dumps(value: Any) -> bytes:
    """Write a value as a length, a JSON header and the raw buffers of its tensors."""
    parcel = _Parcel()
    header = json.dumps(_pack(value, parcel, 0)).encode("utf-8", "surrogatepass")
    return struct.pack("<Q", len(header)) + header + b"".join(parcel.buffers)


class Often(tuple):
    """Values that cross many times: they are packed once."""

    @cached_property
    def packed(self) -> bytes:
        return dumps(tuple(self))


def packed(values: tuple) -> bytes:
    return values.packed if type(values) is Often else dumps(values)


def loads(data: bytes | bytearray) -> Any:
    """Read what `dumps` wrote; raise WireError for anything else."""
    try:
        (size,) = struct.unpack_from("<Q", data)
        header = parsed(data[8 : 8 + min(size, MAX_HEADER + 1)])
        return _unpack(header, memoryview(data)[8 + size :], [0, 0], 0)
    except WireError:
        raise
    except (
        struct.error,
        ValueError,
        TypeError,
        LookupError,
        ArithmeticError,
        RuntimeError,
    ) as error:
        raise WireError(f"not a message: {error}") from None


def parsed(text: bytes | bytearray, most: int = MAX_HEADER) -> Any:
    """Read JSON from an untrusted side, unless what it unfolds to could fill the memory."""
    if len(text) > most or sum(map(text.count, (b"[", b"{", b","))) > MAX_MARKS:
        raise WireError(f"more than {most / 1e6:.0f} MB of values, or too many of them")
    return json.loads(bytes(text).decode("utf-8", "surrogatepass"))


def _type_name(value: Any) -> str:
    kind = type(value)
    name = str(getattr(kind, "__qualname__", kind))
    return name if kind.__module__ == "builtins" else f"{kind.__module__}.{name}"


@dataclass
class _Parcel:
    """What has been packed so far: the buffers, how many values, how many keys of dicts."""

    buffers: list[bytes] = field(default_factory=list)
    nodes: int = 0
    keys: int = 0


def _pack(value: Any, parcel: _Parcel, depth: int) -> Any:
    """Describe a value in JSON; `type(x) is` rather than isinstance, so that no subclass lies."""
    kind = type(value)
    parcel.nodes += 1
    if depth >= MAX_DEPTH or parcel.nodes > MAX_NODES:
        return {"other": "a value nested too deeply"}
    if value is None or kind in (bool, str):
        return value
    if kind is int:
        return value if value.bit_length() < MAX_BITS else {"int": hex(value)}
    if kind is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if kind is bytes:
        parcel.buffers.append(value)
        return {"bytes": len(value)}
    if kind in (list, tuple):
        items = value if parcel.nodes <= MAX_NODES else ()
        return {kind.__name__: [_pack(item, parcel, depth + 1) for item in items]}
    if kind is dict:
        parcel.keys += len(value)
        if parcel.keys > MAX_KEYS:
            return {"other": "a dict with too many keys"}
        if not all(map(_is_key, value)):
            return {"other": "a dict with keys that are neither short texts nor numbers"}
        pairs = [
            [_pack(k, parcel, depth + 1), _pack(v, parcel, depth + 1)] for k, v in value.items()
        ]
        return {"dict": pairs}
    if kind in (Raised, Died, Other):
        return {kind.__name__: [str(v) for v in vars(value).values()]}
    if kind in (Tensor, torch.nn.Parameter):
        return _pack_tensor(value, parcel)
    return {"other": _type_name(value)}


def _is_key(value: Any, inside: bool = False) -> bool:
    """Say whether a value may be a key: short text, a number of 64 bits, a tuple of such."""
    kind = type(value)
    if value is None or kind in (bool, float):
        return True
    if kind is int:
        return bool(-(1 << 63) <= value < 1 << 64)
    if kind in (str, bytes):
        return len(value) <= MAX_KEY
    short = kind is tuple and not inside and len(value) <= MAX_KEY
    return short and all(_is_key(item, True) for item in value)


def _dict(pairs: list[tuple[Any, Any]], at: list[int]) -> dict:
    """Make a dict of keys that somebody may have chosen to be slow: few, and few of one hash."""
    at[1] += len(pairs)
    if at[1] > MAX_KEYS or not all(_is_key(key) for key, _ in pairs):
        raise WireError("a dict with too many keys, or with keys that are none")
    # bytes are hashed with a secret of this process: these cannot be chosen to be alike
    alike = Counter(hash(key).to_bytes(8, "little", signed=True) for key, _ in pairs)
    if max(alike.values(), default=0) > MAX_ALIKE:
        raise WireError("a dict whose keys are chosen to be slow")
    return dict(pairs)


def _pack_tensor(tensor: Tensor, parcel: _Parcel) -> Any:
    dtype = str(tensor.dtype).removeprefix("torch.")
    if dtype not in DTYPES or tensor.layout is not torch.strided or tensor.is_meta:
        return {"other": f"a {tensor.layout} tensor of {dtype} on {tensor.device}"}
    plain = tensor.detach().resolve_conj().resolve_neg().cpu()
    strides = plain.stride()
    by_stride = sorted(range(plain.dim()), key=lambda axis: -strides[axis])
    order: list[int] | None = by_stride
    if by_stride == sorted(by_stride) or not plain.permute(by_stride).is_contiguous():
        order = None
        flat = plain.contiguous().reshape(-1)
    else:  # a transposed tensor stays one: code may work on one memory layout only
        flat = plain.permute(by_stride).reshape(-1)
    flat = flat.as_strided(flat.shape, (1,))  # a single number may claim any stride
    parcel.buffers.append(flat.view(torch.uint8).numpy().tobytes())
    sizes = plain.shape if order is None else plain.permute(order).shape
    described = {"tensor": [dtype, *sizes]}
    return described if order is None else {"permuted": [order, described]}


def _unpack(node: Any, data: memoryview, at: list[int], depth: int) -> Any:
    """Rebuild a value; `at` holds how far the buffers are read, and the keys so far."""
    if node is None or type(node) in (bool, int, float, str):
        return node
    if depth > MAX_DEPTH or type(node) is not dict or len(node) != 1:
        raise WireError("a node is neither plain nor a tagged value")
    ((tag, body),) = node.items()
    if tag == "float":
        return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[body]
    if tag == "int":
        return int(body, 16)
    if tag == "bytes":
        return bytes(_take(data, at, body))
    if tag in ("list", "tuple"):
        items = [_unpack(item, data, at, depth + 1) for item in body]
        return items if tag == "list" else tuple(items)
    if tag == "dict":
        pairs = [
            (_unpack(k, data, at, depth + 1), _unpack(v, data, at, depth + 1)) for k, v in body
        ]
        return _dict(pairs, at)
    if tag == "tensor":
        return _unpack_tensor(body, data, at)
    if tag == "permuted":
        return _unpack_permuted(body, data, at)
    texts = [body] if tag == "other" else body
    if tag in NAMED and all(type(text) is str for text in texts):
        return NAMED[tag](*texts)
    raise WireError(f"unknown tag {tag!r}")


def _unpack_tensor(body: list, data: memoryview, at: list[int]) -> Tensor:
    dtype, shape = DTYPES[body[0]], body[1:]
    if not all(type(n) is int and n >= 0 for n in shape):
        raise WireError("a tensor with a shape that is none")
    raw = _take(data, at, math.prod(shape) * dtype.itemsize)
    if not raw:
        return torch.empty(shape, dtype=dtype)
    if dtype is torch.bool:  # any byte but 0 is True, and no byte but 0 and 1 may get in
        return (torch.frombuffer(bytearray(raw), dtype=torch.uint8) != 0).reshape(shape)
    return torch.frombuffer(bytearray(raw), dtype=dtype).reshape(shape)


def _unpack_permuted(body: list, data: memoryview, at: list[int]) -> Tensor:
    order, described = body
    named = type(described) is dict and described.keys() == {"tensor"}
    if not named or not all(type(axis) is int for axis in order):
        raise WireError("a permuted tensor that is none")
    return _unpack_tensor(described["tensor"], data, at).permute(
        [order.index(axis) for axis in range(len(order))]
    )


def _take(data: memoryview, at: list[int], size: int) -> memoryview:
    if type(size) is not int or size < 0 or at[0] + size > len(data):
        raise WireError("the message is shorter than it says")
    at[0] += size
    return data[at[0] - size : at[0]]
