"""Attention in a translator: the pieces, the data, and the results that the page rests on."""

import pytest
import torch
from torch import nn

from solutions.alignment import (
    AttentionDecoder,
    Seq2Seq,
    additive_scores,
    context,
    dot_scores,
    masked_softmax,
)
from solutions.data.tiny_french import (
    ENGLISH,
    EOS,
    FRENCH,
    JANE,
    MAX_WORDS,
    PAD,
    SOS,
    draw_pairs,
    encode,
    held_out,
    read,
    sentence,
    vowel,
)
from solutions.data.tiny_french_words import AFTER, BEFORE, NOUNS, table
from solutions.encoder import Encoder, reverse
from solutions.experiments import alignment as runs
from solutions.experiments import kept
from solutions.studies.echo import compare_memories
from solutions.studies.translation import batches, exact_matches, look, maxima, translation_loss

NOUN_WORDS = {row[0] for text in NOUNS.values() for row in table(text)}
BANDS = {"3-6": (3, 6), "7-9": (7, 9), "10-13": (10, 13), "14-16": (14, 16)}


def small(**options):
    torch.manual_seed(0)
    return Seq2Seq(len(FRENCH), len(ENGLISH), n_embd=5, n_hidden=6, **options)


# the data


class Scripted:
    """A random source that takes what it is told: numbers in turn, and options by their words."""

    def __init__(self, numbers, wanted):
        self.numbers, self.wanted = iter(numbers), wanted

    def random(self):
        return next(self.numbers)

    def choice(self, options):
        return next(o for o in options if self.wanted & ({o} if isinstance(o, str) else set(o)))

    def choices(self, options, weights):
        return [next(o for o in options if o in self.wanted)]


def test_jane_is_in_the_language_and_kept_for_testing():
    wanted = {"Jane", "place", "visite", "l' Afrique", "en septembre"}
    assert sentence(Scripted([0.0, 0.0, 0.9, 0.0, 0.9], wanted)) == JANE and held_out(JANE)
    assert " ".join(JANE.french) == "Jane visite l' Afrique en septembre"
    assert " ".join(JANE.french[i] for i in JANE.source) == "Jane visite Afrique en septembre"


def test_no_sentence_is_in_both_parts_whatever_the_seeds():
    training = {p.french for seed in (0, 1) for p in draw_pairs(2000, seed)}
    test = {p.french for seed in (0, 1) for p in draw_pairs(1000, seed, test=True)}
    assert not training & test


def test_the_same_seed_draws_the_same_pairs_and_all_of_them_differ():
    first = draw_pairs(1000, 3)
    assert first == draw_pairs(1000, 3) and first != draw_pairs(1000, 4)
    assert len({p.french for p in first}) == 1000


def test_every_english_word_comes_from_a_french_word_that_means_it():
    meanings = {}
    for pair in draw_pairs(5000):
        assert 3 <= len(pair.french) <= MAX_WORDS and len(pair.english) <= MAX_WORDS
        assert len(pair.source) == len(pair.english)
        for word, place in zip(pair.english, pair.source, strict=True):
            meanings.setdefault(pair.french[place], set()).add(word)
    few = {"a", "an", "the", "'s", "in", "this"}
    several = {french for french, english in meanings.items() if len(english - few) > 1}
    assert several == {"porte", "garde", "gagne", "monte", "tape", "prépare"}
    assert meanings["porte"] == {"wears", "carries"} and meanings["garde"] == {"minds", "keeps"}
    assert meanings["livre"] == {"book"} and meanings["du"] == {"the", "'s"}


def test_what_a_verb_means_is_decided_by_the_noun_after_it():
    clothes = {row[0] for row in table(NOUNS["clothes"])}
    for pair in draw_pairs(3000):
        for at in (i for i, word in enumerate(pair.french) if word == "porte"):
            noun = next(w for w in pair.french[at:] if w in NOUN_WORDS)
            english = pair.english[pair.source.index(at)]
            assert english == ("wears" if noun in clothes else "carries"), pair.french


