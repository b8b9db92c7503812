"""self_attention: the reference against torch, its properties, and what the page reports."""

import json

import pytest
import torch
import torch.nn.functional as F

from autograder.lessons.self_attention import puzzle, what_order_does
from solutions import self_attention as lesson
from solutions.data.mentions import IGNORED, NAMES, UNTOLD, describe, draw_mentions
from solutions.experiments import kept
from solutions.experiments.self_attention import KINDS, SEEDS, MentionModel, mentions
from solutions.figures.word_order import OTHER, WORDS, recurrence, word_order
from solutions.self_attention import attention_cost, self_attention, self_attention_loop

B, T, C = 2, 5, 3


@pytest.fixture
def draw():
    torch.manual_seed(0)
    return lambda *shape: torch.randn(*shape)


def test_word_by_word_and_all_at_once_agree_with_torchs_own(draw):
    x = draw(T, C)
    theirs = F.scaled_dot_product_attention(x[None], x[None], x[None], scale=1.0)[0]
    torch.testing.assert_close(self_attention(x), theirs)
    torch.testing.assert_close(self_attention_loop(x), theirs)


def test_a_sentence_of_a_batch_sees_only_itself(draw):
    x = draw(B, T, C)
    alone = torch.stack([self_attention(sentence) for sentence in x])
    torch.testing.assert_close(self_attention(x), alone)


def test_reordering_the_words_reorders_the_outputs_and_keeps_their_mean(draw):
    x, order = draw(B, T, C), torch.tensor([3, 0, 4, 1, 2])
    before, after = self_attention(x), self_attention(x[:, order])
    torch.testing.assert_close(after, before[:, order])  # equivariant
    torch.testing.assert_close(after.mean(1), before.mean(1))
    assert not torch.allclose(after, before, atol=0.01)  # not invariant


@pytest.mark.parametrize("seed", range(20))
def test_the_conclusion_about_the_order_holds_for_every_seed(seed):
    found = what_order_does.QUESTION.probe(lesson, seed)
    assert what_order_does.QUESTION.decide(found) == "b"
    assert found["in_place"] > 0.1 and found["moved_along"] < 1e-5


def test_outputs_lie_between_the_smallest_and_the_largest_word(draw):
    x = draw(B, T, C)
    y = self_attention(x)
    assert bool((y <= x.amax(1, keepdim=True)).all() and (y >= x.amin(1, keepdim=True)).all())


def test_scores_of_several_hundred_do_not_overflow(draw):
    assert bool(self_attention(20 * draw(T, C)).isfinite().all())


def test_it_runs_on_the_meta_device_and_the_model_has_no_parameters_beside_words_and_read_out():
    assert self_attention(torch.empty(B, T, C, device="meta")).shape == (B, T, C)
    names = {name.split(".")[0] for name, _ in MentionModel("attention").named_parameters()}
    assert names == {"name", "mood", "read"}


@pytest.mark.parametrize(("n_token", "n_embd"), [(7, 3), (3, 16), (1, 4)])
def test_the_cost_is_what_torch_counts(n_token, n_embd):
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        self_attention(torch.randn(n_token, n_embd))
    assert counter.get_total_flops() == 2 * attention_cost(n_token, n_embd)  # adds counted apart


@pytest.mark.parametrize("tidy", [True, False])
def test_every_mention_has_the_mood_of_its_introduction(tidy):
    tables = draw_mentions(200, torch.Generator().manual_seed(1), tidy)
    for names, moods, targets in zip(*(t.tolist() for t in tables), strict=True):
        told = {n: m for n, m in zip(names, moods, strict=True) if m != UNTOLD}
        assert len(told) == 4 == moods.count(UNTOLD)
        wanted = [told[n] if m == UNTOLD else IGNORED for n, m in zip(names, moods, strict=True)]
        assert targets == wanted
        assert not tidy or names[:4] == names[4:]


def test_a_scene_can_be_read():
    assert describe(torch.tensor([0, 0]), torch.tensor([1, UNTOLD])) == "Anna:sad Anna?"
    names, _, _ = draw_mentions(3, torch.Generator().manual_seed(0), n_pair=len(NAMES))
    assert names.shape == (3, 2 * len(NAMES))


@pytest.mark.parametrize("seed", SEEDS)
def test_attention_finds_every_mood_in_any_order_and_at_twice_the_length(seed):
    for tidy in (True, False):
        found = kept(mentions, kind="attention", tidy=tidy, seed=seed)
        assert min(found["tidy"], found["any order"], found["twice as long"]) > 0.99


@pytest.mark.parametrize("seed", SEEDS)
def test_the_fully_connected_layer_learns_places_and_not_names(seed):
    tidy, free = (kept(mentions, kind=KINDS[0], tidy=t, seed=seed) for t in (True, False))
    assert tidy["tidy"] > 0.99 and tidy["any order"] < 0.35
    bag = kept(mentions, kind="bag of words", tidy=False, seed=seed)
    assert free["any order"] < 0.6 and abs(free["any order"] - bag["any order"]) < 0.05
    assert (
        tidy["parameters"]
        > 50 * kept(mentions, kind="attention", tidy=True, seed=seed)["parameters"]
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_from_wide_vectors_of_variance_one_attention_stays_with_itself(seed):
    found = kept(mentions, kind="attention", tidy=False, seed=seed, std=1.0)
    assert found["any order"] < 0.8


def test_the_figure_starts_from_words_whose_outputs_follow_them_only_under_attention():
    assert json.dumps(word_order().data, allow_nan=False)
    x = torch.tensor(list(WORDS.values()))
    torch.testing.assert_close(self_attention(x[OTHER]), self_attention(x)[OTHER])
    assert float((recurrence(x[OTHER]) - recurrence(x)[OTHER]).abs().max()) > 0.3


def test_all_rows_of_the_puzzle_are_equal_and_sum_to_one():
    table = puzzle().table
    torch.testing.assert_close(table, table[:1].expand(5, 5), atol=1e-3, rtol=0)
    torch.testing.assert_close(table.sum(1), torch.ones(5), atol=1e-3, rtol=0)
    assert float(table[0].max() - table[0].min()) > 0.1
