"""queries_keys_values: the reference against torch, its properties, and what the page reports."""

import json
import math
from itertools import pairwise

import pytest
import torch
import torch.nn.functional as F

from solutions.data.reversal import N_SYMBOL, N_TOKEN, as_rows, draw_sequences, order_blind_rate
from solutions.experiments import kept
from solutions.experiments.queries_keys_values import HARD, SEEDS, WIDTHS, reversal, scale
from solutions.figures.scale import scale as scale_figure
from solutions.queries_keys_values import (
    CrossAttention,
    SelfAttention,
    causal_mask,
    padding_mask,
    project_qkv,
    scaled_dot_product_attention,
)
from solutions.studies.saturation import SCALES, entropy, saturation, score_gradient, weights_of

B, T, S, C, D, E = 2, 3, 5, 7, 4, 6


@pytest.fixture
def draw():
    torch.manual_seed(0)
    return lambda *shape: 1.5 * torch.randn(*shape)


@pytest.mark.parametrize("masked", [None, "one for all", "one each", "padding"])
def test_attention_agrees_with_torchs_own(draw, masked):
    q, k, v = draw(B, T, D), draw(B, S, D), draw(B, S, E)
    shape = {"one for all": (T, S), "one each": (B, T, S), "padding": (B, 1, S)}.get(masked)
    mask = None
    if shape:
        mask = torch.rand(shape) < 0.5
        mask[..., 0] = True
    theirs = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    torch.testing.assert_close(scaled_dot_product_attention(q, k, v, mask), theirs)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_forbidden_key_has_no_weight_at_all_in_any_precision(draw, dtype):
    q, k = draw(B, T, D).to(dtype), draw(B, S, D).to(dtype)
    k[:, 2] *= 20  # it would win by far
    mask = torch.ones(T, S, dtype=torch.bool)
    mask[:, 2] = False
    weights = scaled_dot_product_attention(q, k, torch.eye(S, dtype=dtype).expand(B, S, S), mask)
    assert weights.dtype == dtype and bool((weights[..., 2] == 0).all())
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, T, dtype=dtype), rtol=0, atol=0.02)


def test_a_query_that_may_look_at_nothing_gets_zeros_and_gives_no_gradient(draw):
    q, k, v = (draw(B, n, D).requires_grad_() for n in (T, S, S))
    mask = torch.ones(T, S, dtype=torch.bool)
    mask[1] = False
    out = scaled_dot_product_attention(q, k, v, mask)
    assert bool((out[:, 1] == 0).all())
    for gradient in torch.autograd.grad(out.sum(), (q, k, v)):
        assert bool(gradient.isfinite().all())
    again = scaled_dot_product_attention(q, k, v, mask)
    assert bool((torch.autograd.grad(again[:, 1].sum(), q)[0] == 0).all())


def test_the_scores_have_variance_one_at_every_width():
    for width in (4, 64, 1024):
        q, k = torch.randn(2, 3000, 1, width, generator=torch.Generator().manual_seed(0))
        dots = (q * k).sum(-1)
        assert dots.var().item() == pytest.approx(width, rel=0.15)


def test_a_later_token_never_changes_an_earlier_output(draw):
    layer, x = SelfAttention(C, D), draw(B, 6, C)
    before = layer(x, causal_mask(6))
    x[:, 4:] += 5.0
    after = layer(x, causal_mask(6))
    assert torch.equal(before[:, :4], after[:, :4])
    assert not torch.allclose(before[:, 4:], after[:, 4:])


def test_new_queries_see_what_their_rows_of_the_square_mask_see():
    for n_query in range(1, 6):
        assert torch.equal(causal_mask(n_query, 5), causal_mask(5)[5 - n_query :])


def test_padding_changes_nothing_wherever_it_stands(draw):
    ids = torch.tensor([[4, 0, 8, 0, 3]])
    layer, x = CrossAttention(C, C, D), draw(1, T, C)
    context = draw(1, 5, C)
    short = layer(x, context[:, [0, 2, 4]])
    torch.testing.assert_close(layer(x, context, padding_mask(ids)), short)


def test_cross_attention_with_itself_is_self_attention(draw):
    itself, other = SelfAttention(C, D, bias=True), CrossAttention(C, C, D, bias=True)
    other.load_state_dict(itself.state_dict())
    x = draw(B, T, C)
    assert torch.equal(itself(x, causal_mask(T)), other(x, x, causal_mask(T)))


def test_the_layer_projects_as_project_qkv_does(draw):
    layer, x = SelfAttention(C, D), draw(B, T, C)
    weights = [p.weight.T for p in (layer.query, layer.key, layer.value)]  # columns to rows
    q, k, v = project_qkv(x, *weights)
    torch.testing.assert_close(layer(x), scaled_dot_product_attention(q, k, v))


@pytest.mark.parametrize(("layer", "sizes"), [(SelfAttention, (C, D)), (CrossAttention, (C, E, D))])
def test_the_layers_have_no_biases_unless_asked(layer, sizes):
    assert [p.ndim for p in layer(*sizes).parameters()] == [2, 2, 2]
    assert [p.ndim for p in layer(*sizes, bias=True).parameters()] == [2, 1] * 3


