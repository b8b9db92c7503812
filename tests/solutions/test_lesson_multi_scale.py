"""The lesson multi_scale: the reference beside Swin, its properties, the results of the page."""

import itertools

import pytest
import torch
from torch import nn

from solutions.data.seam import COLUMNS, ROWS, all_pairs, draw_pairs
from solutions.experiments import kept
from solutions.experiments.multi_scale import (
    Unmasked,
    big_model,
    cost,
    digit_model,
    digits,
    exponent,
    kept_for_backward,
    pairs,
)
from solutions.figures.windows import SHIFT, SIDE, SIZE, looked_at, windows
from solutions.layer_norm import TransformerBlock
from solutions.multi_scale import (
    MultiScaleViT,
    PatchMerging,
    shifted_window_mask,
    window_partition,
    window_reverse,
)
from solutions.studies.window_reach import compare_reach, pixels_seen
from solutions.vit import patchify
from solutions.window_bias import window_offsets

SWIN = "transformers.models.swin.modeling_swin"


@pytest.fixture(scope="module")
def swin():
    return pytest.importorskip(SWIN)


def drawn(module: nn.Module) -> nn.Module:
    """Give every parameter, gains and biases too, a number of its own."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(0.3 * torch.randn_like(parameter))
    return module.eval()


def small(**changes) -> MultiScaleViT:
    options = {"image_size": (8, 8), "n_embd": 8, "n_head": 2, "depths": (2,), "window_size": 4}
    return drawn(MultiScaleViT(**{**options, **changes}))


def test_windows_and_mask_and_offsets_are_those_of_swin(swin):
    x = torch.randn(2, 8, 12, 5)
    theirs = swin.window_partition(x, 4)
    assert torch.equal(window_partition(x, 4).reshape(theirs.shape), theirs)
    assert torch.equal(swin.window_reverse(theirs, 4, 8, 12), x)
    assert torch.equal(window_reverse(window_partition(x, 4), (8, 12)), x)
    for shift in (1, 2, 3):
        layer = swin.SwinLayer.__new__(swin.SwinLayer)
        nn.Module.__init__(layer)
        layer.shift_size, layer.window_size = shift, 4
        mask = layer.get_attn_mask(8, 12, torch.float32, torch.device("cpu"))
        assert torch.equal(shifted_window_mask((8, 12), 4, shift), mask == 0)
    bias = swin.SwinRelativePositionBias(2, (3, 3))
    assert torch.equal(window_offsets(3), bias._create_relative_position_index().view(9, 9))


def test_merging_is_that_of_swin_with_the_two_middle_corners_exchanged(swin):
    ours, theirs = drawn(PatchMerging(3)), swin.SwinPatchMerging(3)
    order = torch.arange(12).view(4, 3)[[0, 2, 1, 3]].flatten()
    with torch.no_grad():
        theirs.norm.weight.copy_(ours.norm.gain[order])
        theirs.norm.bias.copy_(ours.norm.bias[order])
        theirs.reduction.weight.copy_(ours.reduce.weight[:, order])
    x = torch.randn(2, 4, 6, 3)
    expected = theirs(x.flatten(1, 2), (4, 6)).view(2, 2, 3, 6)
    torch.testing.assert_close(ours(x), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("shift", [0, 2])
def test_one_block_in_windows_is_a_layer_of_swin_without_its_relative_bias(swin, shift):
    from transformers import SwinConfig

    config = SwinConfig(window_size=4, hidden_act="gelu", drop_path_rate=0.0)
    config._attn_implementation = "eager"
    theirs = swin.SwinLayer(config, 8, (8, 8), 2, shift_size=shift).eval()
    model = small()
    block = model.stages[0][0]
    attention = theirs.attention
    with torch.no_grad():
        for parameter in attention.relative_position_bias.parameters():
            parameter.zero_()
        pairs_of = {
            attention.q_proj: block.attention.query,
            attention.k_proj: block.attention.key,
            attention.v_proj: block.attention.value,
            attention.o_proj: block.attention.out,
            theirs.mlp.fc1: block.feed_forward.up,
            theirs.mlp.fc2: block.feed_forward.down,
        }
        for there, here in pairs_of.items():
            there.load_state_dict(here.state_dict())
        norms = {theirs.layernorm_before: block.attention_norm}
        norms[theirs.layernorm_after] = block.feed_forward_norm
        for there, here in norms.items():
            there.weight.copy_(here.gain)
            there.bias.copy_(here.bias)
    x = torch.randn(3, 8, 8, 8)
    expected = theirs(x.flatten(1, 2), (8, 8))[0].view(x.shape)
    torch.testing.assert_close(model.look(block, x, shift), expected, atol=2e-5, rtol=1e-4)


def test_with_one_window_over_the_image_the_model_is_full_attention():
    model = small(window_size=8, depths=(3,), n_channel=2)
    images = torch.randn(3, 2, 8, 8)
    x = model.project(patchify(images, 1)) + model.position.flatten(0, 1)
    for block in model.stages[0]:
        x = block(x)
    expected = model.head(model.last_norm(x).mean(1))
    torch.testing.assert_close(model(images), expected, atol=1e-5, rtol=1e-5)
    narrow = small(window_size=4, depths=(3,), n_channel=2)
    narrow.load_state_dict(model.state_dict())
    assert (narrow.encode(images) - model.encode(images)).abs().max() > 1e-3


@pytest.mark.parametrize("leading", [(), (3,), (2, 3)])
def test_reverse_undoes_partition_whatever_stands_in_front(leading):
    x = torch.randn(*leading, 6, 9, 4)
    assert torch.equal(window_reverse(window_partition(x, 3), (6, 9)), x)
    assert window_partition(x, 3).shape == (*leading, 6, 9, 4)


def test_sizes_that_do_not_fit_are_refused_with_the_sizes_named():
    with pytest.raises(ValueError, match="5 x 6"):
        window_partition(torch.zeros(5, 6, 1), 2)
    with pytest.raises(ValueError, match="multiples of 8"):
        MultiScaleViT(image_size=(12, 16), depths=(1, 1), window_size=4)


@pytest.mark.parametrize("size,shift", [(4, 2), (4, 1), (2, 1)])
def test_under_the_mask_a_token_looks_at_a_square_around_it_and_never_over_the_edge(size, shift):
    model = small(window_size=size)
    x = torch.randn(1, 8, 8, 8, requires_grad=True)
    out = model.look(model.stages[0][0], x, shift)
    cuts = [0, *range(shift, 8, size), 8]
    for row, column in [(0, 0), (0, 5), (7, 7), (4, 3)]:
        gradient = torch.autograd.grad(out[0, row, column, 0], x, retain_graph=True)[0]
        seen = gradient[0].abs().sum(-1) > 0
        expected = torch.zeros(8, 8, dtype=torch.bool)
        (a, b), (c, d) = (
            next((lo, hi) for lo, hi in itertools.pairwise(cuts) if lo <= at < hi)
            for at in (row, column)
        )
        expected[a:b, c:d] = True
        assert torch.equal(seen, expected)


def test_without_the_mask_the_corner_sees_the_opposite_corner():
    options = {"image_size": (8, 8), "n_embd": 8, "depths": (2,), "window_size": 4}
    for make, leaks in ((MultiScaleViT, False), (Unmasked, True)):
        model = make(**options)
        block = model.stages[0][0]
        x = torch.randn(1, 8, 8, 8, requires_grad=True)
        out = model.look(block, x, 2)
        gradient = torch.autograd.grad(out[0, 0, 0, 0], x)[0]
        assert (gradient[0, 7, 7].abs().sum() > 0) == leaks


def test_moving_an_image_by_whole_windows_moves_what_is_seen_where_positions_are_silent():
    model = small(depths=(1,), window_size=2)
    model.position.data.zero_()
    image = torch.zeros(1, 1, 8, 8)
    image[..., 2:4, 2:4] = torch.randn(2, 2)
    moved = model.encode(image.roll((2, 4), (2, 3)))
    torch.testing.assert_close(moved, model.encode(image).roll((2, 4), (1, 2)))


def test_the_stages_halve_the_grid_and_double_width_and_heads():
    model = small(image_size=(16, 16), depths=(2, 2, 1), window_size=4, n_embd=4)
    assert model.encode(torch.randn(2, 1, 16, 16)).shape == (2, 4, 4, 16)
    assert [blocks[0].attention.n_head for blocks in model.stages] == [2, 4, 8]
    assert [tuple(merge.reduce.weight.shape) for merge in model.merges] == [(8, 16), (16, 32)]
    model(torch.randn(2, 1, 16, 16)).square().sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.parameters())


def test_everything_runs_on_the_meta_device():
    model = MultiScaleViT(image_size=(16, 8), depths=(2, 2), window_size=4).to("meta")
    assert model(torch.randn(2, 1, 16, 8, device="meta")).shape == (2, 10)


def test_the_two_rivals_have_nearly_the_same_number_of_parameters():
    for build in (digit_model, lambda kind: big_model(kind, 16)):
        sizes = [
            sum(p.numel() for p in build(kind).parameters()) for kind in ("ViT", "multi-scale")
        ]
        assert abs(sizes[0] - sizes[1]) < 0.05 * sizes[0]


def test_pairs_hold_two_dots_and_the_label_says_whether_they_are_equal():
    images, labels, column = all_pairs()
    assert images.shape == (ROWS * (COLUMNS - 1) * 4, 1, ROWS, COLUMNS)
    assert len({tuple(x.flatten().tolist()) for x in images}) == len(images)
    assert torch.equal(images.abs().sum((1, 2, 3)), torch.full((len(images),), 2.0))
    assert torch.equal(labels == 1, images.sum((1, 2, 3)) != 0)
    assert torch.equal(images.abs().sum((1, 2)).argmax(-1), column)
    some = draw_pairs(20, torch.Generator().manual_seed(0))
    again = draw_pairs(20, torch.Generator().manual_seed(0))
    assert all(torch.equal(a, b) for a, b in zip(some, again, strict=True))


@pytest.mark.parametrize("seed", range(20))
def test_how_far_a_token_sees_is_the_same_for_every_seed(seed):
    assert compare_reach(MultiScaleViT, seed) == {
        "windows stay": [16, 16, 16, 16],
        "windows shift": [16, 64, 144, 256],
        "windows stay, patches merge": [16, 64, 256],
    }


def test_what_is_kept_for_the_backward_pass_grows_with_the_tokens_in_windows():
    model = small(depths=(1,))
    one = kept_for_backward(model, torch.randn(1, 1, 8, 8))
    assert one > 64 * 8 * 4  # more than the tokens themselves, in bytes
    assert 1.9 < kept_for_backward(model, torch.randn(2, 1, 8, 8)) / one < 2.1
    assert exponent([1, 4, 16], [9, 2, 32]) == pytest.approx(2)


def test_the_figure_agrees_with_the_mask():
    for row, column in [(1, 4), (0, 0), (6, 3)]:
        masks = shifted_window_mask((SIDE, SIDE), SIZE, SHIFT)
        number = torch.arange(SIDE * SIDE).view(SIDE, SIDE)
        order = window_partition(number.roll((-SHIFT, -SHIFT), (0, 1))[..., None], SIZE)[..., 0]
        window, at = (order == number[row, column]).nonzero()[0].tolist()
        seen = torch.zeros(SIDE * SIDE, dtype=torch.bool)
        seen[order[window][masks[window, at]]] = True
        assert torch.equal(looked_at("shift", (row, column)).flatten(), seen)
        assert looked_at("leak", (row, column)).sum() == SIZE**2
        assert looked_at("whole", (row, column)).all()


def test_the_figure_shows_strangers_only_when_the_mask_is_forgotten(browser, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><body>{windows()._repr_html_()}", encoding="utf-8")
    look = """[...document.querySelectorAll("input[type=radio]")].map((radio) => {
      radio.click();
      const count = (name) => document.querySelectorAll(".token." + name).length;
      return [count("seen") + count("chosen"), count("stranger")];
    })"""
    browser.open(page)
    sizes = browser.evaluate(look)
    deeper = """(() => {
      document.querySelectorAll("input[type=radio]")[2].click();
      const blocks = document.querySelectorAll("input[type=range]")[2];
      blocks.value = 2; blocks.dispatchEvent(new Event("input"));
      return document.querySelector(".message").textContent;
    })()"""
    text = browser.evaluate(deeper)
    assert sizes == [[64, 0], [16, 0], [8, 0], [8, 8]]
    assert "32 of 64 tokens" in text


def test_the_reach_of_a_model_that_merges_is_a_square_of_pixels():
    model = small(depths=(1, 1), shift=0)
    assert pixels_seen(model, (8, 8), (1, 1)).all()
    single = small(depths=(1,), shift=0)
    assert pixels_seen(single, (8, 8), (5, 1)).nonzero().amin(0).tolist() == [4, 0]


# the results of the page


def test_pairs_across_the_border_are_guessed_where_windows_stay_and_known_where_they_shift():
    border, inside = [1, 3], [0, 2, 4]  # by the column of the left dot
    stay, shifted = (kept(pairs, kind=kind) for kind in ("windows stay", "windows shift"))
    assert stay[:, inside].min() > 0.85
    assert stay[:, border].max() <= 0.75
    assert shifted[:, border].min() > 0.85 and shifted.mean() >= 0.95


def test_windows_cost_in_proportion_to_the_pixels_and_full_attention_to_their_square():
    full, near = kept(cost, kind="ViT"), kept(cost, kind="multi-scale")
    tokens = full["tokens"]
    for what in ("products", "bytes"):
        assert exponent(tokens, near[what]) < 1.05
        assert exponent(tokens, full[what]) > 1.5
        assert full[what][-1] > 5 * near[what][-1]


def test_on_small_digits_scales_do_not_cost_accuracy():
    found = {kind: kept(digits, kind=kind) for kind in ("ViT", "one window", "multi-scale")}
    assert all(some["right"].min() > 0.85 for some in found.values())
    near = found.pop("multi-scale")["right"].mean()
    assert all(near > some["right"].mean() - 0.02 for some in found.values())


def test_a_block_is_left_as_it_was():
    block = TransformerBlock(8, 2)
    before = {k: v.clone() for k, v in block.state_dict().items()}
    small().look(block, torch.randn(1, 8, 8, 8), 2)
    assert all(torch.equal(v, block.state_dict()[k]) for k, v in before.items())