def test_elision_contraction_and_an_are_right():
    for pair in draw_pairs(5000):
        for word, following in zip(pair.french, pair.french[1:], strict=False):
            if vowel(following):
                assert word not in ("le", "la", "de", "ce", "beau", "vieux", "nouveau"), pair.french
            else:
                assert word not in ("l'", "d'", "cet", "bel", "vieil", "nouvel"), pair.french
            assert (word, following) != ("de", "le")
        for word, following in zip(pair.english, pair.english[1:], strict=False):
            sound = following[0] in "aeiou" or following == "honest"
            assert word != ("a" if sound else "an"), pair.english


def test_determiners_and_adjectives_agree_with_their_noun():
    gender = {row[0]: row[1] for text in NOUNS.values() for row in table(text)}
    forms = [row for texts in (BEFORE, AFTER) for text in texts.values() for row in table(text)]
    feminine = {f for m, f, _ in forms if m != f}
    masculine = {m for m, f, _ in forms if m != f} | {"bel", "vieil", "nouvel"}
    determiners = {"m": {"un", "ce", "cet"}, "f": {"une", "la", "cette"}}
    for pair in draw_pairs(3000):
        for at, word in enumerate(pair.french):
            if word in gender:
                before = set(pair.french[max(0, at - 1) : at])
                beside = before | set(pair.french[at + 1 : at + 2])
                other = "m" if gender[word] == "f" else "f"
                assert not before & determiners[other], pair.french
                assert not beside & (masculine if other == "m" else feminine), pair.french


def test_ids_can_be_read_back_and_padding_comes_last():
    pairs = draw_pairs(50)
    source, target, truth = encode(pairs)
    for row, pair in enumerate(pairs):
        assert read(source[row], FRENCH) == " ".join(pair.french)
        assert read(target[row]) == " ".join(pair.english)
        n = len(pair.english)
        assert target[row, n] == EOS and (target[row, n + 1 :] == PAD).all()
        assert truth[row, :n].tolist() == list(pair.source) and (truth[row, n:] == -1).all()


def test_a_batch_holds_sentences_of_nearly_one_length():
    draw, generator = batches(draw_pairs(500)), torch.Generator().manual_seed(0)
    for _ in range(20):
        source, target = draw(16, generator)
        lengths = (source != PAD).sum(1)
        assert lengths.max() - lengths.min() <= 2 and lengths.max() == source.size(1)
        assert ((target == EOS).sum(1) == 1).all()


# the pieces


def test_masked_softmax_is_torchs_own_on_the_allowed_places():
    scores, mask = torch.randn(3, 4, 6), torch.rand(3, 1, 6) < 0.6
    mask[..., 0] = True
    weights = masked_softmax(scores, mask)
    for b in range(3):
        allowed = mask[b, 0]
        expected = scores[b][:, allowed].softmax(-1)
        torch.testing.assert_close(weights[b][:, allowed], expected)
        assert (weights[b][:, ~allowed] == 0).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_rows_without_an_allowed_place_are_zeros_with_a_gradient_of_zeros(dtype):
    scores = torch.randn(2, 5, dtype=dtype, requires_grad=True)
    mask = torch.tensor([[True] * 4 + [False], [False] * 5])
    weights = masked_softmax(scores, mask)
    weights.square().sum().backward()
    assert weights.dtype == dtype and (weights[1] == 0).all() and (scores.grad[1] == 0).all()
    assert scores.grad.isfinite().all()


def test_without_tanh_the_query_would_not_matter():
    queries, keys, v = torch.randn(2, 8), torch.randn(5, 8), torch.randn(8)
    plain = ((queries.unsqueeze(1) + keys) @ v).softmax(-1)
    torch.testing.assert_close(plain[0], plain[1])
    ours = additive_scores(queries, keys, v).softmax(-1)
    assert (ours[0] - ours[1]).abs().max() > 0.01


def test_attention_with_dot_scores_is_torchs_attention_without_scaling():
    q, k, v = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 4)
    mask = torch.rand(2, 1, 5) < 0.7
    mask[..., 0] = True
    ours = context(masked_softmax(dot_scores(q, k), mask), v)
    theirs = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=1.0)
    torch.testing.assert_close(ours, theirs)


