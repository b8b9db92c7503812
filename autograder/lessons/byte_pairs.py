"""byte_pairs: counting and merging pairs, learning merges, encoding by rank, the tokeniser."""

import torch

from autograder.exercise import ARGUMENTS, Case, Choice, Conclusion, Draw, Exercise
from autograder.puzzle import Puzzle
from autograder.slips import Slip, patched
from solutions.byte_pairs import count_pairs, encode, merge_pair, train_bpe
from solutions.tokenizer import Tokenizer
from solutions.words import byte_ids, count_words


def _word(d: Draw, longest: int = 7, letters: int = 3) -> tuple[int, ...]:
    """Draw a word over few letters, 0 among them, so that pairs repeat, overlap and tie."""
    return tuple(d.random.choice((0, 7, 31, 120, 255)[:letters]) for _ in range(longest))


def _words(d: Draw, n: int = 8, letters: int = 3) -> dict[tuple[int, ...], int]:
    """Draw words of different lengths, each with how often it occurs."""
    drawn = [_word(d, d.random.randint(1, 7), letters) for _ in range(n)]
    return {word: d.random.randint(1, 4) for word in drawn}


def _counted(own, name, words):
    """Count pairs, and see whether the words are left as they were."""
    given = dict(words)
    return {"result": own.count_pairs(given), "inputs": list(given.items())}


COUNT = Exercise(
    count_pairs,
    parts={"pairs": 5, "how often": 3, ARGUMENTS: 2},
    cases=[
        Case("pairs", "one word, once", lambda d: ({_word(d): 1},), _counted),
        Case("pairs", "a run of one letter", lambda d: ({(7, 7, 7, 7): 1},), _counted),
        Case("pairs", "two words", lambda d: ({(1, 2): 1, (3, 4): 1},), _counted),
        Case("pairs", "words of one letter", lambda d: ({(1,): 3, (2,): 1},), _counted),
        Case("pairs", "no words", lambda d: ({},), _counted),
        Case("how often", "words that occur several times", lambda d: (_words(d),), _counted),
        Case("how often", "one word, many times", lambda d: ({(5, 6, 5): 40},), _counted),
    ],
    slips=[
        Slip(
            "each word counted once",
            count_pairs,
            "+= n",
            "+= 1",
            "Every word counts once. A word that occurs n times brings each of its pairs n times.",
        ),
        Slip(
            "pairs across word borders",
            count_pairs,
            "for ids, n in words.items():",
            "for ids, n in [(sum(([*w] * n for w, n in words.items()), []), 1)]:",
            "A pair reaches from the end of one word into the next: count inside each word only.",
        ),
        Slip(
            "overlapping pairs left out",
            count_pairs,
            "pairwise(ids)",
            "zip(ids[::2], ids[1::2], strict=False)",
            "The word is cut into pairs side by side. Every two neighbours are a pair: the second "
            "token of one pair is the first of the next.",
        ),
        Slip(
            "each pair once a word",
            count_pairs,
            "in pairwise(ids)",
            "in set(pairwise(ids))",
            "A pair that stands in a word twice counts twice; a set has forgotten how often.",
        ),
        Slip(
            "order of the pair lost",
            count_pairs,
            "counts[pair] += n",
            "counts[tuple(sorted(pair))] += n",
            "(a, b) and (b, a) are two pairs: keep the order of the two ids.",
        ),
        Slip(
            "last pair forgotten",
            count_pairs,
            "pairwise(ids)",
            "zip(ids[:-1], ids[1:-1], strict=False)",
            "The last pair of every word is missing: a word of n tokens has n - 1 pairs.",
        ),
        Slip(
            "tokens counted, not pairs",
            count_pairs,
            "in pairwise(ids)",
            "in ids",
            "Single tokens are counted; what may be merged are two neighbours.",
        ),
        Slip(
            "overwritten, not added",
            count_pairs,
            "+= n",
            "= n",
            "The count of a pair is overwritten by the last word that holds it: add up.",
        ),
    ],
)


