"""The lesson residual: its reference, its data, and what its experiments must reach."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from solutions.data.spirals import draw_spirals
from solutions.experiments import kept
from solutions.experiments.residual import (
    SEEDS,
    SEEN,
    gradients,
    places,
    spirals,
    surface,
)
from solutions.figures.gradient_bars import gradient_bars
from solutions.loss_surface import filter_normalise, loss_surface
from solutions.residual import FeedForward, Residual, gradient_by_depth
from solutions.studies.deep_stack import (
    VARIANCES,
    WIRINGS,
    DeepStack,
    compare_depths,
    initialise,
    make_layers,
    squared_gain,
    wire,
)
from solutions.studies.position_probe import N_TOKEN, Encoder, draw_words, readable_places


def ends(how, wiring, **options):
    runs = [kept(spirals, how=how, wiring=wiring, seed=s, **options)["loss"] for s in SEEDS]
    return [sum(run[-10:]) / 10 for run in runs]


def test_the_feed_forward_layer_is_the_one_inside_pytorchs_encoder_layer():
    theirs = nn.TransformerEncoderLayer(6, 2, dim_feedforward=10, dropout=0.0)
    ours = FeedForward(6, 10)
    ours.up, ours.down = theirs.linear1, theirs.linear2
    x = torch.randn(2, 3, 6)
    torch.testing.assert_close(ours(x), theirs._ff_block(x))


def test_the_hidden_layer_is_four_times_as_wide_where_nothing_else_is_said():
    assert FeedForward(5).up.weight.shape == (20, 5)
    assert FeedForward(5, 7).down.weight.shape == (5, 7)
    silent = FeedForward(5, activation=torch.zeros_like)
    assert torch.equal(silent(torch.randn(3, 5)), silent.down.bias.expand(3, 5))


def test_no_information_moves_between_tokens_in_the_feed_forward_layer():
    layer, x = FeedForward(6), torch.randn(2, 5, 6)
    changed = x.clone()
    changed[1, 3] += 1
    moved = (layer(x) != layer(changed)).any(-1)
    assert moved.nonzero().tolist() == [[1, 3]]


def test_a_residual_adds_to_a_new_tensor_and_hands_further_arguments_to_its_layer_only():
    def f(x, mask, *, strength):
        return strength * x * mask

    x = torch.randn(3, 4)
    before, mask = x.clone(), torch.arange(4) % 2
    torch.testing.assert_close(Residual(f)(x, mask, strength=3.0), before + 3 * before * mask)
    assert torch.equal(x, before)
    assert len(list(Residual(nn.Linear(4, 4)).parameters())) == 2


def test_gradients_by_depth_of_linear_layers_are_products_of_their_matrices():
    matrices = [torch.randn(a, b, dtype=torch.float64) for a, b in [(3, 5), (5, 2), (2, 4)]]
    x, push = torch.randn(6, 3, dtype=torch.float64), torch.randn(6, 4, dtype=torch.float64)
    found = gradient_by_depth([lambda h, m=m: h @ m for m in matrices], x, push)
    expected, g = [1.0], push
    for m in reversed(matrices):
        g = g @ m.T
        expected.insert(0, float(g.norm() / push.norm()))
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64))
    assert not x.requires_grad


def test_a_stack_of_no_layers_passes_the_whole_gradient():
    assert gradient_by_depth([], torch.randn(2, 3), torch.randn(2, 3)).tolist() == [1.0]


def test_a_normalised_direction_has_the_filters_lengths_of_the_weights_and_leaves_biases_alone():
    model = nn.Sequential(nn.Conv2d(3, 4, 2), nn.LayerNorm(5), nn.Linear(5, 6))
    weights = {name: p.detach() for name, p in model.named_parameters()}
    direction = {name: torch.randn(p.shape) for name, p in weights.items()}
    made = filter_normalise(direction, weights)
    for name in ("0.weight", "2.weight"):
        a, b = made[name].flatten(1), weights[name].flatten(1)
        torch.testing.assert_close(a.norm(dim=1), b.norm(dim=1))
        cosines = F.cosine_similarity(a, direction[name].flatten(1))
        torch.testing.assert_close(cosines, torch.ones(len(a)))
    assert not any(made[name].any() for name in ("0.bias", "1.weight", "1.bias", "2.bias"))


def test_doubling_here_and_halving_there_changes_neither_a_relu_network_nor_its_surface():
    torch.manual_seed(0)
    one = nn.Sequential(nn.Linear(3, 8, bias=False), nn.ReLU(), nn.Linear(8, 2, bias=False))
    two = nn.Sequential(nn.Linear(3, 8, bias=False), nn.ReLU(), nn.Linear(8, 2, bias=False))
    two[0].weight.data, two[2].weight.data = one[0].weight.data * 4, one[2].weight.data / 4
    x, label = torch.randn(16, 3), torch.randint(2, (16,))
    seen = []
    raw = [{k: torch.randn(p.shape) for k, p in one.named_parameters()} for _ in range(2)]
    for model in (one, two):
        home = {k: p.detach() for k, p in model.named_parameters()}
        along = [filter_normalise(d, home) for d in raw]
        at = torch.tensor([-1.0, 0.0, 0.5])
        seen.append(loss_surface(model, lambda m: F.cross_entropy(m(x), label), *along, at))
    torch.testing.assert_close(seen[0], seen[1])


def test_a_loss_surface_has_the_loss_in_its_middle_and_brings_the_model_home():
    model, x = nn.Linear(3, 2), torch.randn(5, 3)
    before = {k: p.clone() for k, p in model.state_dict().items()}
    first, second = ({k: torch.randn_like(p) for k, p in before.items()} for _ in range(2))

    def loss(m):
        return m(x).square().mean()

    found = loss_surface(model, loss, first, second, torch.tensor([-2.0, 0.0, 1.0]))
    assert found.shape == (3, 3) and found[1, 1] == loss(model)
    moved = nn.Linear(3, 2)
    moved.load_state_dict({k: p + first[k] - 2 * second[k] for k, p in before.items()})
    torch.testing.assert_close(found[2, 0], loss(moved).detach())
    assert all(torch.equal(before[k], p) for k, p in model.state_dict().items())


def test_the_reference_runs_on_any_device():
    with torch.device("meta"):
        layers = [Residual(FeedForward(6)) for _ in range(2)]
        x = torch.randn(2, 3, 6)
        assert gradient_by_depth(layers, x, x).shape == (3,)
        home = {k: p.detach() for k, p in layers[0].named_parameters()}
        along = filter_normalise(home, home)
        at = torch.zeros(2)
        sheet = loss_surface(layers[0], lambda m: m(x).sum(), along, along, at)
    assert sheet.is_meta and sheet.shape == (2, 2)


def test_no_straight_line_parts_the_spirals_but_the_nearest_known_point_does():
    points, spiral = draw_spirals(2000, torch.Generator().manual_seed(0))
    assert points.norm(dim=-1).max() < 2.5 and 0.45 < spiral.float().mean() < 0.55
    ones = F.pad(points, (0, 1), value=1.0)
    line = torch.linalg.lstsq(ones, 2.0 * spiral.unsqueeze(-1) - 1).solution
    straight = ((ones @ line)[:, 0] > 0).long().eq(spiral).float().mean()
    assert straight < 0.65
    fresh, truth = draw_spirals(500, torch.Generator().manual_seed(1))
    nearest = spiral[torch.cdist(fresh, points).argmin(-1)]
    assert nearest.eq(truth).float().mean() > 0.98


@pytest.mark.parametrize("how", [how for how in VARIANCES if how != "default"])
def test_weights_start_with_the_variance_that_was_asked_for_and_the_layer_has_the_computed_gain(
    how,
):
    torch.manual_seed(0)
    layer = initialise(FeedForward(256), how)
    for linear, variance in zip((layer.up, layer.down), VARIANCES[how], strict=True):
        m, n = linear.weight.shape
        assert linear.weight.var().item() == pytest.approx(variance(n, m), rel=0.03)
        assert not linear.bias.any()
    x = torch.randn(500, 256)
    gain = layer(x).square().sum() / x.square().sum()
    assert gain.item() == pytest.approx(squared_gain(how, 256, 1024), rel=0.1)


def test_the_wirings_are_what_their_names_say():
    f, x = FeedForward(6), torch.randn(4, 6)
    level = nn.LayerNorm(6, elementwise_affine=False)
    expected = {
        "plain": f(x),
        "residual": x + f(x),
        "pre-norm": x + f(level(x)),
        "post-norm": level(x + f(x)),
        "norm before, no skip": f(level(x)),
        "norm after, no skip": level(f(x)),
    }
    assert expected.keys() == WIRINGS.keys()
    for wiring, wanted in expected.items():
        torch.testing.assert_close(wire(f, wiring, 6, Residual)(x), wanted)


def test_a_residual_stack_ends_in_the_sum_of_what_its_layers_said():
    torch.manual_seed(0)
    model = DeepStack(8, make_layers(5, 8, "default", "residual", FeedForward, Residual))
    states = model.states(torch.randn(3, 2))
    said = [layer.f(h) for layer, h in zip(model.layers, states, strict=False)]
    torch.testing.assert_close(states[0] + sum(said), states[-1])


def test_the_conclusion_of_the_notebook_holds_with_other_seeds_too():
    for seed in range(100, 103):
        arrived = compare_depths(FeedForward, Residual, gradient_by_depth, seed)
        assert arrived["plain"] < 1e-30 and 1 < arrived["skips"] < 30 and arrived["large"] > 1e12


def test_plain_layers_lose_the_gradient_and_skips_carry_it_through_64_layers():
    found = kept(gradients, how="default")
    assert found["plain"].shape == (len(SEEDS), 65) and found["plain"].dtype == torch.float64
    assert (found["plain"][:, 0] < 1e-12).all()
    bottom = found["residual"][:, 0]
    assert (bottom >= 0.1).all() and (bottom <= 100).all()


def test_with_a_norm_before_each_layer_every_initialisation_passes_the_gradient():
    for how in VARIANCES:
        bottom = kept(gradients, how=how)["pre-norm"][:, 0]
        assert (bottom >= 0.3).all() and (bottom <= 30).all(), how


def test_with_gain_1_plain_layers_keep_the_gradient_and_residual_layers_explode():
    found = kept(gradients, how="gain 1")
    assert (found["plain"][:, 0] > 0.05).all() and (found["plain"][:, 0] < 20).all()
    assert (found["residual"][:, 0] > 1e8).all()
    assert (kept(gradients, how="He")["residual"][:, 0] > 1e13).all()


def test_the_growth_computed_from_the_gain_agrees_with_the_measured_one():
    for how in VARIANCES:
        g2 = squared_gain(how, 64, 256)
        found = kept(gradients, how=how)
        computed = {"plain": g2**32, "residual": (1 + g2) ** 32}
        for wiring, growth in computed.items():
            measured = found[wiring][:, 0].median().item()
            assert abs(math.log10(measured / growth)) < 0.7, (how, wiring)


def test_plain_layers_toss_a_coin_or_train_slowly_and_residual_layers_train():
    assert all(abs(end - math.log(2)) < 0.01 for end in ends("default", "plain"))
    slow, fast = ends("gain 1", "plain"), ends("default", "residual")
    assert min(slow) > 0.15 and max(fast) < 0.1
    assert min(ends("gain 1", "residual")) > 1 > max(ends("gain 1", "pre-norm")) / 0.3
    assert min(ends("default", "plain", n_layer=1)) > 0.5
    patient = kept(spirals, how="gain 1", wiring="plain", seed=0, longer=True)["loss"]
    assert sum(patient[-10:]) / 10 < 0.1


def test_places_can_be_read_at_every_height_with_skips_and_at_none_above_the_second_without():
    for seed in SEEDS:
        both, none = (kept(places, skips=skips, seed=seed) for skips in ("both", "none"))
        for when in ("before", "after"):
            assert min(both[when]) > 0.99
            assert none[when][0] > 0.99 and max(none[when][5:]) < 1.5 / N_TOKEN
        assert both["loss"][-1] < 0.05 and none["loss"][-1] > 1.8


def test_the_reader_finds_places_only_where_they_are():
    torch.manual_seed(0)
    encoder = Encoder("both")
    with torch.no_grad():
        encoder.place.weight.zero_()
    assert max(readable_places(encoder)) < 2 / N_TOKEN
    ids, before = draw_words(3, torch.Generator().manual_seed(0))
    assert torch.equal(before[:, 1:], ids[:, :-1]) and torch.equal(before[:, 0], ids[:, -1])


def test_the_loss_rises_far_more_gently_around_residual_networks():
    sheets = {
        wiring: [kept(surface, how=how, wiring=wiring, seed=s) for s in SEEDS]
        for how, wiring in SEEN
    }
    for plain, residual in zip(sheets["plain"], sheets["residual"], strict=True):
        assert (residual < 10).float().mean() > 2.5 * (plain < 10).float().mean()
        assert residual.median() < 100 and plain.median() > 1e6
        assert residual.max() < 1e5 and plain.max() > 1e15
        assert residual[6, 6] < plain[6, 6]


def test_the_figure_shows_the_median_gradients_as_powers_of_ten():
    ratios = torch.tensor([[1e-5, 1.0], [1e-3, 1.0], [1e-4, 1.0]])
    data = gradient_bars({"default": {wiring: ratios for wiring in WIRINGS}}).data
    assert data["initialisations"] == [{"key": "default", "name": "PyTorch's default"}]
    keys = {f"{skip} {norm}" for skip in ("plain", "skip") for norm in ("none", "before", "after")}
    assert data["runs"]["default"].keys() == keys
    assert data["runs"]["default"]["plain none"] == pytest.approx([-4.0, 0.0], abs=1e-3)