def test_the_encoder_agrees_with_torchs_bidirectional_gru_on_packed_sentences():
    torch.manual_seed(0)
    encoder = Encoder(20, 5, 8)
    theirs = nn.GRU(5, 4, batch_first=True, bidirectional=True)
    copied = {k: v for k, v in encoder.forth.state_dict().items()}
    copied |= {f"{k}_reverse": v for k, v in encoder.back.state_dict().items()}
    theirs.load_state_dict(copied)
    ids, lengths = torch.randint(3, 20, (3, 6)), [6, 2, 4]
    mask = torch.arange(6) < torch.tensor(lengths)[:, None]
    states, summary = encoder(ids * mask, mask)
    packed = nn.utils.rnn.pack_padded_sequence(
        encoder.embed(ids), lengths, batch_first=True, enforce_sorted=False
    )
    out, last = theirs(packed)
    expected = nn.utils.rnn.pad_packed_sequence(out, batch_first=True)[0]
    torch.testing.assert_close(states[mask], expected[mask])
    torch.testing.assert_close(summary, torch.cat([last[0], last[1]], -1))


def test_turning_a_sentence_round_twice_changes_nothing_and_leaves_padding_at_the_end():
    x = torch.arange(8.0).reshape(1, 4, 2)
    mask = torch.tensor([[True, True, True, False]])
    turned = reverse(x, mask)
    assert turned[0, :, 0].tolist() == [4, 2, 0, 6]
    assert torch.equal(reverse(turned, mask), x)


def test_padding_changes_neither_logits_nor_translations():
    model = small().eval()
    source, target, _ = encode(draw_pairs(6, 2))
    wider = nn.functional.pad(source, (0, 4))
    with torch.no_grad():
        torch.testing.assert_close(model(source, target), model(wider, target))
        assert torch.equal(model.translate(source, 5), model.translate(wider, 5))
        assert (look(model, wider, target)[:, :, source.size(1) :] == 0).all()


def test_a_later_target_word_never_changes_an_earlier_logit():
    model = small()
    source, target, _ = encode(draw_pairs(4, 2))
    changed = target.clone()
    changed[:, 3] = 5
    before, after = model(source, target), model(source, changed)
    torch.testing.assert_close(before[:, :4], after[:, :4])
    assert (before[:, 4] - after[:, 4]).abs().max() > 1e-4


def test_one_token_at_a_time_is_the_same_as_all_at_once():
    model = small()
    source, target, _ = encode(draw_pairs(3, 2))
    state, memory, mask = model.encode(source)
    logits, last, weights = model.decoder(target, state, memory, mask)
    for i in range(target.size(1)):
        one, state, looked = model.decoder(target[:, i : i + 1], state, memory, mask)
        torch.testing.assert_close(one[:, 0], logits[:, i])
        torch.testing.assert_close(looked[:, 0], weights[:, i])
    torch.testing.assert_close(state, last)


def test_a_single_vector_leaves_nothing_to_choose():
    model = small(attend=False)
    source, target, _ = encode(draw_pairs(3, 2))
    assert (look(model, source, target) == 1).all() and look(model, source, target).size(2) == 1


def test_greedy_decoding_agrees_with_teacher_forcing_on_its_own_words():
    model = small().eval()
    source, _, _ = encode(draw_pairs(5, 2))
    with torch.no_grad():
        written = model.translate(source, 7)
        again = model(source, written).argmax(-1)
    before_end = (written == EOS).cumsum(1) - (written == EOS).int() == 0
    assert torch.equal(again[before_end], written[before_end])
    assert (written[~before_end] == PAD).all() and written.shape == (5, 7)


def test_everything_runs_on_another_device():
    with torch.device("meta"):
        for options in ({}, {"attend": False}, {"bidirectional": False}):
            model = small(**options)
            source = torch.ones(2, 5, dtype=torch.long)
            target = torch.ones(2, 4, dtype=torch.long)
            assert model(source, target).shape == (2, 4, len(ENGLISH))
            assert model.translate(source, 6).shape == (2, 6)
            assert translation_loss(model, (source, target)).shape == ()


