"""The two-question lookup, the training loop, and the figure of the heads."""

import json
from dataclasses import asdict

import pytest
import torch
from torch import nn

from solutions.data.lookup import COLOURS, OBJECTS, OWNERS, describe, draw_scenes, guess_rates
from solutions.figures.heads import heads
from solutions.multi_head import MultiHeadAttention, merge_heads, split_heads
from solutions.queries_keys_values import scaled_dot_product_attention
from solutions.studies.lookup_model import (
    LookupModel,
    accuracy,
    head_weights,
    lookup_loss,
    train_lookup,
    without_heads,
)
from solutions.train import Recipe, rate_at, train


def scenes_of(n, seed=0, **options):
    return draw_scenes(n, torch.Generator().manual_seed(seed), **options)


@pytest.fixture(scope="module")
def trained():
    return {n_head: train_lookup(n_head, MultiHeadAttention) for n_head in (1, 2)}


def test_every_object_of_a_scene_is_there_once_and_every_id_has_a_name():
    facts, question, targets = scenes_of(500, n_facts=5)
    assert facts.shape == (500, 5, 3) and question.shape == targets.shape == (500, 2)
    assert all(len(set(objects)) == 5 for objects in facts[:, :, 0].tolist())
    for part, names in enumerate((OBJECTS, COLOURS, OWNERS)):
        assert set(facts[:, :, part].flatten().tolist()) == set(range(len(names)))


def test_the_question_names_two_different_objects_and_the_targets_are_their_colour_and_owner():
    for facts, (first, second), target in zip(*(t.tolist() for t in scenes_of(300)), strict=True):
        assert first != second
        colour = next(c for k, c, _ in facts if k == first)
        owner = next(o for k, _, o in facts if k == second)
        assert target == [colour, owner]


def test_the_asked_facts_stand_anywhere_in_the_scene():
    facts, question, _ = scenes_of(2000)
    for which in (0, 1):
        places = (facts[:, :, 0] == question[:, [which]]).float().mean(0)
        assert places.sub(1 / 4).abs().max() < 0.05  # 0.01 is one standard deviation


def test_the_same_generator_state_draws_the_same_scenes():
    again, other = scenes_of(9), scenes_of(9, seed=1)
    assert all(torch.equal(a, b) for a, b in zip(scenes_of(9), again, strict=True))
    assert not torch.equal(scenes_of(9)[0], other[0])


def test_a_scene_with_more_facts_than_objects_is_refused_in_words():
    with pytest.raises(ValueError, match=r"n_facts is 9; it must be 2 to 8"):
        scenes_of(1, n_facts=9)


def test_a_scene_can_be_said_in_english():
    facts = torch.tensor([[0, 1, 2], [3, 0, 1]])
    text = describe(facts, torch.tensor([3, 0]))
    assert text == (
        "Clara's blue ball. Ben's red boat. What colour is the boat, and who owns the ball?"
    )


def test_the_computed_rates_of_guessing_agree_with_guesses_that_are_played():
    facts, question, targets = scenes_of(40_000)
    n, rates = len(facts), guess_rates()
    generator = torch.Generator().manual_seed(3)
    rows = torch.arange(n)
    first, second = ((facts[:, :, 0] == question[:, [i]]).int().argmax(-1) for i in (0, 1))

    def pick(*options):  # one of the places at random, anew for either relation
        places = torch.stack(options, dim=-1)
        return places[rows, torch.randint(places.size(-1), (n,), generator=generator)]

    anywhere = [torch.full((n,), i) for i in range(4)]
    for name, options in {
        "any fact": (anywhere, anywhere),
        "one of the two": ([first, second], [first, second]),
        "colour's fact": ([first], [first]),
        "owner's fact": ([second], [second]),
    }.items():
        colour = facts[rows, pick(*options[0]), 1] == targets[:, 0]
        owner = facts[rows, pick(*options[1]), 2] == targets[:, 1]
        for relation, hits in {"colour": colour, "owner": owner, "both": colour & owner}.items():
            played = hits.float().mean().item()
            assert played == pytest.approx(rates[name][relation], abs=0.015), (name, relation)
    assert rates["any name"]["colour"] == 1 / 6 and rates["any name"]["owner"] == 1 / 7


