"""byte_pairs: merge for merge and id for id beside `tokenizers`; any bytes; the page's results."""

import json
import random
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import pre_tokenizers

from solutions.byte_pairs import count_pairs, encode, merge_pair, train_bpe
from solutions.data.three_scripts import SCRIPTS, tokens_per_character
from solutions.data.tiny_shakespeare import text
from solutions.experiments import kept
from solutions.experiments.byte_pairs import (
    CHARACTERS,
    SEEDS,
    SIZES,
    costs,
    encode_every_word,
    encode_kept_words,
    lengths,
)
from solutions.fast_pairs import merge_in_place, train_fast
from solutions.figures.own_merges import own_merges, steps
from solutions.tokenizer import Tokenizer
from solutions.vocabulary import decode, vocabulary
from solutions.words import (
    BYTES,
    ODD_NUMBERS,
    as_bytes,
    as_text,
    byte_ids,
    count_words,
    split_words,
)
from tests.oracle_byte_pairs import oracle, oracle_merges, written

ODD = "naïve Ångström x² ½ Ⅷ 東京 Ελλάδα ﬁ a_b __ e\u0301 \u00a0\u2003 \u3000 don't I'LL 's\x1c\x85"
TEXTS = {
    "plays": lambda: text()[:120_000],
    "ties only": lambda: "abcd dcba acbd bdca cadb dbac " * 3,
    "runs": lambda: "aaaa aaa aa a bbbbb aab baa aaaaaaaaa " * 5,
    "scripts": lambda: "\n".join(SCRIPTS.values()) + ODD,
    "noise": lambda: random.Random(1).randbytes(4000).decode("utf-8", "replace"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_merges_equal_the_oracles_trained_twice_merge_for_merge(name):
    said = TEXTS[name]()
    theirs = [oracle_merges(oracle(said, 256 + 400)) for _ in range(2)]
    ours = written(train_fast(count_words(said), 400))
    assert ours == theirs[0] == theirs[1]
    assert len(ours) > 10


@pytest.mark.parametrize("name", [n for n in TEXTS if n != "plays"])
def test_both_ways_of_training_learn_the_same_merges_in_the_same_order(name):
    words = count_words(TEXTS[name]())
    assert [*train_bpe(words, 150).items()] == [*train_fast(words, 150).items()]


def test_all_of_shakespeare_to_1024_tokens_and_its_ids_equal_the_oracles():
    made, ours = oracle(text(), 1024), Tokenizer.train(text(), 1024)
    assert written(ours.merges) == oracle_merges(made)
    ids = ours.encode(text())
    assert ids == made.encode(text()).ids
    assert ours.decode(ids) == text()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text("ab\u00e9 ", max_size=8), min_size=1, max_size=12))
def test_merges_of_any_small_text_equal_the_oracles(lines):
    said = "\n".join(lines)
    merges = train_fast(count_words(said), 40)
    assert written(merges) == oracle_merges(oracle(said, 256 + 40))
    assert [*merges.items()] == [*train_bpe(count_words(said), 40).items()]
    assert len(set(vocabulary(merges))) == 256 + len(merges)  # no token is spelled twice


def test_words_are_cut_as_the_oracle_cuts_them_also_around_odd_characters():
    cut = pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str
    known = [c for c in map(chr, range(0x110000)) if unicodedata.category(c)[0] != "C"]
    odd = [c for c in known if unicodedata.category(c) in ("No", "Nl", "Zs", "Zl", "Zp", "Lm")]
    control = [chr(i) for i in [*range(32), 127, 0x85, 0xAD, 0x200B, 0xFEFF]]
    for c in [*odd, *control, *random.Random(0).sample(known, 3000)]:
        said = f"a{c} {c}1 {c}{c}_ .{c}'s{c} "
        assert split_words(said) == [said[i:j] for _, (i, j) in cut(said)], hex(ord(c))
    assert split_words(ODD) == [ODD[i:j] for _, (i, j) in cut(ODD)]


def test_the_odd_numbers_are_all_numbers_that_are_no_decimal_digits():
    named = {c for c in map(chr, range(0x110000)) if unicodedata.category(c) in ("No", "Nl")}
    assert named == ODD_NUMBERS
    assert all(c.isalpha() == (unicodedata.category(c)[0] == "L") for c in map(chr, range(0x20000)))


def test_ids_of_bytes_are_a_permutation_with_the_printed_ones_first():
    assert sorted(BYTES) == list(range(256))
    assert byte_ids("!") == (0,) and byte_ids(" ") == (220,)  # as in GPT-2
    assert bytes(BYTES[i] for i in byte_ids("déjà 東")) == "déjà 東".encode()


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_come_back_as_they_were(data):
    tokenizer = TRAINED
    assert tokenizer.decode_bytes(tokenizer.encode(data)) == data
    assert "".join(split_words(data)) == as_text(data) and as_bytes(as_text(data)) == data
    assert tokenizer.decode(tokenizer.encode(data)) == data.decode("utf-8", "replace")


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40))
def test_any_text_has_the_oracles_ids(said):
    if all(unicodedata.category(c) != "Cn" for c in said):  # younger than Python's tables
        assert TRAINED.encode(said) == ORACLE.encode(said).ids


TRAINED = Tokenizer.train(text()[:60_000], 600)
ORACLE = oracle(text()[:60_000], 600)
SPECIALS = ["<|end|>", "<|end|>more", "<|user|>"]