def test_the_decoder_starts_from_sos():
    decoder = AttentionDecoder(8, 3, 4, 5)
    model = small()
    model.decoder = decoder
    seen = []
    decoder.forward = lambda tokens, *rest: (
        seen.append(tokens),
        (torch.zeros(1, 1, 8), *rest[:2]),
    )[1]
    model.encode = lambda source: (None, None, None)
    model.translate(torch.tensor([[4, 5]]), 1)
    assert seen[0].tolist() == [[SOS]]


@pytest.mark.parametrize("seed", [3, 11])
def test_the_notebooks_experiment_comes_out_clearly(seed):
    right = compare_memories(Seq2Seq, seed)
    assert right["a state for every letter"] > right["a single vector"] + 0.4


# the results on the page


def trained(n_hidden, bidirectional=True, attend=True, **options):
    given = {"n_hidden": n_hidden, **options}
    given |= {} if bidirectional else {"bidirectional": False}
    given |= {} if attend else {"attend": False}
    model = runs.build(n_hidden, bidirectional, attend)
    model.load_state_dict(kept(runs.translator, **given))
    return model.eval()


@pytest.fixture(scope="module")
def tests():
    return {name: draw_pairs(300, 1, True, *ends) for name, ends in BANDS.items()}


def share_right(model, pairs):
    return 100 * float(exact_matches(model, pairs).float().mean())


@pytest.fixture(scope="module")
def looking():
    return [trained(runs.ATTENTION, seed=seed) for seed in runs.SEEDS]


@pytest.fixture(scope="module")
def single():
    return [trained(runs.SINGLE, attend=False, seed=0)]


def test_attention_keeps_long_sentences_and_one_vector_of_equal_size_loses_them(
    looking, single, tests
):
    sizes = [runs.used_parameters(some[0]) for some in (looking, single)]
    assert sizes[0] <= sizes[1] <= 1.02 * sizes[0]
    means = {
        band: [sum(share_right(m, pairs) for m in some) / len(some) for some in (looking, single)]
        for band, pairs in tests.items()
    }
    assert means["14-16"][0] >= 98 and means["14-16"][0] - means["14-16"][1] >= 60
    assert means["7-9"][0] - means["7-9"][1] >= 25


def test_a_wider_vector_trained_longer_still_loses_long_sentences(looking, tests):
    wide = trained(runs.WIDE, attend=False, seed=0, steps=runs.LONGER)
    assert runs.used_parameters(wide) > 2 * runs.used_parameters(looking[0])
    assert share_right(wide, tests["14-16"]) < share_right(looking[0], tests["14-16"]) - 60


def misses(model, pairs):
    """Return for every word how far its largest weight lies from the right place."""
    at, truth = maxima(model, pairs)
    return at - truth


def percent(flags):
    return 100 * float(flags.float().mean())


def test_both_directions_point_at_the_right_word_and_one_points_too_far(tests):
    steps, pairs = runs.COMPARED, tests["14-16"]
    both = misses(trained(runs.ATTENTION, seed=0, steps=steps), pairs)
    one = misses(trained(runs.ATTENTION, bidirectional=False, seed=0, steps=steps), pairs)
    assert percent(both == 0) >= 95 and percent(one == 0) <= percent(both == 0) - 20
    assert percent(one[one != 0] > 0) > 75  # a later state has read the right word too


def test_one_direction_trained_longer_still_points_too_far(looking, tests):
    pairs = [pair for some in tests.values() for pair in some]
    short = trained(runs.ATTENTION, bidirectional=False, seed=0, steps=runs.COMPARED)
    longer = trained(runs.ATTENTION, bidirectional=False, seed=0, steps=runs.LONGER)
    step, before = misses(longer, pairs), misses(short, pairs)
    assert abs(percent(step == 0) - percent(before == 0)) < 6  # little has changed
    assert percent(step == 0) <= percent(misses(looking[0], pairs) == 0) - 15
    assert percent(step[step != 0] > 0) > 75


def test_attention_reaches_beyond_the_lengths_it_was_trained_on(tests):
    beyond = draw_pairs(300, 2, True, 13, 16)
    looks = trained(runs.ATTENTION, seed=0, longest=runs.SHORT)
    vector = trained(runs.SINGLE, attend=False, seed=0, longest=runs.SHORT)
    assert share_right(looks, beyond) > share_right(vector, beyond) + 10  # not for free