def _merged(own, name, ids, pair, new_id):
    """Merge; a list is as good as a tuple."""
    given = list(ids) if isinstance(ids, list) else ids
    result = own.merge_pair(given, pair, new_id)
    result = list(result) if isinstance(result, list | tuple) else result
    return {"result": result, "inputs": list(given)}


def _some_pair(d: Draw) -> tuple:
    ids = _word(d, 9)
    at = d.random.randrange(8)
    return ids, ids[at : at + 2], 256 + d.random.randrange(50)


MERGE = Exercise(
    merge_pair,
    parts={"values": 6, "overlaps": 4, ARGUMENTS: 2},
    cases=[
        Case("values", "a word", _some_pair, _merged),
        Case("values", "a pair at both ends", lambda d: ((1, 2, 9, 1, 2), (1, 2), 300), _merged),
        Case("values", "a pair beside itself", lambda d: ((1, 2, 1, 2, 1), (1, 2), 256), _merged),
        Case("values", "a pair that is not there", lambda d: ((2, 1, 3), (1, 2), 256), _merged),
        Case("values", "the two ids apart", lambda d: ((1, 3, 2), (1, 2), 256), _merged),
        Case(
            "values",
            "ids with the same digits",
            lambda d: ((31, 2, 1, 25, 1, 2), (1, 2), 256),
            _merged,
        ),
        Case("values", "a single token", lambda d: ((4,), (4, 4), 256), _merged),
        Case("values", "no tokens", lambda d: ((), (4, 4), 256), _merged),
        Case("values", "merged tokens", lambda d: ((300, 0, 300, 0), (300, 0), 301), _merged),
        Case("overlaps", "three equal tokens", lambda d: ((5, 5, 5), (5, 5), 256), _merged),
        Case("overlaps", "five, then another", lambda d: ((5,) * 5 + (7,), (5, 5), 260), _merged),
        Case("overlaps", "a list", lambda d: ([0, 0, 0, 0, 9, 0], (0, 0), 256), _merged),
        Case("values", "a list of ids", lambda d: ([3, 1, 2, 2], (1, 2), 256), _merged),
    ],
    slips=[
        Slip(
            "overlapping merges",
            merge_pair,
            "    merged = []\n    for i in ids:\n        if merged and (merged[-1], i) == pair:\n"
            "            merged[-1] = new_id\n        else:\n            merged.append(i)",
            "    merged, last = [], False\n    for k, i in enumerate(ids):\n        if tuple("
            "ids[k : k + 2]) == pair:\n            merged.append(new_id)\n        elif k == 0 or "
            "tuple(ids[k - 1 : k + 1]) != pair:\n            merged.append(i)",
            "In a run such as a a a the middle token is merged twice. After a merge go on behind "
            "both tokens: a token takes part in one merge only.",
        ),
        Slip(
            "right half left behind",
            merge_pair,
            "    merged = []\n    for i in ids:\n        if merged and (merged[-1], i) == pair:\n"
            "            merged[-1] = new_id\n        else:\n            merged.append(i)",
            "    merged = []\n    for k, i in enumerate(ids):\n        if tuple(ids[k : k + 2]) == "
            "pair:\n            merged.append(new_id)\n        else:\n            merged.append(i)",
            "The second token of a merged pair is still there: new_id takes the place of both, so "
            "go on two places further.",
        ),
        Slip(
            "first place only",
            merge_pair,
            "if merged and (merged[-1], i) == pair:",
            "if merged and (merged[-1], i) == pair and new_id not in merged:",
            "Only the first place is merged; every place of the pair has to be.",
        ),
        Slip(
            "from right to left",
            merge_pair,
            "    for i in ids:\n        if merged and (merged[-1], i) == pair:\n"
            "            merged[-1] = new_id\n        else:\n            merged.append(i)\n"
            "    return tuple(merged)",
            "    for i in ids[::-1]:\n        if merged and (i, merged[-1]) == pair:\n"
            "            merged[-1] = new_id\n        else:\n            merged.append(i)\n"
            "    return tuple(merged[::-1])",
            "Runs are merged from the right: of a a a the first two become one token, not the "
            "last two.",
        ),
        Slip(
            "either order",
            merge_pair,
            "(merged[-1], i) == pair",
            "{merged[-1], i} == {*pair}",
            "(b, a) is merged as well; only (a, b) in this order is the pair.",
        ),
        Slip(
            "last token lost",
            merge_pair,
            "for i in ids:",
            "for i in ids[:-1] if tuple(ids[-2:]) != pair else ids:",
            "The last token is lost where it is not part of the pair: it has no right neighbour, "
            "but it stays.",
        ),
        Slip(
            "the pair left out",
            merge_pair,
            "    return tuple(merged)",
            "    return tuple(i for i in merged if i != new_id)",
            "The pair is taken out, but nothing is put in its place: new_id belongs there.",
        ),
        Slip(
            "new id beside the pair",
            merge_pair,
            "merged[-1] = new_id",
            "merged += [i, new_id]",
            "The pair is still there beside new_id: new_id takes its place.",
        ),
    ],
    equivalent={"merge_pair: tuple(merged) -> merged": "a list is accepted as well"},
)


