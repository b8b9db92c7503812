"""Fused kernels: the same numbers and gradients as the teaching layers, whatever is asked."""

import pytest
import torch
from torch import nn

from solutions.bert import BERT
from solutions.fast_vit import FastViT
from solutions.fused import FusedAttention, FusedNorm, fuse
from solutions.layer_norm import LayerNorm, TransformerBlock
from solutions.multi_head import MultiHeadAttention
from solutions.multi_scale import MultiScaleViT
from solutions.vit import ViT

SIZES = {"image_size": (8, 12), "patch_size": 4, "n_channel": 3, "n_class": 5}
SIZES |= {"n_embd": 24, "n_head": 4, "n_hidden": 40}


def drawn(module: nn.Module, std: float = 0.3) -> nn.Module:
    """Give every parameter, gains and biases too, a number of its own."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(std * torch.randn_like(parameter))
    return module


def copied(model: nn.Module, make) -> nn.Module:
    """Make a model and give it the weights of another, name by name."""
    other = make()
    other.load_state_dict(model.state_dict())
    return other


def assert_equal_with_gradients(ours, theirs, *inputs: torch.Tensor) -> None:
    """Compare outputs to 1e-5, and the gradients of a random pull on them."""
    one, other = ours(*inputs), theirs(*inputs)
    torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)
    pull = torch.randn_like(one)
    one.backward(pull)
    other.backward(pull)
    for (name, p), q in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        assert (p.grad is None) == (q.grad is None), name
        if p.grad is not None:
            torch.testing.assert_close(p.grad, q.grad, atol=1e-4, rtol=1e-4, msg=name)


@pytest.mark.parametrize("n_layer", [0, 1, 3])
def test_the_vit_that_trains_scores_and_learns_as_the_one_of_the_lesson(n_layer):
    torch.manual_seed(n_layer)
    slow = drawn(ViT(**SIZES, n_layer=n_layer))
    fast = copied(slow, lambda: FastViT(**SIZES, n_layer=n_layer))
    images = torch.randn(3, 3, 8, 12)
    torch.testing.assert_close(fast.encode(images), slow.encode(images), atol=1e-5, rtol=1e-5)
    scores = slow(images), fast(images)
    torch.testing.assert_close(*scores, atol=1e-5, rtol=1e-5)
    for score in scores:
        score.square().sum().backward()
    for (name, p), q in zip(slow.named_parameters(), fast.parameters(), strict=True):
        blank = torch.zeros_like(p)  # the keys' bias has no gradient at all in some models
        pair = (blank if x.grad is None else x.grad for x in (p, q))
        torch.testing.assert_close(*pair, atol=1e-4, rtol=1e-4, msg=name)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("masked", ["not", "one for all", "one for each", "nothing to look at"])
def test_fused_attention_is_the_attention_of_the_lesson(bias, masked):
    slow = drawn(MultiHeadAttention(12, 3, bias=bias), 0.5)
    fast = copied(slow, lambda: FusedAttention(12, 3, bias=bias))
    x, mask = torch.randn(2, 5, 12), None
    if masked != "not":
        mask = torch.rand(*([] if masked == "one for all" else [2]), 5, 5) < 0.6
        mask |= torch.eye(5, dtype=torch.bool)
    if masked == "nothing to look at":
        mask[1, 2] = False
    assert_equal_with_gradients(Masked(slow, mask), Masked(fast, mask), x)


class Masked(nn.Module):
    """Hold a mask for a layer."""

    def __init__(self, layer, mask):
        super().__init__()
        self.layer, self.mask = layer, mask

    def forward(self, x):
        return self.layer(x, mask=self.mask)


def test_fused_attention_looks_at_a_context_too():
    slow = drawn(MultiHeadAttention(12, 3), 0.5)
    fast = copied(slow, lambda: FusedAttention(12, 3))
    x, context = torch.randn(2, 4, 12), torch.randn(2, 7, 12)
    assert_equal_with_gradients(slow, fast, x, context)


@pytest.mark.parametrize("bias", [True, False])
def test_the_fused_norm_is_the_norm_of_the_lesson(bias):
    slow = LayerNorm(7, eps=0.1, bias=bias)
    drawn(slow, 1.0)
    fast = copied(slow, lambda: FusedNorm(7, eps=0.1, bias=bias))
    assert_equal_with_gradients(slow, fast, 3 * torch.randn(2, 5, 7) + 50)


def test_fuse_changes_how_a_model_computes_and_not_what_or_under_which_names():
    block = drawn(TransformerBlock(12, 3, "pre"))
    before, names = block.state_dict(), list(block.state_dict())
    own = {name: p.data_ptr() for name, p in block.named_parameters()}
    assert fuse(block) is block
    assert type(block.attention) is FusedAttention and type(block.attention_norm) is FusedNorm
    assert list(block.state_dict()) == names and fuse(fuse(block)) is block
    assert own == {name: p.data_ptr() for name, p in block.named_parameters()}
    TransformerBlock(12, 3, "pre").load_state_dict(before)


def test_fuse_leaves_a_learners_own_layer_alone():
    class Mine(MultiHeadAttention):
        """A subclass computes in its own way."""

    block = TransformerBlock(12, 3, "pre")
    block.attention = Mine(12, 3)
    assert type(fuse(block).attention) is Mine


def test_models_with_masks_can_be_fused_too():
    torch.manual_seed(0)
    ids = torch.randint(1, 20, (2, 6))
    ids[1, 4:] = 0  # padding
    bert = drawn(BERT(20, 8, 12, 3, 2)).eval()
    windows = drawn(MultiScaleViT(n_embd=8, depths=(2, 2), window_size=2)).eval()
    for model, seen in ((bert, ids), (windows, torch.randn(2, 1, 8, 8))):
        with torch.no_grad():
            before = model(seen)
            torch.testing.assert_close(fuse(model)(seen), before, atol=1e-5, rtol=1e-5)