@pytest.mark.parametrize(
    "said",
    ["<|end|>", "to be<|end|>or<|user|><|end|> not ", "<|end|>more<|end|>mor", "<|en|> <|end| >"],
)
def test_special_tokens_are_one_id_each_wherever_they_stand(said):
    ours = Tokenizer.train(text()[:30_000], 400 + len(SPECIALS), SPECIALS)
    made = oracle(text()[:30_000], 400 + len(SPECIALS), SPECIALS)
    assert ours.n_vocab == 403 == len(ours.vocab)
    assert written(ours.merges) == oracle_merges(made)
    # the oracle numbers special tokens first, we number them last
    moved = [i - 3 if i >= 3 else i + 400 for i in made.encode(said).ids]
    assert ours.encode(said) == moved
    assert ours.decode(ours.encode(said)) == said


def test_special_tokens_in_the_training_text_are_not_learned_from():
    said = "to be or not to be "
    with_ends = "<|end|>".join([said] * 20)
    assert Tokenizer.train(with_ends, 270, ["<|end|>"]).merges == train_fast(
        {w: 20 * n for w, n in count_words(said).items()}, 13
    )


def test_a_vocabulary_smaller_than_its_bytes_and_specials_is_refused():
    with pytest.raises(ValueError, match="take 258 ids already"):
        Tokenizer.train("text", 257, ["<|a|>", "<|b|>"])


def test_a_saved_tokeniser_is_the_same_when_loaded(tmp_path):
    before = Tokenizer(TRAINED.merges, SPECIALS)
    before.save(tmp_path / "tokenizer.json")
    after = Tokenizer.load(tmp_path / "tokenizer.json")
    assert (after.merges, after.specials, after.n_vocab) == (
        before.merges,
        before.specials,
        before.n_vocab,
    )
    said = "What, ho!<|user|>Who's there?<|end|>"
    assert after.encode(said) == before.encode(said)


def test_changes_of_a_merge_in_place_are_the_difference_of_two_counts():
    draw = random.Random(3)
    for _ in range(300):
        ids = tuple(draw.choice((0, 1, 2)) for _ in range(draw.randint(2, 9)))
        pair = ids[:2] if draw.random() < 0.7 else (0, 0)
        after, changed = list(ids), dict(count_pairs({ids: 1}))
        for other, n in merge_in_place(after, pair, 256):
            changed[other] = changed.get(other, 0) + n
        assert tuple(after) == merge_pair(ids, pair, 256)
        truth = count_pairs({tuple(after): 1})
        changed.pop(pair, None)  # the merged pair itself is never looked at again
        assert {p: n for p, n in changed.items() if n} == truth


def test_encoding_a_training_word_gives_what_training_made_of_it():
    words = count_words(text()[:20_000])
    merges = train_bpe(words, 60)
    for ids in list(words)[:400]:
        replayed = ids
        for pair, new_id in merges.items():
            replayed = merge_pair(replayed, pair, new_id)
        assert encode(ids, merges) == replayed
        assert decode(replayed, vocabulary(merges)) == bytes(BYTES[i] for i in ids)


def test_the_text_is_whole():
    assert len(text()) == 1_115_394 and text().isascii()
    assert text().startswith("First Citizen:\nBefore we proceed")


def test_the_figure_and_the_training_agree_on_merges_and_ties():
    assert steps("she sells sea shells", 2) == [("␣ + s", 3, 1), ("e + l", 2, 5)]
    figure = own_merges()
    assert json.dumps(figure.data) and figure.still.startswith(b"\x89PNG")


def test_encoding_kept_words_gives_the_same_ids():
    said, merges = text()[:20_000], TRAINED.merges
    assert encode_every_word(said, merges) == encode_kept_words(said, merges)
    assert encode_every_word(said, merges) == TRAINED.encode(said)


def test_a_larger_vocabulary_makes_longer_tokens_and_ever_less_of_it():
    for seed in SEEDS:
        found = kept(lengths, seed=seed)
        size = found["bytes per token"]
        assert size[0] == 1 and all(a < b for a, b in zip(size, size[1:], strict=False))  # noqa: RUF007
        steps_up = [b - a for a, b in zip(size, size[1:], strict=False)]  # noqa: RUF007
        assert steps_up[-1] < steps_up[0] / 2
        assert 2.2 < size[SIZES.index(1024)] < 2.7
        assert found["unknown"][-1] > 0.03  # a list of as many words still lacks some


def test_merges_touch_few_words_so_that_training_in_place_does_little():
    words = count_words(text()[:20_000])
    spelled, touched = list(words), 0
    for pair, new_id in train_fast(words, 128).items():
        merged = [merge_pair(ids, pair, new_id) for ids in spelled]
        touched += sum(a != b for a, b in zip(spelled, merged, strict=True))
        spelled = merged
    assert touched < len(words) * 128 / 20  # of all that the plain way looks at


def test_costs_are_measured_for_both_ways_and_every_size():
    found = kept(costs)
    assert set(found) == {"plain", "in place", "every word", "kept words"}
    assert all(len(times) == len(CHARACTERS) for times in found.values())
    longest = {name: times[-1] for name, times in found.items()}
    assert longest["plain"] > 5 * longest["in place"]  # about 25 times, and growing
    assert longest["every word"] > 1.5 * longest["kept words"]  # about 4 times


def test_english_is_cheapest_for_merges_learned_from_english():
    for seed in range(20):
        cost = tokens_per_character(train_fast, encode, seed)
        assert cost["French"] > 1.25 * cost["English"] and cost["Greek"] > 2 * cost["French"]
