"""Weights of a ViT from and for `transformers`: the same scores on both sides, and plain errors."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from solutions.fast_vit import FastViT
from solutions.studies.new_head import fine_tune
from solutions.train import Recipe
from solutions.vit import ViT
from solutions.vit_weights import class_names, load_vit, save_vit

transformers = pytest.importorskip("transformers")
SIZES = {"image_size": 8, "patch_size": 4, "num_channels": 3, "hidden_size": 12}
SIZES |= {"num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 20}


def drawn(module: nn.Module) -> nn.Module:
    """Give every parameter a number of its own: zeros and ones hide a name taken for another."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(0.4 * torch.randn_like(parameter))
    return module.eval()


@pytest.fixture
def theirs(tmp_path):
    """Write a tiny classifier as `transformers` does; return it and its folder."""
    torch.manual_seed(0)
    names = {0: "cat", 1: "dog", 2: "cow", 3: "hen"}
    config = transformers.ViTConfig(**SIZES, num_labels=4, id2label=names, layer_norm_eps=1e-3)
    model = drawn(transformers.ViTForImageClassification(config))
    model.save_pretrained(tmp_path / "theirs")
    return model, tmp_path / "theirs"


@pytest.mark.parametrize("make", [ViT, FastViT])
def test_a_file_of_transformers_gives_our_class_the_same_scores(theirs, make):
    model, folder = theirs
    images = torch.randn(3, 3, 8, 8)
    with torch.no_grad():
        expected = model(images).logits
        for source in (folder, folder / "model.safetensors", str(folder)):
            ours = load_vit(source, make)
            assert type(ours) is make and not ours.training
            torch.testing.assert_close(ours(images), expected, atol=1e-5, rtol=1e-5)
    assert class_names(folder) == ["cat", "dog", "cow", "hen"]


def test_a_learners_own_class_can_be_filled(theirs):
    class Mine(ViT):
        def forward(self, images):
            return self.head(self.encode(images)[:, 0]) + 1

    model, folder = theirs
    images = torch.randn(2, 3, 8, 8)
    with torch.no_grad():
        torch.testing.assert_close(
            load_vit(folder, Mine)(images), model(images).logits + 1, atol=1e-5, rtol=1e-5
        )


def test_what_we_save_opens_in_transformers_and_again_here(tmp_path):
    ours = drawn(FastViT((8, 8), 2, 3, 5, n_embd=12, n_layer=2, n_head=3, n_hidden=20, eps=1e-3))
    folder = save_vit(ours, tmp_path / "ours", names=["a", "b", "c", "d", "e"])
    model = transformers.ViTForImageClassification.from_pretrained(folder).eval()
    images = torch.randn(2, 3, 8, 8)
    with torch.no_grad():
        torch.testing.assert_close(ours(images), model(images).logits, atol=1e-5, rtol=1e-5)
    again = load_vit(folder)
    for name, tensor in ours.state_dict().items():
        assert torch.equal(again.state_dict()[name], tensor), name
    assert model.config.id2label[3] == "d" and class_names(folder)[3] == "d"


def test_a_new_head_leaves_all_other_weights_as_they_were(theirs):
    _, folder = theirs
    old, new = load_vit(folder), load_vit(folder, n_class=7)
    assert new.head.weight.shape == (7, 12)
    images = torch.randn(2, 3, 8, 8)
    assert torch.equal(old.encode(images), new.encode(images))


def test_an_encoder_without_a_head_needs_the_number_of_classes(tmp_path):
    model = drawn(transformers.ViTModel(transformers.ViTConfig(**SIZES)))
    model.save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="n_class"):
        load_vit(tmp_path)
    images = torch.randn(2, 3, 8, 8)
    with torch.no_grad():
        expected = model(images).last_hidden_state
        torch.testing.assert_close(
            load_vit(tmp_path, n_class=2).encode(images), expected, atol=1e-5, rtol=1e-5
        )


def test_images_of_another_size_get_interpolated_positions(theirs):
    model, folder = theirs
    images = torch.randn(2, 3, 12, 20)
    with torch.no_grad():
        expected = model(images, interpolate_pos_encoding=True).logits
        ours = load_vit(folder, image_size=(12, 20))
        torch.testing.assert_close(ours(images), expected, atol=1e-5, rtol=1e-5)


def test_without_a_config_the_heads_must_be_said(theirs):
    model, folder = theirs
    (folder / "config.json").unlink()
    ours = load_vit(folder, n_head=3)
    ours.last_norm.eps = 1e-3  # what only the config knew
    for block in ours.blocks:
        block.attention_norm.eps = block.feed_forward_norm.eps = 1e-3
    images = torch.randn(2, 3, 8, 8)
    with torch.no_grad():
        torch.testing.assert_close(ours(images), model(images).logits, atol=1e-5, rtol=1e-5)


def test_a_file_that_is_no_vit_of_ours_is_refused_in_a_sentence(theirs, tmp_path):
    _, folder = theirs
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"hidden_act": "relu"}))
    with pytest.raises(ValueError, match="relu"):
        load_vit(folder)
    (folder / "config.json").write_text(json.dumps(config | {"image_size": 32}))
    with pytest.raises(ValueError, match=r"4 patches.*8 x 8"):
        load_vit(folder)
    save_file({"wte.weight": torch.zeros(2, 3)}, tmp_path / "gpt.safetensors")
    with pytest.raises(ValueError, match="no ViT"):
        load_vit(tmp_path / "gpt.safetensors")
    with pytest.raises(FileNotFoundError, match="load_vit: there is no file"):
        load_vit(tmp_path / "gone.safetensors")
    with pytest.raises(ValueError, match="no square"):
        save_vit(ViT((8, 12)), tmp_path / "wide")
    assert not (tmp_path / "wide").exists()
    assert "classifier.weight" in load_file(folder / "model.safetensors")


def test_the_head_learns_first_with_all_else_frozen_and_then_everything(theirs):
    _, folder = theirs
    model = load_vit(folder, n_class=2)
    images = torch.randn(20, 3, 8, 8)
    labels = (images.mean((1, 2, 3)) > 0).long()
    seen = []

    def score(model):
        seen.append({name: p.detach().clone() for name, p in model.named_parameters()})
        return (model(images).argmax(-1) == labels).float().mean().item()

    start = {name: p.detach().clone() for name, p in model.named_parameters()}
    recipes = Recipe(30, 8, 1e-2, 5), Recipe(30, 8, 1e-3, 5)
    found = fine_tune(model, images, labels, score, *recipes)
    assert set(found) == {"head", "all"}
    for name, before in start.items():
        assert torch.equal(seen[0][name], before) == (not name.startswith("head."))
        assert not torch.equal(seen[1][name], seen[0][name]) or name.endswith("key.bias")
    assert all(p.requires_grad for p in model.parameters())
