"""The loop as a GPU runs it, on a CPU: autocast to bfloat16 and a loss that is scaled."""

import pytest
import torch
from torch import nn

from solutions.train import Recipe, cross_entropy, train
from solutions.training import loop

RECIPE = Recipe(steps=120, batch=32, lr=1e-2, warmup=10, evaluate_every=40)


def a_model() -> nn.Module:
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Dropout(0.1), nn.Linear(32, 2))


def batches(n: int, generator: torch.Generator):
    x = torch.randn(n, 4, generator=generator)
    return x, (x[:, 0] > x[:, 1]).long()


def steep(model: nn.Module, batch) -> torch.Tensor:
    """A loss of the size that runs over when it is scaled."""
    return 1000 * cross_entropy(model, batch)


@pytest.fixture
def half(monkeypatch):
    """Let the loop do on the CPU all that it does on a T4; return its scalers."""
    scalers = []

    def as_on_a_gpu(device, scale=2.0**16):
        scalers.append(torch.amp.GradScaler(device.type, init_scale=scale))
        return torch.autocast(device.type, torch.bfloat16), scalers[-1]

    monkeypatch.setattr(loop, "precision", as_on_a_gpu)
    return scalers


def test_a_cpu_computes_in_full_precision_and_scales_nothing():
    autocast, scaler = loop.precision(torch.device("cpu"))
    assert not autocast._enabled and not scaler.is_enabled()


@pytest.mark.parametrize("has_bfloat16", [True, False])
def test_a_gpu_computes_in_half_precision_and_scales_the_loss_only_of_float16(
    monkeypatch, has_bfloat16
):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: has_bfloat16)
    made = {}
    monkeypatch.setattr(torch, "autocast", lambda *given, **named: made.update(cast=(given, named)))
    monkeypatch.setattr(torch.amp, "GradScaler", lambda *given, **named: made.update(scale=named))
    loop.precision(torch.device("cuda"))
    kind = torch.bfloat16 if has_bfloat16 else torch.float16
    assert made["cast"] == (("cuda", kind), {"enabled": True})
    assert made["scale"] == {"enabled": not has_bfloat16}  # a T4 has no bfloat16


def test_the_loop_learns_in_half_precision_with_weights_in_full(half):
    model, kinds = a_model(), set()
    model[0].register_forward_hook(lambda layer, given, out: kinds.add(out.dtype))
    history = train(model, batches, RECIPE, progress=False)
    assert kinds == {torch.bfloat16}
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert sum(history.loss[-20:]) / 20 < 0.5 * history.loss[0]
    assert half[0].get_scale() == 2.0**16  # nothing ran over


def test_the_scale_does_not_change_what_is_learned(half, monkeypatch):
    scaled, plain = a_model(), a_model()
    train(scaled, batches, RECIPE, progress=False)
    cast = torch.autocast("cpu", torch.bfloat16), torch.amp.GradScaler("cpu", enabled=False)
    monkeypatch.setattr(loop, "precision", lambda device: cast)
    train(plain, batches, RECIPE, progress=False)
    for one, other in zip(scaled.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-6)  # a power of two rounds nothing


def test_a_step_whose_gradients_run_over_is_left_out_and_the_scale_halves(half, monkeypatch):
    usual = loop.precision
    monkeypatch.setattr(loop, "precision", lambda device: usual(device, scale=2.0**127))
    model = a_model()
    before = [p.detach().clone() for p in model.parameters()]
    train(model, batches, Recipe(steps=1, batch=32, warmup=1), steep, progress=False)
    assert all(torch.equal(p, old) for p, old in zip(model.parameters(), before, strict=True))
    assert half[0].get_scale() == 2.0**126
    history = train(model, batches, RECIPE, steep, progress=False)  # learns once the scale is down
    assert half[1].get_scale() < 2.0**126
    assert sum(history.loss[-20:]) / 20 < 0.5 * history.loss[0]


def test_a_stopped_run_in_half_precision_goes_on_to_the_bit_with_its_scale(half, tmp_path):
    calm, stopped = a_model(), a_model()
    whole = train(calm, batches, RECIPE, progress=False)
    drawn = []

    def interrupted(n, generator):
        drawn.append(n)
        if len(drawn) == 61:
            raise KeyboardInterrupt
        return batches(n, generator)

    keep = tmp_path / "run.safetensors"
    assert train(stopped, interrupted, RECIPE, keep=keep, progress=False).interrupted
    again = a_model()
    assert train(again, batches, RECIPE, keep=keep, progress=False).loss == whole.loss
    for one, other in zip(again.parameters(), calm.parameters(), strict=True):
        assert torch.equal(one, other)
