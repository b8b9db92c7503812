"""Text to ids and back: words, merges and special tokens in one small object."""

import json
import re
from collections.abc import Iterable
from pathlib import Path

from solutions.byte_pairs import encode
from solutions.fast_pairs import train_fast
from solutions.vocabulary import Pair, decode, vocabulary
from solutions.words import as_text, byte_ids, count_words, split_words


class Tokenizer:
    """Encode any text or bytes, and decode any ids.

    merges: {pair: new id} as `train_bpe` gives it; specials: texts that are one token each, such
    as "<|endoftext|>". The ids: 0 to 255 the bytes, then the merges, then the specials in order.
    """

    def __init__(self, merges: dict[Pair, int], specials: Iterable[str] = ()):
        self.merges = merges
        self.vocab = vocabulary(merges)  # entry i holds the bytes of id i
        self.specials = {text: len(self.vocab) + i for i, text in enumerate(specials)}
        self.vocab += [text.encode() for text in self.specials]
        self.kept = {}  # word -> its ids: a text repeats its words, and most are merged once only

    @property
    def n_vocab(self) -> int:
        """Count the ids: bytes, merges and specials."""
        return len(self.vocab)

    def pieces(self, text: str) -> list[str]:
        """Cut a text at its special tokens, which become pieces of their own.

        >>> Tokenizer({}, ["<|end|>"]).pieces("one<|end|>two<|end|>")
        ['one', '<|end|>', 'two', '<|end|>']
        """
        longest_first = sorted(self.specials, key=len, reverse=True)
        found = "|".join(map(re.escape, longest_first)) or "(?!)"  # (?!) is never there
        return [piece for piece in re.split(f"({found})", text) if piece]

    def encode(self, text: str | bytes) -> list[int]:
        """Return the ids of a text; a special token counts wherever it stands.

        Bytes are read by `as_text` first, so that all bytes can be encoded. Cut the text with
        `self.pieces`: a piece in `self.specials` is one id; any other piece is cut by
        `split_words`, and each word's `byte_ids` are merged by `encode`. `self.kept` may keep
        the ids of words seen before.

        >>> Tokenizer({(71, 72): 256}, ["<|end|>"]).encode("hi<|end|>!")
        [256, 257, 0]
        """
        ids = []
        for piece in self.pieces(as_text(text)):
            if piece in self.specials:
                ids.append(self.specials[piece])
                continue
            for word in split_words(piece):
                if word not in self.kept:
                    self.kept[word] = encode(byte_ids(word), self.merges)
                ids += self.kept[word]
        return ids

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes behind the ids: exactly those that were encoded."""
        return decode(ids, self.vocab)

    def decode(self, ids: Iterable[int]) -> str:
        """Return the ids as text.

        A character may be spread over several tokens: join all bytes, then read them as UTF-8.
        Bytes that are no UTF-8 (a character cut in half) become the replacement character U+FFFD.

        >>> Tokenizer({}).decode([127, 102, 0])
        'é!'
        """
        return self.decode_bytes(ids).decode("utf-8", errors="replace")

    @classmethod
    def train(cls, text: str | bytes, n_vocab: int, specials: Iterable[str] = ()) -> "Tokenizer":
        """Learn merges from a text until there are n_vocab ids; specials in it are left out."""
        specials = list(dict.fromkeys(specials))
        n_merges = n_vocab - 256 - len(specials)
        if n_merges < 0:
            raise ValueError(
                f"Tokenizer.train: n_vocab is {n_vocab}, but 256 bytes and {len(specials)} special "
                f"tokens take {256 + len(specials)} ids already. Ask for at least that many."
            )
        counts = {}
        for piece in cls({}, specials).pieces(as_text(text)):
            if piece not in specials:
                for word, n in count_words(piece).items():
                    counts[word] = counts.get(word, 0) + n
        return cls(train_fast(counts, n_merges), specials)

    def notes(self) -> dict[str, list]:
        """Say in plain values what the tokeniser is made of."""
        return {"merges": [list(pair) for pair in self.merges], "specials": [*self.specials]}

    @classmethod
    def of_notes(cls, notes: dict[str, list]) -> "Tokenizer":
        """Make the tokeniser that `notes` described."""
        merges = {tuple(pair): 256 + i for i, pair in enumerate(notes["merges"])}
        return cls(merges, notes["specials"])

    def save(self, path: Path | str) -> None:
        """Write merges and specials as JSON."""
        Path(path).write_text(json.dumps(self.notes()), encoding="utf-8")

    @classmethod
    def load(cls, path: Path | str) -> "Tokenizer":
        """Read what `save` wrote."""
        return cls.of_notes(json.loads(Path(path).read_text(encoding="utf-8")))