def test_everything_runs_on_the_meta_device():
    with torch.device("meta"):
        layer, x = CrossAttention(C, E, D), torch.randn(B, T, C)
        ids = torch.ones(B, S, dtype=torch.long)
        assert layer(x, torch.randn(B, S, E), padding_mask(ids)).shape == (B, T, D)
        assert SelfAttention(C, D)(x, causal_mask(T)).device.type == "meta"
    assert as_rows(torch.ones(B, N_TOKEN, dtype=torch.long, device="meta")).is_meta


def test_sequences_come_with_their_reversal_and_rows_with_symbol_and_place():
    ids, targets = draw_sequences(20, torch.Generator().manual_seed(3))
    assert torch.equal(ids.flip(1), targets) and ids.max() == N_SYMBOL - 1
    x = as_rows(ids)
    assert torch.equal(x[..., :N_SYMBOL].argmax(-1), ids)
    assert torch.equal(x[0, :, N_SYMBOL:], torch.eye(N_TOKEN))
    assert as_rows(ids, positions=False)[..., N_SYMBOL:].sum() == 0


def test_the_gradient_formula_is_what_autograd_finds(draw):
    scores, pull = draw(B, S).requires_grad_(), draw(B, S)
    weights = scores.softmax(-1)
    (found,) = torch.autograd.grad((weights * pull).sum(), scores)
    torch.testing.assert_close(score_gradient(weights, pull), found)
    assert entropy(torch.full((S,), 1 / S)).item() == pytest.approx(math.log(S))


def test_weights_read_off_through_the_identity_are_the_weights(draw):
    q, k = draw(B, T, D), draw(B, S, D)
    expected = (q @ k.mT / D**0.5).softmax(-1)
    torch.testing.assert_close(weights_of(scaled_dot_product_attention, q, k), expected)


@pytest.mark.parametrize("seed", range(20))
def test_the_conclusion_about_the_scale_holds_for_every_seed(seed):
    found = saturation(scaled_dot_product_attention, 1024, seed, n_row=100, n_key=32)
    assert found["not divided"]["largest"] > 0.85
    assert found["divided by the root of D"]["largest"] < 0.25


@pytest.mark.parametrize("seed", SEEDS)
def test_one_head_learns_to_read_backwards_and_looks_exactly_at_the_mirrored_place(seed):
    for options in ({}, {"scaled": False}):  # the task is no argument for the scale
        found = kept(reversal, seed=seed, **options)
        assert found["accuracy"] == 1.0 and found["looks right"] == 1.0
        mirrored = torch.arange(N_TOKEN - 1, -1, -1)
        assert torch.equal(found["map"].argmax(-1), mirrored)
        assert found["on the mirrored place"] > 0.7


@pytest.mark.parametrize("seed", SEEDS)
def test_without_positions_it_does_no_better_than_the_commonest_symbol(seed):
    found = kept(reversal, seed=seed, positions=False)
    ids, _ = draw_sequences(1000, torch.Generator().manual_seed(1_000_000))
    assert found["accuracy"] == pytest.approx(order_blind_rate(ids), abs=0.02)
    assert found["map"].max() < 0.1  # 1/16 everywhere, nearly


@pytest.mark.parametrize("seed", SEEDS)
def test_from_a_start_of_variance_one_only_the_divided_head_gets_there(seed):
    assert kept(reversal, seed=seed, scaled=True, **HARD)["accuracy"] > 0.99
    assert kept(reversal, seed=seed, scaled=False, **HARD)["accuracy"] < 0.95
    small = {k: v for k, v in HARD.items() if k != "unit_start"}
    assert kept(reversal, seed=seed, scaled=False, **small)["accuracy"] > 0.99


@pytest.mark.parametrize("seed", SEEDS)
def test_entropy_and_gradient_fall_with_the_width_only_where_nothing_divides(seed):
    found = kept(scale, seed=seed)
    plain, root, full = ({m: [w[way][m] for w in found] for m in found[0][way]} for way in SCALES)
    assert all(b < a for a, b in pairwise(plain["entropy"]))
    assert plain["entropy"][-1] < 0.3 and plain["largest"][-1] > 0.9
    assert max(root["entropy"]) - min(root["entropy"]) < 0.1
    assert all(w > math.log(64) - 0.15 for w in full["entropy"])
    assert plain["gradient"][0] / plain["gradient"][-1] > 100
    assert max(root["gradient"]) / min(root["gradient"]) < 1.3
    assert plain["gradient"][0] > root["gradient"][0]  # at small widths it is the other way round
    assert len(found) == len(WIDTHS)


def test_the_figure_holds_real_dot_products_of_growing_spread():
    figure = scale_figure(n_sample=4)
    assert json.dumps(figure.data, allow_nan=False)
    spread = torch.tensor([sample["dots"] for sample in figure.data["samples"]]).std((0, 2))
    assert 16 < spread[-1] < 48 and 1 < spread[0] < 4