def _learned(own, name, words, n_merges, tie=None):
    """Learn merges, in order; a tie rule is named, since functions do not cross the wall."""
    given = dict(words)
    rules = {
        "max": max,
        "by second id": lambda pairs: min(pairs, key=lambda pair: pair[::-1]),
        "the middle one": lambda pairs: sorted(pairs)[len(pairs) // 2],  # it needs a list
    }
    result = own.train_bpe(given, n_merges, **({"tie": rules[tie]} if tie else {}))
    result = list(result.items()) if isinstance(result, dict) else result
    return {"result": result, "inputs": list(given.items())}


_TIES = {(9, 8): 2, (8, 9): 2, (7, 200): 2, (200, 3): 2}

TRAIN = Exercise(
    train_bpe,
    parts={"merges": 9, "ties": 5, "the end": 2, ARGUMENTS: 2},
    cases=[
        Case("merges", "a few words", lambda d: (_words(d, 12), 5), _learned),
        Case("merges", "more letters", lambda d: (_words(d, 20, 5), 8), _learned),
        Case("merges", "one merge", lambda d: (_words(d, 12), 1), _learned),
        Case(
            "merges",
            "a text",
            lambda d: (count_words("low lower lowest slow slower new newer newest "), 12),
            _learned,
        ),
        Case(
            "merges",
            "a frequent word decides",
            lambda d: ({(1, 2): 1, (1, 2, 9): 1, (3, 4): 9, (1, 4): 4}, 4),
            _learned,
        ),
        Case("ties", "all pairs equally frequent", lambda d: (_TIES, 4), _learned),
        Case(
            "ties",
            "a tie with a new token",
            lambda d: ({(5, 6, 4): 2, (5, 6): 1, (7, 8): 2}, 3),
            _learned,
        ),
        Case("ties", "the largest pair", lambda d: (_TIES, 4, "max"), _learned),
        Case("ties", "by the second id", lambda d: (_words(d, 9), 5, "by second id"), _learned),
        Case("ties", "the middle one", lambda d: (_TIES, 4, "the middle one"), _learned),
        Case("the end", "no pair left", lambda d: ({(1, 2, 3): 1, (4,): 2}, 9), _learned),
        Case("the end", "no merges asked for", lambda d: (_words(d, 3), 0), _learned),
        Case("the end", "no words at all", lambda d: ({}, 3), _learned),
    ],
    slips=[
        Slip(
            "ties broken by first seen",
            train_bpe,
            "tie([p for p, n in counts.items() if n == most])",
            "max(counts, key=counts.get)",
            "Of equally frequent pairs the one seen first wins, so the result depends on the order "
            "of the words. Give all of them to `tie`.",
        ),
        Slip(
            "the tie rule is not used",
            train_bpe,
            "tie([p for p, n in counts.items() if n == most])",
            "min(p for p, n in counts.items() if n == most)",
            "The smallest pair is taken whatever `tie` says: call `tie` with the list of pairs.",
        ),
        Slip(
            "largest pair wins",
            train_bpe,
            "tie([p for p, n in counts.items() if n == most])",
            "max((n, p) for p, n in counts.items())[1]",
            "Of equally frequent pairs the largest is taken (max over (count, pair) does that). "
            "Give them to `tie`, which is `min` if nobody says otherwise.",
        ),
        Slip(
            "new ids from 0",
            train_bpe,
            "merges[pair] = new_id",
            "merges[pair] = new_id - 256",
            "New ids begin at 0, where the bytes are: the first is 256.",
        ),
        Slip(
            "new ids from 257",
            train_bpe,
            "range(256, 256 + n_merges)",
            "range(257, 257 + n_merges)",
            "The bytes have the ids 0 to 255, so the first new id is 256.",
        ),
        Slip(
            "counted only once",
            train_bpe,
            "        words = {merge_pair(ids, pair, new_id): n for ids, n in words.items()}",
            "        words = {(*p, -1, k): n for k, (p, n) in enumerate(counts.items()) if p != "
            "pair and k not in p and -1 not in p}",
            "Pairs were counted at the beginning only: after a merge the words are others, and new "
            "pairs with the new token have to be counted.",
        ),
        Slip(
            "rarest pair",
            train_bpe,
            "most = max(counts.values())",
            "most = min(counts.values())",
            "The rarest pair is merged; it should be the most frequent.",
        ),
        Slip(
            "how often is forgotten",
            train_bpe,
            "new_id): n for ids, n in words.items()}",
            "new_id): 1 for ids, n in words.items()}",
            "After the first merge every word counts once: carry along how often it occurs.",
        ),
        Slip(
            "rare pairs never merged",
            train_bpe,
            "if not counts:",
            "if not counts or max(counts.values()) < 2:",
            "The merges end as soon as every pair occurs once. Nobody asked for that: go on while "
            "there are pairs.",
        ),
        Slip(
            "one merge too few",
            train_bpe,
            "range(256, 256 + n_merges)",
            "range(256, 255 + n_merges)",
            "There is one merge too few: n_merges of them, from 256 to 255 + n_merges.",
        ),
        Slip(
            "counts of the words forgotten",
            train_bpe,
            "counts = count_pairs(words)",
            "counts = count_pairs({ids: 1 for ids in words})",
            "Every word counts once: hand count_pairs the words with how often they occur.",
        ),
    ],
)


def _encoded(own, name, ids, merges):
    """Encode one word; a list is as good as a tuple."""
    given = list(ids) if isinstance(ids, list) else ids
    ranks = dict(merges)
    result = own.encode(given, ranks)
    result = list(result) if isinstance(result, list | tuple) else result
    return {"result": result, "inputs": [list(given), list(ranks.items())]}


def _trained(longest: int, n_merges: int = 12):
    def draw(d):
        return _word(d, longest), train_bpe(_words(d, 14), n_merges)

    return draw


_RANKS = {(2, 3): 256, (1, 2): 257, (3, 4): 258, (256, 4): 259}

ENCODE = Exercise(
    encode,
    parts={"order of the merges": 9, "all occurrences": 3, "small words": 3},
    cases=[
        Case("order of the merges", "learned merges", _trained(8), _encoded),
        Case("order of the merges", "a long word", _trained(40, 20), _encoded),
        Case(
            "order of the merges",
            "the later pair stands first",
            lambda d: ((1, 2, 3), _RANKS),
            _encoded,
        ),
        Case("order of the merges", "a chain", lambda d: ((1, 2, 3, 4, 9), _RANKS), _encoded),
        Case(
            "order of the merges",
            "down to one token",
            lambda d: ((1, 2, 3), {(2, 3): 256, (1, 2): 257, (1, 256): 258}),
            _encoded,
        ),
        Case("order of the merges", "a list", lambda d: ([1, 2, 3, 4, 2], _RANKS), _encoded),
        Case(
            "order of the merges",
            "a longer token that training would not make",
            lambda d: ((1, 2, 3), {(1, 2): 256, (2, 3): 257, (256, 9): 258, (1, 257): 259}),
            _encoded,
        ),
        Case("all occurrences", "a pair twice", lambda d: ((2, 3, 7, 2, 3), _RANKS), _encoded),
        Case(
            "all occurrences",
            "a run of one letter",
            lambda d: ((5,) * 7, {(5, 5): 256, (256, 256): 257, (257, 256): 258}),
            _encoded,
        ),
        Case("small words", "two tokens", lambda d: ((2, 3), _RANKS), _encoded),
        Case("small words", "one token", lambda d: ((9,), _RANKS), _encoded),
        Case("small words", "no token", lambda d: ((), _RANKS), _encoded),
        Case("small words", "no merges", lambda d: (_word(d), {}), _encoded),
        Case("small words", "nothing to merge", lambda d: ((9, 8, 7), _RANKS), _encoded),
    ],
    slips=[
        Slip(
            "from left to right",
            encode,
            "min(pairs, key=merges.get)",
            "pairs[0]",
            "The leftmost pair that can be merged is merged. Training merged the earliest learned "
            "pair first: take the pair with the smallest new id.",
        ),
        Slip(
            "merges taken out",
            encode,
            "merges[first]",
            "merges.pop(first)",
            "Every merge that is used is taken out of `merges`: the next word is encoded without "
            "it. Leave the dictionary as it is.",
        ),
        Slip(
            "too few rounds",
            encode,
            "for _ in ids[1:]:",
            "for _ in ids[1::2]:",
            "Merging stops too early: a word of n ids may take n - 1 merges. Go on until it holds "
            "no pair of merges.",
        ),
        Slip(
            "latest merge first",
            encode,
            "min(pairs, key=merges.get)",
            "max(pairs, key=merges.get)",
            "The latest learned pair is merged first; the earliest comes first, as in training.",
        ),
        Slip(
            "smallest pair of ids first",
            encode,
            "min(pairs, key=merges.get)",
            "min(pairs)",
            "Pairs are ordered by their own ids: what counts is when a pair was learned, its new "
            "id.",
        ),
        Slip(
            "most frequent in the word first",
            encode,
            "min(pairs, key=merges.get)",
            "max(pairs, key=pairs.count)",
            "The pair that is most frequent in this word is merged first. Nothing is counted when "
            "encoding: the order was learned.",
        ),
        Slip(
            "one merge only",
            encode,
            "for _ in ids[1:]:",
            "for _ in ids[1:2]:",
            "After one merge the word is returned: look again, until no pair is in merges.",
        ),
        Slip(
            "longest match",
            encode,
            "    for _ in ids[1:]:  # a merge shortens the word, so there are no more than this\n"
            "        pairs = [pair for pair in pairwise(ids) if pair in merges]\n"
            "        if not pairs:\n            break\n"
            "        first = min(pairs, key=merges.get)\n"
            "        ids = merge_pair(ids, first, merges[first])\n    return ids",
            "    made = {i: (i,) for i in range(256)}\n"
            "    for a, b in merges: made[merges[a, b]] = made[a] + made[b]\n    out = []\n"
            "    while ids:\n"
            "        best = max((i for i in made if ids[: len(made[i])] == made[i]),"
            " key=lambda i: len(made[i]))\n"
            "        ids = out.append(best) or ids[len(made[best]) :]\n    return tuple(out)",
            "The longest token that fits is taken from the left. That needs no merges, but it is "
            "another rule: replay the merges in the order learned.",
        ),
        Slip(
            "new id is the rank",
            encode,
            "merge_pair(ids, first, merges[first])",
            "merge_pair(ids, first, 256 + pairs.index(first))",
            "The new id is counted in this word: it is merges[pair].",
        ),
    ],
    equivalent={
        "encode: ids = tuple(ids) -> pass": "a list is merged as well",
        "encode: tuple(ids) -> ids": "a list is merged as well",
        "encode: ids[1:] -> ids": "one round more finds nothing left to merge",
        "encode: ids[1:] -> ids[0:]": "one round more finds nothing left to merge",
        "encode: ids[1:] -> ids[:]": "one round more finds nothing left to merge",
    },
)


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


TOKENIZER = Exercise(
    Tokenizer,
    parts={"encode": 7, "special tokens": 5, "any bytes": 4, "decode": 4},
    cases=[
        Case("encode", "two lines", lambda d: (_MERGES, (), _line(d)), _tokenised),
        Case(
            "encode", "characters of several bytes", lambda d: (_MERGES, (), _LINES[3]), _tokenised
        ),
        Case("encode", "spaces", lambda d: (_MERGES, (), " the   the\n\nthe  "), _tokenised),
        Case("encode", "no text", lambda d: (_MERGES, _END, ""), _tokenised),
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


PUZZLE_WORDS = ("low", "lower", "slowest", "wow")


def puzzle() -> Puzzle:
    """How many bytes come back from four words, where a merge leaves its right half behind."""
    own = patched(next(s for s in MERGE.slips if s.name == "right half left behind"))
    words = {byte_ids(word): 5 - i for i, word in enumerate(PUZZLE_WORDS)}
    merges, columns = own["train_bpe"](words, 5), []
    for n in range(6):
        some = dict([*merges.items()][:n])
        vocab = Tokenizer(some).vocab
        columns.append([sum(len(vocab[i]) for i in own["encode"](w, some)) for w in words])
    title = "bytes of decode(encode(word))"
    return Puzzle(torch.tensor(columns).float().T, title, "word", "merges used")


WHICH_LINE = Choice(
    "which_line",
    points=7,
    right="c",
    answers={
        "a": "Merges learned from the rarest pairs are poor ones, but each token still spells its "
        "two halves: the way back would be exact.",
        "b": "Merging in another order gives other tokens, and decoding them gives the same "
        "bytes: any row of merges can be undone.",
        "c": "The text has grown, so a byte was written twice. Every token spells its two halves, "
        "so only a merge that leaves one of them standing can do that: column by column, each new "
        "merge adds the bytes of its right half once more.",
        "d": "Counted across borders, pairs such as (w, l), from the end of *low* to the start of "
        "*lower*, would be learned. They are useless inside words, but the way back would be "
        "exact.",
    },
)


def _tokens_per_character(own, seed):
    """Learn merges from English with the code under test, and encode three languages."""
    from solutions.data.three_scripts import tokens_per_character

    return tokens_per_character(own.train_bpe, own.encode, seed)


def _who_pays(measured: dict) -> str:
    english, french, greek = (measured[name] for name in ("English", "French", "Greek"))
    if greek > 1.2 * french and french > 1.15 * english:
        return "b"
    if greek > 1.2 * max(french, english):
        return "c"
    return "a" if max(english, french, greek) < 1.2 * min(english, french, greek) else "d"


WHO_PAYS = Conclusion(
    "who_pays",
    points=8,
    probe=_tokens_per_character,
    inputs=(0,),
    decide=_who_pays,
    measures=[train_bpe, encode],
    answers={
        letter: "With {whose} code: {English:.2f} tokens for each character of English, "
        "{French:.2f} of French, {Greek:.2f} of Greek."
        for letter in "abcd"
    },
)

QUESTIONS = [COUNT, MERGE, TRAIN, ENCODE, TOKENIZER, WHICH_LINE, WHO_PAYS]
