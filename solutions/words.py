"""Cut a text into words before pairs are counted, as GPT-2 does; any bytes go in.

The rule is GPT-2's: the endings 's 't 're 've 'm 'll 'd; else a run of letters, of numbers or of
other signs, each with at most one space before it; else a run of white space, which leaves its last
space to the word behind it. Python's `re` has no class of all letters: it is spelled out here.
"""

import re
from collections import Counter
from functools import cache

# what Unicode calls white space; Python's \s takes four control characters more (U+001C to U+001F)
SPACE = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
# numbers that are not decimal digits, such as a raised 2, a half or the Roman VIII as one sign
ODD_NUMBERS = frozenset(
    c for c in map(chr, range(0x20000)) if c.isnumeric() and not c.isalpha() and not c.isdecimal()
)


@cache
def pattern(odd: str = "") -> re.Pattern:
    """Write the rule for a text that holds these odd numbers (a class of all 1,131 is slow)."""
    letter = rf"[^\W\d_{odd}]"  # \w is letters, numbers and the underscore
    number, other = rf"[\d{odd}]", rf"(?:[^\w{SPACE}]|_)"
    return re.compile(
        rf"'(?:[stmd]|re|ve|ll)| ?{letter}+| ?{number}+| ?{other}+"
        rf"|[{SPACE}]+(?![^{SPACE}])|[{SPACE}]+"
    )


def as_text(data: str | bytes) -> str:
    """Read bytes as UTF-8; a byte that is none becomes a sign of its own that `as_bytes` undoes."""
    return data if isinstance(data, str) else data.decode("utf-8", "surrogateescape")


def as_bytes(text: str) -> bytes:
    """Write a text as UTF-8, and the signs that `as_text` made as the bytes they were."""
    return text.encode("utf-8", "surrogateescape")


def split_words(data: str | bytes) -> list[str]:
    """Cut a text into words; joined they are the text again, and no pair will cross a border.

    >>> split_words("Thou'rt  2 late, my lord.")
    ['Thou', "'", 'rt', ' ', ' 2', ' late', ',', ' my', ' lord', '.']
    """
    text = as_text(data)
    return pattern("".join(sorted(ODD_NUMBERS & set(text)))).findall(text)


# ids 0 to 255 as GPT-2 has them: the 188 bytes with a printed sign first, then the other 68
PRINTED = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
BYTES = bytes(PRINTED + sorted(set(range(256)) - set(PRINTED)))
_TO_ID = bytes(BYTES.index(byte) for byte in range(256))  # a table for bytes.translate


def byte_ids(word: str | bytes) -> tuple[int, ...]:
    """Return the ids of a word's bytes: `BYTES[id]` is the byte.

    >>> byte_ids("é!")
    (127, 102, 0)
    """
    return tuple((word if isinstance(word, bytes) else as_bytes(word)).translate(_TO_ID))


def count_words(data: str | bytes) -> dict[tuple[int, ...], int]:
    """Count the words of a text, each spelled in byte ids: all that training needs to know."""
    return {byte_ids(word): n for word, n in Counter(split_words(data)).items()}
