"""Tokenizer: the cases it is tried in, and the slips that are known."""

from autograder.checks.draw import Draw
from autograder.checks.question import Case, Exercise
from autograder.checks.slips import Slip
from solutions.byte_pairs import train_bpe
from solutions.tokenizer import Tokenizer
from solutions.words import byte_ids, count_words


def _tokenised(own, name, merges, specials, text):
    """Encode a text twice, after a tokeniser with fewer merges: what either keeps must not show."""
    own.Tokenizer(dict(list(merges.items())[: len(merges) // 2]), specials).encode(text)
    tokenizer = own.Tokenizer(merges, specials)
    ids = [tokenizer.encode(text), tokenizer.encode(text)]
    return [list(i) if isinstance(i, list | tuple) else i for i in ids]


def _read(own, name, merges, specials, ids):
    """Decode ids; an error of decoding is told as a value, so that it can be recognised."""
    try:
        return own.Tokenizer(merges, specials).decode(ids)
    except UnicodeDecodeError as error:
        return f"UnicodeDecodeError: {error.reason}"


def _read_once(own, name, merges, specials, ids):
    """Decode ids that come one after the other, as a model writes them."""
    return own.Tokenizer(merges, specials).decode(iter(ids))


def _added_to(own, name, merges, specials, text):
    """Encode a text, put an id behind those returned, encode it again."""
    tokenizer = own.Tokenizer(merges, specials)
    ids = tokenizer.encode(text)
    if isinstance(ids, list):
        ids.append(0)
    return list(tokenizer.encode(text))


_LEARNT_FROM = "the cat's other hat, the mother's café;\n\n\nthere, there!   the\n\n\n"


_MERGES = train_bpe(count_words(_LEARNT_FROM * 2), 20)


_END = ("<|user|>", "<|end|>")


_FIRST = 256 + len(_MERGES)  # the id of the first of them


_LINES = (
    "the mother of the cats",
    "There!  There,\n\nthere's another café. ",
    " a hat \t and 3 cats, 27 the ",
    "naïve Ångström, the ½ 東京 there",
)


def _line(d: Draw) -> str:
    return " ".join(d.random.sample(_LINES, 2))


def _with_specials(d: Draw) -> tuple:
    return _MERGES, _END, f"<|end|>{_line(d)}<|user|><|end|> the{_line(d)}<|end|>"


QUESTION = Exercise(
    Tokenizer,
    parts={"encode": 7, "special tokens": 5, "any bytes": 4, "decode": 4},
    cases=[
        Case("encode", "two lines", lambda d: (_MERGES, (), _line(d)), _tokenised),
        Case(
            "encode", "characters of several bytes", lambda d: (_MERGES, (), _LINES[3]), _tokenised
        ),
        Case("encode", "spaces", lambda d: (_MERGES, (), " the   the\n\nthe  "), _tokenised),
        Case("encode", "no text", lambda d: (_MERGES, _END, ""), _tokenised),
        Case("encode", "ids that the caller adds to", lambda d: (_MERGES, (), _line(d)), _added_to),
        Case("special tokens", "anywhere", _with_specials, _tokenised),
        Case("special tokens", "one alone", lambda d: (_MERGES, _END, "<|user|>"), _tokenised),
        Case("special tokens", "almost one", lambda d: (_MERGES, _END, "<|en|> the"), _tokenised),
        Case(
            "special tokens",
            "in bytes",
            lambda d: (_MERGES, _END, f"{_line(d)}<|end|> the".encode()),
            _tokenised,
        ),
        Case(
            "any bytes",
            "bytes that are no UTF-8",
            lambda d: (_MERGES, _END, bytes(d.random.choices(range(256), k=30)) + b"\xff the"),
            _tokenised,
        ),
        Case(
            "any bytes", "a text as bytes", lambda d: (_MERGES, (), _line(d).encode()), _tokenised
        ),
        Case("decode", "a character in two tokens", lambda d: ({}, (), [*byte_ids("é東!")]), _read),
        Case("decode", "half a character", lambda d: ({}, (), [*byte_ids("the 東"), 127]), _read),
        Case(
            "decode", "a text", lambda d: (_MERGES, (), Tokenizer(_MERGES).encode(_line(d))), _read
        ),
        Case(
            "decode",
            "ids that can be read once",
            lambda d: (_MERGES, (), Tokenizer(_MERGES).encode(_line(d))),
            _read_once,
        ),
        Case(
            "decode",
            "special tokens",
            lambda d: (_MERGES, _END, [_FIRST, 0, _FIRST + 1, _FIRST]),
            _read,
        ),
        Case("decode", "nothing", lambda d: (_MERGES, (), []), _read),
    ],
    slips=[
        Slip(
            "special tokens split",
            Tokenizer.encode,
            "if piece in self.specials:",
            "if False:",
            "A special token is cut and merged like any other text: it is one id of its own.",
        ),
        Slip(
            "special token only at the start",
            Tokenizer.encode,
            "if piece in self.specials:",
            "if piece in self.specials and not ids:",
            "A special token is seen at the start of the text only; it counts wherever it stands.",
        ),
        Slip(
            "special tokens not seen in bytes",
            Tokenizer.encode,
            "for piece in self.pieces(as_text(text)):",
            "for piece in self.pieces(text) if isinstance(text, str) else [as_text(text)]:",
            "A special token is one id in a text, but not in the same text given as bytes: read "
            "the bytes by as_text first, then cut.",
        ),
        Slip(
            "one memory for all tokenisers",
            Tokenizer.encode,
            "                if word not in self.kept:\n"
            "                    self.kept[word] = encode(byte_ids(word), self.merges)\n"
            "                ids += self.kept[word]",
            "                if word not in getattr(Tokenizer, 'all', {}):\n"
            "                    Tokenizer.all = {**getattr(Tokenizer, 'all', {}), "
            "word: encode(byte_ids(word), self.merges)}\n"
            "                ids += Tokenizer.all[word]",
            "A word seen by one tokeniser keeps its ids in all others, though their merges are "
            "different: what is kept belongs to the object, self.kept.",
        ),
        Slip(
            "the kept list handed out",
            Tokenizer.encode,
            "ids = []\n        for piece in self.pieces(as_text(text)):",
            "ids = self.kept.setdefault((text,), [])\n"
            "        for piece in [] if ids else self.pieces(as_text(text)):",
            "The list that is kept is the very list that is returned: whoever adds to it changes "
            "what `encode` says of this text the next time. Return a copy of what is kept.",
        ),
        Slip(
            "special tokens left out",
            Tokenizer.encode,
            "ids.append(self.specials[piece])",
            "pass",
            "Special tokens are cut out and thrown away: each is one id.",
        ),
        Slip(
            "ends at a special token",
            Tokenizer.encode,
            "continue",
            "break",
            "Everything behind the first special token is lost: go on with the next piece.",
        ),
        Slip(
            "not cut into words",
            Tokenizer.encode,
            "in split_words(piece):",
            "in [piece]:",
            "The text is not cut into words, so merges reach across their borders: no pair of "
            "training did.",
        ),
        Slip(
            "spaces lost",
            Tokenizer.encode,
            "in split_words(piece):",
            "in piece.split():",
            "The text is cut at its spaces and they are gone; split_words keeps them with the "
            "word behind them.",
        ),
        Slip(
            "not merged",
            Tokenizer.encode,
            "self.kept[word] = encode(byte_ids(word), self.merges)",
            "self.kept[word] = byte_ids(word)",
            "The ids are those of the bytes: merge each word by `encode`.",
        ),
        Slip(
            "characters instead of bytes",
            Tokenizer.encode,
            "encode(byte_ids(word), self.merges)",
            "encode([byte_ids(c)[0] if ord(c) < 128 else ord(c) for c in word], self.merges)",
            "A character outside ASCII became one number, its code point. Tokens are made of "
            "bytes: byte_ids gives two or more for it.",
        ),
        Slip(
            "byte values instead of ids",
            Tokenizer.encode,
            "byte_ids(word)",
            "tuple(word.encode('utf-8', 'surrogateescape'))",
            "Byte values are used as ids. The ids of bytes have an order of their own: byte_ids.",
        ),
        Slip(
            "only the different words",
            Tokenizer.encode,
            "in split_words(piece):",
            "in dict.fromkeys(split_words(piece)):",
            "A word that occurs again is left out: keeping the ids of a word saves work, not "
            "tokens.",
        ),
        Slip(
            "decoded token by token",
            Tokenizer.decode,
            'self.decode_bytes(ids).decode("utf-8", errors="replace")',
            '"".join(self.decode_bytes([i]).decode("utf-8", errors="replace") for i in ids)',
            "Each token is read as text by itself, and a character spread over two tokens breaks. "
            "Join all bytes first.",
        ),
        Slip(
            "half a character crashes",
            Tokenizer.decode,
            '.decode("utf-8", errors="replace")',
            ".decode()",
            "Bytes that are no UTF-8 raise an error. A model may stop in the middle of a "
            'character: decode with errors="replace".',
        ),
        Slip(
            "half a character dropped",
            Tokenizer.decode,
            'errors="replace"',
            'errors="ignore"',
            "Bytes that are no UTF-8 vanish without a trace; the replacement character should say "
            "that something was there.",
        ),
        Slip(
            "a space between tokens",
            Tokenizer.decode,
            'self.decode_bytes(ids).decode("utf-8", errors="replace")',
            'b" ".join(self.vocab[i] for i in ids).decode("utf-8", errors="replace")',
            "A space is put between the tokens; the spaces are in the tokens already.",
        ),
    ],
    equivalent={
        "Tokenizer.encode: if word not in self.kept: self.kept[word] = encode(byte_ids(word), "
        "self.merges) -> if True: self.kept[word] = encode(byte_ids(word), self.merges)": "what is "
        "kept saves work only"
    },
)
