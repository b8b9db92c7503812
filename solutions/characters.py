"""The simplest tokeniser: one id for every character that a text holds."""

from collections.abc import Iterable


class Characters:
    """Number the characters of an alphabet; no other can be encoded."""

    def __init__(self, alphabet: Iterable[str]):
        self.alphabet = list(alphabet)
        self.number = {character: i for i, character in enumerate(self.alphabet)}
        self.specials: dict[str, int] = {}  # none; a Tokenizer may have some

    @classmethod
    def of(cls, text: str) -> "Characters":
        """Take the characters of a text, in the order of their code points."""
        return cls(sorted(set(text)))

    @property
    def n_vocab(self) -> int:
        return len(self.alphabet)

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text, one for each character.

        >>> Characters("abc").encode("cab")
        [2, 0, 1]
        """
        unknown = "".join(dict.fromkeys(c for c in text if c not in self.number))
        if unknown:
            raise ValueError(
                f"Characters: this model has never seen {unknown!r}. It knows "
                f"{''.join(self.alphabet)!r}; use these only."
            )
        return [self.number[character] for character in text]

    def decode(self, ids: Iterable[int]) -> str:
        """Return the ids as text."""
        return "".join(self.alphabet[i] for i in ids)

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the ids as text in UTF-8."""
        return self.decode(ids).encode()
