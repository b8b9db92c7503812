"""Plain values cross as bytes, everything else as the name of its type, and no bytes do harm."""

import math
import struct
from collections import OrderedDict

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from autograder.seam.wire import DTYPES, MAX_DEPTH, Died, Other, Raised, WireError, dumps, loads


def same(a, b) -> bool:
    """Equal in type, and in value with nan equal to nan."""
    if type(a) is not type(b):
        return False
    if isinstance(a, Tensor):
        same_kind = a.dtype == b.dtype and a.shape == b.shape
        return same_kind and torch.equal(a.nan_to_num(7), b.nan_to_num(7))
    if isinstance(a, float):
        return a == b or (math.isnan(a) and math.isnan(b))
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return same(list(a.items()), list(b.items()))
    return a == b


def crossed(value):
    return loads(dumps(value))


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text()
    | st.binary(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(
            st.text() | st.tuples(st.integers(-(2**63), 2**64 - 1), st.text()), inner, max_size=3
        )
    ),
    max_leaves=12,
)


@given(plain)
@settings(deadline=None, max_examples=200)
def test_every_plain_value_arrives_as_it_was_sent(value):
    assert same(crossed(value), value)


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 4), (2, 3, 4)])
def test_a_tensor_of_every_dtype_and_shape_arrives_as_it_was_sent(name, shape):
    sent = (torch.rand(shape) * 2).to(DTYPES[name])
    assert same(crossed(sent), sent)


@pytest.mark.parametrize(
    "value",
    [
        *(10**5000, -(10**5000), 2**64, -0.0, math.nan, -math.inf, "\ud800 ü €", b"\x00\xff"),
        {("a", 1): [(), [], {}, None], 2: {"x": torch.tensor([math.nan, math.inf])}},
        [torch.tensor(1.5), torch.zeros(0, 3), torch.ones(2, 2, dtype=torch.bfloat16)],
        *(Raised("ValueError", "text", "line 1"), Died("out of time"), Other("numpy.ndarray")),
    ],
    ids=lambda value: (
        repr(value)[:30] if not isinstance(value, int) else f"int{value.bit_length()}"
    ),
)
def test_unusual_plain_values_arrive_as_they_were_sent(value):
    assert same(crossed(value), value)


def test_a_transposed_tensor_stays_transposed_in_memory():
    sent = torch.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1)
    got = crossed(sent)
    assert torch.equal(got, sent) and got.stride() == sent.stride()


@pytest.mark.parametrize("sent", [torch.ones(3).expand(4, 3), torch.arange(9.0)[::2]])
def test_an_expanded_or_strided_tensor_arrives_with_its_values(sent):
    assert torch.equal(crossed(sent), sent)


def test_a_parameter_and_a_tensor_with_gradient_arrive_as_plain_tensors():
    for sent in (torch.nn.Parameter(torch.ones(2)), torch.ones(2, requires_grad=True) * 2):
        got = crossed(sent)
        assert type(got) is Tensor and not got.requires_grad and torch.equal(got, sent)


def test_what_arrives_shares_no_memory_with_what_was_sent():
    sent = torch.zeros(3)
    crossed(sent).add_(1)
    assert torch.equal(sent, torch.zeros(3))


@pytest.mark.parametrize(
    "one", [torch.arange(6.0)[::6], torch.arange(6.0).view(2, 3)[1:, ::3]], ids=["line", "table"]
)
def test_a_single_number_cut_from_a_larger_tensor_arrives(one):
    got = crossed(one)
    assert torch.equal(got, one) and got.shape == one.shape


class Liar(Tensor):
    def __eq__(self, other):
        return torch.ones(()).bool()


class AlwaysEqual(str):
    __hash__ = str.__hash__

    def __eq__(self, other):
        return True


class Posing:
    """Says it is a Tensor of builtins."""


Posing.__qualname__, Posing.__module__ = "Tensor", "builtins"


@pytest.mark.parametrize(
    "value, name",
    [
        (torch.zeros(2).as_subclass(Liar), "Liar"),
        (AlwaysEqual("a"), "AlwaysEqual"),
        (OrderedDict(a=1), "OrderedDict"),
        (type("Longer", (list,), {})([1]), "Longer"),
        (type("Larger", (int,), {})(3), "Larger"),
        (np.zeros(2), "numpy.ndarray"),
        (np.float64(1.0), "numpy.float64"),
        (Posing(), "Tensor"),
        (len, "builtin_function_or_method"),
        ({1, 2}, "set"),
        (torch.zeros(2).to_sparse(), "sparse"),
        (torch.zeros(2, device="meta"), "meta"),
    ],
    ids=lambda value: value if type(value) is str else type(value).__name__,
)
def test_what_is_not_plain_arrives_as_the_name_of_its_type(value, name):
    got = crossed(value)
    assert type(got) is Other and name in got.type_name


