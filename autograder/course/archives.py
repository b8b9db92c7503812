"""Open zips that may be damaged: a member that cannot be listed is left out with a note."""

import io
import struct
import zipfile
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

ENTRY, ENTRY_SIZE = b"PK\x01\x02", 46
END = struct.Struct("<4s4H2LH")  # the last record: counts, then size and place of the list
MOST_ENTRIES = 20_000  # a folder that was zipped with all its packages has some thousand


class Unlisted(Exception):
    """A zip whose list of contents cannot be read at all; the text says why."""


def opened(source: Path | io.BytesIO, note: Callable[[str], None]) -> zipfile.ZipFile:
    """Open a zip; where zipfile refuses one member's line in the list, leave that member out."""
    with _any_version():
        try:
            return zipfile.ZipFile(source)
        except Exception as problem:  # zipfile raises a dozen kinds for damaged lists
            reason = problem
        try:
            data = source.read_bytes() if isinstance(source, Path) else source.getvalue()
            mended, lost = _mended(data)
            archive = zipfile.ZipFile(io.BytesIO(mended))
        except Exception:
            raise Unlisted(str(reason)) from None
    if not archive.namelist():
        raise Unlisted(str(reason))
    note(f"{lost} of its files cannot be read ({reason})")
    return archive


def too_many(data: bytes) -> bool:
    """Say whether a zip lists more files than anybody hands in, before they are listed."""
    return data.count(ENTRY) > MOST_ENTRIES


@contextmanager
def _any_version():
    """Have zipfile list members made for a newer unzip; reading such a one costs a note."""
    before = zipfile.MAX_EXTRACT_VERSION
    zipfile.MAX_EXTRACT_VERSION = 255  # type: ignore[misc] # final to the stubs only
    try:
        yield
    finally:
        zipfile.MAX_EXTRACT_VERSION = before  # type: ignore[misc]


def _mended(data: bytes) -> tuple[bytes, int]:
    """Return the archive with only those lines of its list that zipfile takes; how many are out."""
    at = data.rindex(b"PK\x05\x06")
    _, _, _, _, _, size, _, _ = END.unpack_from(data, at)
    start, kept, lost = at - size, [], 0
    place = start
    while place < at:
        if data[place : place + 4] != ENTRY:
            raise ValueError("the list of contents is broken off")
        after = place + ENTRY_SIZE + sum(struct.unpack_from("<3H", data, place + 28))
        line = data[place:after]
        place = after
        if _listed(line):
            kept.append(line)
        else:
            lost += 1
    return data[:start] + b"".join(kept) + _end(len(kept), len(b"".join(kept)), start), lost


def _listed(line: bytes) -> bool:
    try:
        zipfile.ZipFile(io.BytesIO(line + _end(1, len(line), 0)))
    except Exception:
        return False
    return True


def _end(n: int, size: int, start: int) -> bytes:
    return END.pack(b"PK\x05\x06", 0, 0, n, n, size, start, 0)
