"""Names as folders, on a terminal, and compared: what a stranger wrote is never used as it came."""

import re
import unicodedata
import zlib

LONGEST = 120  # bytes of a learner's folder: a disk takes 255, and nbgrader adds to them


def clean(name: str) -> str | None:
    """Return a name that may be a folder's; a long one is cut, and a code tells it from others."""
    made = re.sub(r"[^\w@.-]+", "_", name).strip("._- ")
    raw = made.encode("utf-8", "replace")
    if len(raw) > LONGEST:
        made = f"{raw[:LONGEST].decode('utf-8', 'ignore')}_{code(name)}"
    return made or None


def code(name: str) -> str:
    """Return eight letters that are the same for a name in every run."""
    return f"{zlib.crc32(name.encode('utf-8', 'surrogatepass')):08x}"


def shown(text: str) -> str:
    """Return a text that a terminal prints on one line, without obeying it."""
    return "".join("?" if unicodedata.category(c) in BARRED else c for c in text)


BARRED = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")  # controls, direction marks, line ends


def squeezed(name: str) -> str:
    """Return the letters and digits of a name: "O'Brien, Zoë" and "obrien zoë" are the same."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    return "".join(c for c in plain if c.isalnum())
