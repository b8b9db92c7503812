"""The lesson layer_norm: the reference beside PyTorch, its properties, the results of the page."""

import json
import math

import pytest
import torch
from browser import Page
from torch import nn
from torch.nn import functional as F

from solutions.batch_norm import BatchNorm, NoNorm, batch_norm
from solutions.experiments import kept
from solutions.experiments.layer_norm import rate_sweep, small_batches, warm_up
from solutions.figures.two_norms import ROWS, two_norms
from solutions.layer_norm import LayerNorm, RMSNorm, TransformerBlock, layer_norm
from solutions.studies.block_tower import N_VOCAB, BlockTower, depth_profile, draw_reversals
from solutions.studies.copy_block import copy_block
from solutions.studies.train_together import train_together
from solutions.train import Recipe, train

CHANCE = math.log(N_VOCAB)


def drawn(module: nn.Module) -> nn.Module:
    """Give every parameter, gains and biases too, a number of its own."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(0.4 * torch.randn_like(parameter))
    return module


def test_the_worked_example_comes_out_as_by_hand():
    x = torch.tensor([100.0, 200.0, 100.0, 0.0])
    expected = torch.tensor([0.0, 2**0.5, 0.0, -(2**0.5)])
    torch.testing.assert_close(layer_norm(x), expected, atol=1e-5, rtol=0)
    stretched = layer_norm(x, torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.ones(4))
    assert [round(v, 2) for v in stretched.tolist()] == [1.0, 3.83, 1.0, -4.66]
    assert [round(v, 2) for v in RMSNorm(4)(x).tolist()] == [0.82, 1.63, 0.82, 0.0]


@pytest.mark.parametrize("scale", [1.5, 3e-3, 1e-5])
@pytest.mark.parametrize("leading", [(), (3,), (2, 3, 5)])
def test_the_norms_agree_with_pytorch_at_every_size_and_shape(scale, leading):
    x = scale * torch.randn(*leading, 7)
    ours, theirs = drawn(LayerNorm(7)), nn.LayerNorm(7)
    theirs.load_state_dict({"weight": ours.gain.data, "bias": ours.bias.data})
    torch.testing.assert_close(ours(x), theirs(x), atol=1e-5, rtol=1e-5)
    ours, theirs = drawn(RMSNorm(7)), nn.RMSNorm(7, eps=1e-5)
    theirs.load_state_dict({"weight": ours.gain.data})
    torch.testing.assert_close(ours(x), theirs(x), atol=1e-5, rtol=1e-5)


def test_a_norm_without_bias_has_none_and_agrees_with_pytorch():
    x = torch.randn(3, 6)
    norm = LayerNorm(6, bias=False)
    assert norm.bias is None and [n for n, _ in norm.named_parameters()] == ["gain"]
    torch.testing.assert_close(norm(x), nn.LayerNorm(6, bias=False)(x), atol=1e-5, rtol=1e-5)


def test_the_gradient_of_a_norm_is_orthogonal_to_its_input_and_sums_to_zero():
    x = torch.randn(50, 9, dtype=torch.float64, requires_grad=True)
    g = torch.autograd.grad(layer_norm(x, eps=0.0), x, torch.randn_like(x))[0]
    assert (g * x).sum(-1).abs().max() < 1e-12
    assert g.sum(-1).abs().max() < 1e-12
    assert g.abs().max() > 0.1


def test_batch_norm_agrees_with_pytorch_in_training():
    x = torch.randn(6, 5, 4)
    theirs = nn.BatchNorm1d(4)(x.flatten(0, 1)).view_as(x)
    torch.testing.assert_close(BatchNorm(4)(x), theirs, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(batch_norm(x), theirs, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("activation", [F.relu, F.gelu])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_block_agrees_with_pytorch_in_both_orders_with_and_without_masks(norm, activation):
    ours = drawn(TransformerBlock(24, 4, norm, n_hidden=40, activation=activation)).eval()
    theirs = nn.TransformerEncoderLayer(
        24, 4, 40, 0.0, activation, batch_first=True, norm_first=norm == "pre"
    )
    copy_block(ours, theirs)
    x, causal = torch.randn(2, 5, 24), torch.ones(5, 5, dtype=torch.bool).tril()
    for options in ({}, {"src_mask": ~causal}):
        mask = causal if options else None
        torch.testing.assert_close(ours(x, mask), theirs(x, **options), atol=3e-6, rtol=1e-5)
    padding = torch.tensor([[False] * 5, [False, False, False, True, True]])
    mask = ~padding[:, None, :].expand(2, 5, 5)
    expected = theirs(x, src_key_padding_mask=padding)
    torch.testing.assert_close(ours(x, mask), expected, atol=3e-6, rtol=1e-5)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_later_token_never_changes_an_earlier_output_under_a_causal_mask(norm):
    block = drawn(TransformerBlock(12, 3, norm))
    x, mask = torch.randn(2, 6, 12), torch.ones(6, 6, dtype=torch.bool).tril()
    changed = x.clone()
    changed[:, 4:] += 1
    torch.testing.assert_close(block(x, mask)[:, :4], block(changed, mask)[:, :4])


def test_silent_branches_leave_the_input_in_pre_norm_and_its_norm_in_post_norm():
    x = torch.randn(2, 3, 8)
    for norm, expected in {"pre": x, "post": layer_norm(x)}.items():
        block = TransformerBlock(8, 2, norm, dropout=1.0).train()
        torch.testing.assert_close(block(x), expected, atol=1e-4, rtol=1e-4)


def test_the_block_takes_other_norms_and_eps_and_refuses_other_orders():
    block = TransformerBlock(8, 2, norm_layer=RMSNorm, eps=1e-12, bias=False)
    assert isinstance(block.attention_norm, RMSNorm) and block.feed_forward_norm.eps == 1e-12
    assert block.attention.query.bias is None
    with pytest.raises(ValueError, match="'pre' or 'post'"):
        TransformerBlock(8, 2, norm="before")


def test_everything_runs_on_the_meta_device():
    x = torch.randn(2, 5, 12, device="meta")
    mask = torch.ones(5, 5, dtype=torch.bool, device="meta")
    for norm_layer in (LayerNorm, RMSNorm, BatchNorm, NoNorm):
        for norm in ("pre", "post"):
            block = TransformerBlock(12, 3, norm, norm_layer=norm_layer).to("meta")
            assert block(x, mask).shape == x.shape


def test_training_together_is_training_one_by_one():
    def build(seed):
        torch.manual_seed(seed)
        return BlockTower(TransformerBlock, "pre", LayerNorm, n_layer=1).double()

    recipe = Recipe(steps=5, batch=8, warmup=2)
    rates, seeds = (1e-3, 1e-2), (3, 4)
    together = train_together([build(s) for s in seeds], rates, draw_reversals, seeds, recipe)
    for n, (rate, seed) in enumerate(zip(rates, seeds, strict=True)):
        alone = Recipe(steps=5, batch=8, warmup=2, lr=rate, seed=seed)
        history = train(build(seed), draw_reversals, alone, progress=False)
        assert together[:, n].tolist() == pytest.approx(history.loss, rel=1e-4)


def test_the_pre_norm_tower_grows_and_the_post_norm_tower_does_not_for_twenty_seeds():
    for seed in range(20):
        pre, post = (depth_profile(TransformerBlock, n, 12, seed) for n in ("pre", "post"))
        assert pre["size"][-1] > 2.7 and 0.99 < post["size"][-1] < 1.01
        assert pre["change"][-1] < 0.6 * pre["change"][0]
        assert post["change"][-1] > 0.8 * post["change"][0]


def test_without_a_norm_the_tower_explodes_up_and_down_and_with_one_it_does_not():
    for seed in range(3):
        none = depth_profile(TransformerBlock, "pre", 24, seed, norm_layer=NoNorm)
        assert none["size"][-1] > 1e4 and none["gradient"][0] > 1e6
        for norm in ("pre", "post"):
            tamed = depth_profile(TransformerBlock, norm, 24, seed)
            assert tamed["size"][-1] < 10 and 0.1 < tamed["gradient"][0] < 20


def test_a_norm_lets_the_tower_learn_and_a_quiet_start_does_too():
    def best(kind, norm, xavier):
        return float(kept(rate_sweep, kind=kind, norm=norm, xavier=xavier).mean(1).min())

    assert best("none", "pre", True) > CHANCE
    for kind in ("batch", "layer", "rms"):
        assert best(kind, "pre", True) < 0.3
    assert best("none", "pre", False) < 0.1
    assert best("layer", "post", True) > 1.3


def test_post_norm_needs_warm_up_at_high_rates_and_pre_norm_does_not():
    cold, warm, pre = (
        kept(warm_up, norm=norm, warmup=warmup)[-10:].mean(0)  # (rates, seeds)
        for norm, warmup in (("post", 0), ("post", 60), ("pre", 0))
    )
    assert (cold[1:] > 1.3).all() and (cold[2] > 0.95 * CHANCE).all()
    assert (warm < 0.1).all() and (pre < 0.1).all()
    assert (cold[0] < 0.5).all()  # at the lowest rate everything works


def test_batch_norm_fails_at_batches_of_two_and_is_as_good_at_32():
    right = {
        (kind, n): torch.tensor(kept(small_batches, kind=kind, batch=n))
        for kind in ("none", "batch", "layer")
        for n in (2, 32)
    }
    assert right["batch", 2].max() < right["none", 2].min() < right["layer", 2].min()
    assert right["batch", 2].max() < 0.5 < 0.6 < right["layer", 2].min()
    assert abs(right["batch", 32].mean() - right["layer", 32].mean()) < 0.05


def cells(browser: Page, which: str) -> torch.Tensor:
    rows = browser.evaluate(
        f"""[...document.querySelectorAll(".norms.{which} tr")].map((row) =>
            [...row.querySelectorAll(".cell")].map((cell) => cell.textContent))"""
    )
    numbers = [[float(x.replace("\u2212", "-")) for x in row] for row in rows if row]
    return torch.tensor(numbers)


def test_the_figure_computes_what_the_reference_computes(browser, tmp_path):
    page = tmp_path / "page.html"
    body = two_norms()._repr_html_()
    page.write_text(f"<!doctype html><meta charset=utf-8><body>{body}</body>", encoding="utf-8")
    browser.view(800)
    browser.open(page)

    def click(text):
        browser.evaluate(f"""[...document.querySelectorAll("button")].find(
            (button) => button.textContent === {json.dumps(text)}).click()""")

    def message():
        return browser.evaluate("document.querySelector('.message').textContent")

    rows = torch.tensor(ROWS)
    outlier = torch.cat([rows[:-1], 100 * rows[-1:]])
    steps = {"start again": rows, "one outlier": outlier, "batch of one": rows[:1]}
    said = {}
    for button, batch in steps.items():
        click(button)
        assert (cells(browser, "layer") - layer_norm(batch)).abs().max() < 0.0051
        assert (cells(browser, "columns") - batch_norm(batch)).abs().max() < 0.0051
        said[button] = message()
    assert "outlier" in said["one outlier"] and "zeros" in said["batch of one"]
    assert "LayerNorm has moved it by up to 0.00" in said["one outlier"]
    assert browser.errors == []