def test_a_subclass_inside_a_list_is_replaced_too():
    assert type(crossed([1, {"a": AlwaysEqual("b")}])[1]["a"]) is Other


def test_a_value_that_is_nested_too_deeply_or_holds_itself_still_arrives():
    deep: list = []
    for _ in range(3 * MAX_DEPTH):
        deep = [deep]
    ring: list = []
    ring.append(ring)
    for value in (deep, ring):
        got = crossed(value)
        for _ in range(MAX_DEPTH):
            got = got[0]
        assert got == Other("a value nested too deeply")


def read(data: bytes) -> None:
    """Anything but a value or a WireError lets the test fail."""
    try:
        loads(data)
    except WireError as error:
        assert str(error)


@given(st.binary(max_size=80))
@settings(deadline=None)
def test_random_bytes_give_a_value_or_a_wire_error(data):
    read(data)


@given(plain, st.data())
@settings(deadline=None, max_examples=200)
def test_a_message_cut_short_or_with_a_flipped_bit_gives_a_value_or_a_wire_error(value, data):
    message = bytearray(dumps([value, torch.arange(6.0).reshape(2, 3).T, torch.ones(2).bool()]))
    cut = data.draw(st.integers(0, len(message)))
    read(bytes(message[:cut]))
    bit = data.draw(st.integers(0, 8 * len(message) - 1))
    message[bit // 8] ^= 1 << bit % 8
    read(bytes(message))


tags = ("float", "int", "bytes", "list", "tuple", "dict", "tensor", "permuted", "other", "Other")
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from([*DTYPES, "", "nan"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*tags, "Raised", "Died"]), inner, max_size=2)
    ),
    max_leaves=10,
)


@given(junk)
@settings(deadline=None, max_examples=500)
def test_well_formed_json_that_is_no_message_gives_a_value_or_a_wire_error(node):
    import json

    header = json.dumps(node).encode()
    read(struct.pack("<Q", len(header)) + header + bytes(16))


@pytest.mark.parametrize(
    "header",
    [
        *(b'{"tensor": []}', b'{"Other": []}', b'{"tensor": ["float32", 0, 1e30]}', b"[" * 10_000),
        b'{"tensor": ["float32", 0, 1' + b"0" * 40 + b"]}",
        b'{"tensor": ["float32", 4611686018427387904, 4]}',
        *(b'{"Raised": [1, 2, 3]}', b'{"permuted": [[0, 0], {"tensor": ["int8", 2, 2]}]}'),
        *(b'{"bytes": 99}', b'{"bytes": true}', b'{"dict": [[{"list": []}, 1]]}', b'{"int": "x"}'),
        *(b'{"permuted": [[], null]}', b'{"permuted": [[0], {"list": []}]}', b'{"permuted": 3}'),
    ],
)
def test_a_hostile_header_gives_a_wire_error(header):
    with pytest.raises(WireError):
        loads(struct.pack("<Q", len(header)) + header + bytes(16))


def test_a_boolean_tensor_holds_only_true_and_false_whatever_its_bytes():
    message = bytearray(dumps(torch.tensor([True, True, False])))
    message[-3:] = b"\x01\x02\x00"
    got = loads(bytes(message))
    assert got.view(torch.uint8).tolist() == [1, 1, 0]


def test_a_list_that_holds_itself_twice_comes_to_an_end():
    endless: list = []
    endless += [endless, endless]
    assert isinstance(loads(dumps(endless)), list)


@pytest.mark.parametrize(
    "header",
    {
        "many small lists": b"[" + b"[]," * 3_000_000 + b"[]]",
        "a long text": b'"' + b"x" * 20_000_000 + b'"',
    }.values(),
    ids=["many small lists", "a long text"],
)
def test_a_header_that_would_fill_the_memory_is_refused_unread(header, monkeypatch):
    def refuse(*_):
        raise AssertionError("it was parsed")

    monkeypatch.setattr("json.loads", refuse)
    with pytest.raises(WireError, match="too many"):
        loads(struct.pack("<Q", len(header)) + header)
