"""From ids back to bytes: what every token spells."""

from collections.abc import Iterable

from solutions.words import BYTES

Pair = tuple[int, int]


def vocabulary(merges: dict[Pair, int]) -> list[bytes]:
    """Spell every token out: entry i holds the bytes of id i."""
    vocab = [bytes([byte]) for byte in BYTES]
    for a, b in merges:
        vocab.append(vocab[a] + vocab[b])
    return vocab


def decode(ids: Iterable[int], vocab: list[bytes]) -> bytes:
    """Join the bytes of the tokens: the way back is only reading a table.

    >>> decode([1, 2, 0], [b"c", b"a", b"b"])
    b'abc'
    """
    return b"".join(vocab[i] for i in ids)
