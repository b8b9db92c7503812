"""The models that see, on devices that are not here: every tensor is made where it is used."""

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from solutions import multi_scale
from solutions.fast_vit import FastViT
from solutions.fused import fuse
from solutions.gpt_block import GPTConfig
from solutions.image_gpt import ImageGPT, complete_image
from solutions.linear_probe import linear_probe, pixel_features
from solutions.multi_scale import MultiScaleViT
from solutions.palette import fit_palette, quantise
from solutions.studies.small_cnn import SmallCNN
from solutions.studies.vit_maps import attention_weights, blanking
from solutions.vit import ViT, attention_rollout, interpolate_positions

SIZES = {"image_size": (8, 12), "n_embd": 12, "n_layer": 2, "n_head": 3}
SCALES = {"image_size": (8, 8), "n_embd": 8, "depths": (2, 2), "window_size": 2}
GREY = GPTConfig(5, 64, n_layer=2, n_head=2, n_embd=8)
MODELS = {
    "ViT": (lambda: ViT(**SIZES), (2, 1, 8, 12)),
    "FastViT": (lambda: FastViT(**SIZES), (2, 1, 8, 12)),
    "multi-scale": (lambda: MultiScaleViT(**SCALES), (2, 1, 8, 8)),
    "multi-scale, fused": (lambda: fuse(MultiScaleViT(**SCALES)), (2, 1, 8, 8)),
    "CNN": (lambda: SmallCNN((8, 12)), (2, 1, 8, 12)),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_runs_on_the_meta_device(name):
    make, shape = MODELS[name]
    model = make().to("meta")
    with Elsewhere() as elsewhere:
        scores = model(torch.empty(shape, device="meta"))
    assert scores.shape == (2, 10) and scores.is_meta
    assert elsewhere.made == []


class Elsewhere(TorchDispatchMode):
    """Note every operation that makes a tensor on another device than meta."""

    def __init__(self):
        super().__init__()
        self.made = []

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        for x in tree_leaves(result):
            if isinstance(x, torch.Tensor) and not x.is_meta:
                self.made.append(str(operation))
        return result


def test_a_mask_from_elsewhere_is_noticed(monkeypatch):
    """The test above can fail: a mask that is made on the CPU and moved does not pass."""
    monkeypatch.setattr(
        multi_scale.MultiScaleViT,
        "kept_mask",
        lambda self, grid, shift, device: multi_scale.shifted_window_mask(grid, 2, shift).to(
            device
        ),
    )
    model = MultiScaleViT(**SCALES).to("meta")
    with Elsewhere() as elsewhere:
        model(torch.empty(2, 1, 8, 8, device="meta"))
    assert "aten.arange.default" in elsewhere.made


def on_a_gpu_that_is_not_here(model: nn.Module) -> nn.Module:
    """Move a model to a fake cuda device; call it inside of FakeTensorMode."""
    try:
        torch.empty(2, device="cuda")[:1]  # a build for the CPU makes them, and cannot cut them
    except (RuntimeError, AssertionError) as error:
        pytest.skip(f"this build of torch knows no fake cuda: {error}")
    return model.to_empty(device="cuda")


@pytest.mark.parametrize("name", MODELS)
def test_a_model_runs_on_a_fake_gpu(name):
    make, shape = MODELS[name]
    model = make()
    with torch.no_grad(), FakeTensorMode(allow_non_fake_inputs=True):
        model = on_a_gpu_that_is_not_here(model)
        scores = model(torch.empty(shape, device="cuda"))
        assert scores.shape == (2, 10) and scores.device.type == "cuda"


def test_the_mask_of_shifted_windows_is_made_once(monkeypatch):
    made, make = [], multi_scale.shifted_window_mask
    monkeypatch.setattr(
        multi_scale, "shifted_window_mask", lambda *sizes: made.append(sizes) or make(*sizes)
    )
    model, images = MultiScaleViT(**SCALES), torch.randn(2, 1, 8, 8)
    with torch.inference_mode():
        model(images)
    assert made == [((8, 8), 2, 1), ((4, 4), 2, 1)]  # one for each stage
    model(images).sum().backward()  # a mask from inference mode is fit for training
    model(images[:1])
    assert len(made) == 2
    assert not any("mask" in name for name in model.state_dict())


def test_what_looks_into_models_runs_on_the_meta_device_too():
    images = torch.empty(2, 1, 8, 12, device="meta")
    model = FastViT(**SIZES).to("meta")
    weights = attention_weights(model, images)
    assert weights.shape == (2, 2, 3, 25, 25) and attention_rollout(weights).is_meta
    labels = torch.empty(2, dtype=torch.long, device="meta")
    assert blanking(model, images, labels, (4, 6), 2).shape == (2, 24)
    position = torch.empty(7, 3, device="meta")
    assert interpolate_positions(position, (2, 3), (4, 4)).is_meta


def test_a_model_of_pixels_and_its_probe_run_on_the_meta_device():
    model = ImageGPT(GREY).to("meta").eval()
    ids = torch.empty(2, 8, 8, dtype=torch.long, device="meta")
    assert model.bits(ids).is_meta
    assert complete_image(model, ids, 7, torch.empty(2, 8, 8, device="meta")).is_meta
    features = pixel_features(model, ids, pieces=8)
    assert features.shape == (3, 2, 64) and features.is_meta
    assert linear_probe(features[-1], ids[:, 0, 0], 10).shape == (65, 10)
    pixels, palette = (torch.empty(n, 1, device="meta") for n in (9, 4))
    assert quantise(pixels, palette).is_meta and fit_palette(pixels, palette, 2).is_meta