def test_the_number_of_heads_does_not_change_the_number_of_parameters():
    sizes = {
        sum(p.numel() for p in LookupModel(24, h, MultiHeadAttention).parameters())
        for h in (1, 2, 4, 8)
    }
    assert len(sizes) == 1


def test_the_order_of_the_facts_does_not_matter():
    facts, question, _ = scenes_of(6)
    model = LookupModel(24, 3, MultiHeadAttention)
    shuffled = facts[:, [2, 0, 3, 1]]
    for a, b in zip(model(facts, question), model(shuffled, question), strict=True):
        torch.testing.assert_close(a, b)


def test_a_switched_off_head_is_the_same_as_a_slice_of_zeros_before_the_projection():
    torch.manual_seed(0)
    facts, question, _ = scenes_of(5)
    model = LookupModel(24, 3, MultiHeadAttention)
    layer = model.attention
    scene, asked = model.embed(facts, question)
    q, k, v = (
        split_heads(project(x), 3)
        for project, x in ((layer.query, asked), (layer.key, scene), (layer.value, scene))
    )
    found = scaled_dot_product_attention(q, k, v)  # (B, H, 1, D)
    found[:, 1] = 0.0
    expected = model.colour(layer.out(merge_heads(found))[:, 0])
    before = [p.clone() for p in model.parameters()]
    torch.testing.assert_close(without_heads(model, [1])(facts, question)[0], expected)
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))


def test_the_weights_shown_are_the_weights_used():
    torch.manual_seed(0)
    facts, question, _ = scenes_of(5)
    model = LookupModel(24, 3, MultiHeadAttention)
    weights = head_weights(model, facts, question)
    assert weights.shape == (5, 3, 4)
    scene, _ = model.embed(facts, question)
    values = split_heads(model.attention.value(scene), 3)  # (B, H, S, D)
    mixed = merge_heads(weights[:, :, None] @ values)
    torch.testing.assert_close(
        model.colour(model.attention.out(mixed)[:, 0]), model(facts, question)[0]
    )


def test_a_learners_own_attention_class_can_be_plugged_in():
    class Mine(MultiHeadAttention):
        pass

    assert isinstance(LookupModel(8, 2, attention=Mine).attention, Mine)
    assert isinstance(train_lookup(2, recipe=Recipe(steps=1), attention=Mine).attention, Mine)


def test_one_head_answers_one_relation_and_two_heads_answer_both(trained):
    test = scenes_of(2000, seed=5)
    one, two = accuracy(trained[1], test), accuracy(trained[2], test)
    assert max(one["colour"], one["owner"]) > 0.95
    assert min(one["colour"], one["owner"]) < 0.35
    assert two["both"] > 0.95


def test_without_either_of_two_heads_exactly_one_relation_dies(trained):
    test = scenes_of(2000, seed=5)
    lost = []
    for head in (0, 1):
        rates = accuracy(without_heads(trained[2], [head]), test)
        (dead,) = (name for name in ("colour", "owner") if rates[name] < 0.35)
        (alive,) = {"colour", "owner"} - {dead}
        assert rates[alive] > 0.95
        lost.append(dead)
    assert sorted(lost) == ["colour", "owner"]


def test_the_rate_climbs_to_its_peak_and_falls_towards_zero():
    recipe = Recipe(steps=100, warmup=10, lr=0.5)
    rates = [rate_at(step, recipe) for step in range(100)]
    assert rates[0] == pytest.approx(0.05) and rates[9] == pytest.approx(0.5)
    assert rates[:11] == sorted(rates[:11]) and rates[10:] == sorted(rates[10:], reverse=True)
    assert rates[55] == pytest.approx(0.25) and 0 <= rates[-1] < 0.001


def test_a_recipe_survives_json():
    recipe = Recipe(steps=3, lr=0.1)
    assert Recipe(**json.loads(json.dumps(asdict(recipe)))) == recipe


def small_run(recipe, evaluate=None, loss=lookup_loss):
    torch.manual_seed(0)
    model = LookupModel(8, 2, MultiHeadAttention)
    return model, train(model, draw_scenes, recipe, loss, evaluate)


def test_the_seed_decides_the_curve_whatever_dropout_draws_in_between():
    def noisy(model, batch):
        return lookup_loss(model, batch) + 0 * torch.rand(())

    first, again, other = (small_run(Recipe(steps=5, seed=seed))[1].loss for seed in (0, 0, 1))
    assert first == again and first != other and len(first) == 5
    assert small_run(Recipe(steps=5), loss=noisy)[1].loss == first


