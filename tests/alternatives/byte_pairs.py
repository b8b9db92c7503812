"""Other right answers to the exercises of byte_pairs: each must get full marks."""

from collections import Counter, defaultdict

from solutions.byte_pairs import count_pairs, encode, merge_pair
from solutions.fast_pairs import merge_in_place
from solutions.tokenizer import Tokenizer
from solutions.words import as_text, byte_ids, split_words


def count_pairs__places(words):
    counts = {}
    for ids, n in words.items():
        for i in range(len(ids) - 1):
            pair = ids[i], ids[i + 1]
            counts[pair] = counts.get(pair, 0) + n
    return counts


def count_pairs__zip_and_defaultdict(words):
    counts = defaultdict(int)
    for ids in words:
        for a, b in zip(ids, ids[1:], strict=False):  # noqa: RUF007
            counts[a, b] += words[ids]
    return dict(counts)


def count_pairs__counter_as_it_is(words):
    counts = Counter()
    for ids, n in words.items():
        for pair in zip(ids, ids[1:], strict=False):  # noqa: RUF007
            counts[pair] += n
    return counts


def count_pairs__defaultdict_as_it_is(words):
    counts = defaultdict(int)
    for ids, n in words.items():
        for i in range(1, len(ids)):
            counts[ids[i - 1], ids[i]] += n
    return counts


def count_pairs__written_out(words):
    return dict(
        Counter(
            pair
            for ids, n in words.items()
            for _ in range(n)
            for pair in zip(ids[:-1], ids[1:], strict=True)  # noqa: RUF007
        )
    )


def merge_pair__places(ids, pair, new_id):
    merged, i = [], 0
    while i < len(ids):
        if i + 1 < len(ids) and ids[i] == pair[0] and ids[i + 1] == pair[1]:
            merged.append(new_id)
            i += 2
        else:
            merged.append(ids[i])
            i += 1
    return merged


def merge_pair__slices_of_a_copy(ids, pair, new_id):
    ids, i = list(ids), 0
    while i < len(ids) - 1:
        if tuple(ids[i : i + 2]) == tuple(pair):
            ids[i : i + 2] = [new_id]
        i += 1
    return tuple(ids)


def merge_pair__recursion(ids, pair, new_id):
    if len(ids) < 2:
        return tuple(ids)
    if (ids[0], ids[1]) == pair:
        return (new_id, *merge_pair__recursion(ids[2:], pair, new_id))
    return (ids[0], *merge_pair__recursion(ids[1:], pair, new_id))


def merge_pair__in_place_of_a_copy(ids, pair, new_id):
    ids = list(ids)
    merge_in_place(ids, pair, new_id)
    return ids


def train_bpe__while(words, n_merges, tie=min):
    merges, words = {}, dict(words)
    while len(merges) < n_merges:
        counts = count_pairs(words)
        if len(counts) == 0:
            return merges
        top = max(counts.values())
        best = tie([pair for pair in counts if counts[pair] == top])
        merges[best] = 256 + len(merges)
        words = {tuple(merge_pair(w, best, merges[best])): words[w] for w in words}
    return merges


def train_bpe__pairs_by_count(words, n_merges, tie=min):
    spelled, times, merges = [*words], [*words.values()], {}
    for step in range(n_merges):
        by_count = defaultdict(list)
        counted = Counter()
        for ids, n in zip(spelled, times, strict=True):
            for i in range(1, len(ids)):
                counted[ids[i - 1], ids[i]] += n
        for pair, n in counted.items():
            by_count[n].append(pair)
        if not by_count:
            break
        pair = tie(sorted(by_count[max(by_count)]))
        merges[pair] = 256 + step
        spelled = [merge_pair(ids, pair, 256 + step) for ids in spelled]
    return merges


def encode__every_merge_in_turn(ids, merges):
    for pair, new_id in merges.items():
        ids = merge_pair(ids, pair, new_id)
    return ids


def encode__one_place_at_a_time(ids, merges):
    ids = list(ids)
    while True:
        places = [
            (merges[ids[i], ids[i + 1]], i)
            for i in range(len(ids) - 1)
            if (ids[i], ids[i + 1]) in merges
        ]
        if not places:
            return ids
        new_id, i = min(places)
        ids[i : i + 2] = [new_id]


def encode__rank_or_infinity(ids, merges):
    while len(ids) > 1:
        pairs = [(ids[i], ids[i + 1]) for i in range(len(ids) - 1)]
        pair = min(pairs, key=lambda pair: merges.get(pair, float("inf")))
        if pair not in merges:
            break
        ids = merge_pair(ids, pair, merges[pair])
    return list(ids)


class Tokenizer__nothing_kept(Tokenizer):
    def encode(self, text):
        ids = []
        for piece in self.pieces(as_text(text)):
            if piece in self.specials:
                ids += [self.specials[piece]]
            else:
                for word in split_words(piece):
                    ids.extend(encode(byte_ids(word), self.merges))
        return ids

    def decode(self, ids):
        return b"".join([self.vocab[i] for i in ids]).decode(errors="replace")


class Tokenizer__one_expression(Tokenizer):
    def encode(self, text):
        return [
            i
            for piece in self.pieces(as_text(text))
            for i in (
                [self.specials[piece]]
                if piece in self.specials
                else [i for word in split_words(piece) for i in self._word(word)]
            )
        ]

    def _word(self, word):
        return self.kept.setdefault(word, encode(byte_ids(word), self.merges))

    def decode(self, ids):
        text = bytearray()
        for i in ids:
            text += self.vocab[i]
        return text.decode("utf-8", "replace")


class Tokenizer__found_by_hand(Tokenizer):
    def encode(self, text):
        ids, rest = [], as_text(text)
        while rest:
            places = [(rest.find(s), -len(s), s) for s in self.specials if s in rest]
            at, _, special = min(places, default=(len(rest), 0, ""))
            for word in split_words(rest[:at]):
                ids += encode(byte_ids(word), self.merges)
            if special:
                ids.append(self.specials[special])
            rest = rest[at + len(special) :]
        return ids

    def decode(self, ids):
        return str(self.decode_bytes(ids), "utf-8", "replace")