def test_evaluation_comes_when_it_is_due_and_once_at_the_end_without_dropout_or_gradients():
    def evaluate(model):
        assert not model.training and not torch.is_grad_enabled()
        return {"x": 1.0}

    model, history = small_run(Recipe(steps=6, evaluate_every=3), evaluate)
    assert history.scores == [{"step": 3, "x": 1.0}, {"step": 6, "x": 1.0}]
    assert not model.training and torch.is_grad_enabled()


def test_the_model_trains_with_dropout_on_even_after_an_evaluation():
    modes = []

    def loss(model, batch):
        modes.append(model.training)
        return lookup_loss(model, batch)

    small_run(Recipe(steps=4, evaluate_every=2), lambda model: {}, loss)
    assert modes == [True] * 4


def test_an_interrupt_keeps_the_steps_made_so_far():
    calls = iter(range(100))

    def loss(model, batch):
        if next(calls) == 3:
            raise KeyboardInterrupt
        return lookup_loss(model, batch)

    _, history = small_run(Recipe(steps=10), lambda model: {"x": 1.0}, loss)
    assert history.interrupted and len(history.loss) == 3
    assert history.scores == [{"step": 3, "x": 1.0}]


def test_a_loss_that_is_no_number_stops_the_run_in_words():
    with pytest.raises(FloatingPointError, match="loss nan at step 0"):
        small_run(Recipe(steps=2), loss=lambda model, batch: lookup_loss(model, batch) * torch.nan)


class Straight(nn.Module):
    """A model whose gradient is known: the loss is slope * (weight + bias), both start at 1."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1, 1))
        self.bias = nn.Parameter(torch.ones(1))

    def fit(self, recipe, slope):
        train(self, lambda *_: (), recipe, lambda *_: slope * (self.weight.sum() + self.bias.sum()))


@pytest.mark.parametrize(("clip", "longest"), [(0.5, 0.5), (0.0, 100 * 2**0.5)])
def test_clipping_limits_the_length_of_the_gradient_and_zero_switches_it_off(clip, longest):
    model = Straight()
    model.fit(Recipe(steps=1, clip=clip), slope=100)
    length = torch.cat([p.grad.flatten() for p in model.parameters()]).norm().item()
    assert length == pytest.approx(longest, rel=1e-4)


def test_decay_pulls_on_matrices_and_spares_biases():
    model = Straight()
    model.fit(Recipe(steps=1, warmup=0, lr=0.1, weight_decay=0.5), slope=0)
    assert model.weight.item() == pytest.approx(0.95) and model.bias.item() == 1.0


def test_the_figure_adds_up_heads_to_the_answers_of_the_silenced_model(trained):
    figure = heads([trained[1], trained[2]], n_test=200)
    data = json.loads(json.dumps(figure.data))
    model = data["models"][1]
    assert set(model["accuracy"]) == {"00", "01", "10", "11"}
    assert model["accuracy"]["11"]["both"] > 0.95
    for scene, weights, parts in zip(data["scenes"], model["weights"], model["parts"], strict=True):
        facts, colour, owner = scene["facts"], scene["colour"], scene["owner"]
        assert facts[colour]["colour"] != facts[owner]["colour"]
        assert facts[colour]["owner"] != facts[owner]["owner"]
        assert all(sum(row) == pytest.approx(1, abs=0.01) for row in weights)
        total = torch.tensor([model["base"], *parts]).sum(0)
        assert COLOURS[total[: len(COLOURS)].argmax()] == facts[colour]["colour"]
        assert OWNERS[total[len(COLOURS) :].argmax()] == facts[owner]["owner"]
        # A head's part alone must agree with the model in which the other head is silent.
        ids = [
            [OBJECTS.index(f["object"]), COLOURS.index(f["colour"]), OWNERS.index(f["owner"])]
            for f in facts
        ]
        question = torch.tensor([[ids[colour][0], ids[owner][0]]])
        alone = without_heads(trained[2], [1])(torch.tensor([ids]), question)
        shown = torch.tensor(model["base"]) + torch.tensor(parts[0])
        torch.testing.assert_close(shown, torch.cat(alone, -1)[0].detach(), atol=2e-3, rtol=0)
