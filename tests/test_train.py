"""The one training loop: same numbers again, stopped and taken up again, best weights kept."""

import copy
import math

import pytest
import torch
from torch import nn

from solutions import checkpoint
from solutions.train import History, Recipe, rate_at, train


def a_model(dropout: float = 0.2) -> nn.Module:
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(dropout), nn.Linear(8, 3))


def batches(n: int, generator: torch.Generator):
    x = torch.randn(n, 4, generator=generator)
    return x, (x[:, 0] > 0).long() + (x[:, 1] > 0).long()


def held_out_loss(model: nn.Module) -> dict[str, float]:
    x, y = batches(200, torch.Generator().manual_seed(99))
    return {"held-out loss": nn.functional.cross_entropy(model(x), y).item()}


RECIPE = Recipe(steps=30, batch=16, warmup=5, evaluate_every=10, weight_decay=0.1)


def equal(a: nn.Module, b: nn.Module) -> bool:
    return all(torch.equal(x, y) for x, y in zip(a.parameters(), b.parameters(), strict=True))


def stop_at(step: int):
    """Make a batch function that is interrupted, as by Ctrl-C, when asked for that batch."""
    seen = []

    def interrupted(n, generator):
        if len(seen) == step:
            raise KeyboardInterrupt
        seen.append(n)
        return batches(n, generator)

    return interrupted


def test_a_run_repeats_to_the_bit_and_learns():
    first, second = a_model(), a_model()
    one = train(first, batches, RECIPE, evaluate=held_out_loss)
    two = train(second, batches, RECIPE, evaluate=held_out_loss)
    assert one.loss == two.loss and equal(first, second)
    assert [s["step"] for s in one.scores] == [10, 20, 30]
    assert one.scores[-1]["held-out loss"] < one.scores[0]["held-out loss"] < math.log(3) + 0.1


@pytest.mark.parametrize("stop", [0, 7, 10, 23])
def test_a_stopped_run_taken_up_again_ends_as_one_that_was_never_stopped(tmp_path, stop):
    whole, halved = a_model(), a_model()
    undisturbed = train(whole, batches, RECIPE)
    keep = tmp_path / "run.safetensors"
    part = train(halved, stop_at(stop), RECIPE, keep=keep)
    assert part.interrupted and len(part.loss) == stop
    torch.manual_seed(1234)  # another process: other dice, other weights
    fresh = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.2), nn.Linear(8, 3))
    rest = train(fresh, batches, RECIPE, keep=keep)
    assert rest.loss == undisturbed.loss and not rest.interrupted
    assert equal(fresh, whole)
    again = train(a_model(), batches, RECIPE, keep=keep)
    assert again.loss == rest.loss  # finished: nothing is run twice


def test_a_checkpoint_of_another_recipe_is_refused_by_name(tmp_path):
    keep = tmp_path / "run.safetensors"
    train(a_model(), batches, RECIPE, keep=keep)
    with pytest.raises(ValueError, match=r"another recipe \(\{'lr': 0.003\}\)"):
        train(a_model(), batches, Recipe(**{**vars(RECIPE), "lr": 1e-2}), keep=keep)
    keep.write_text("not a checkpoint")
    with pytest.raises(ValueError, match="is no checkpoint"):
        train(a_model(), batches, RECIPE, keep=keep)


def test_tied_weights_can_be_kept_and_stay_tied(tmp_path):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.head = nn.Embedding(3, 4), nn.Linear(4, 3, bias=False)
            self.head.weight = self.embed.weight

        def forward(self, x):
            return self.head(x)

    model, keep = Tied(), tmp_path / "tied.safetensors"
    train(model, stop_at(4), RECIPE, keep=keep)
    other = Tied()
    train(other, stop_at(0), RECIPE, keep=keep)
    assert equal(model, other) and other.head.weight is other.embed.weight


@pytest.mark.parametrize("stopped", [False, True])
def test_the_weights_of_the_lowest_score_are_the_ones_returned(tmp_path, stopped):
    scores = iter([3.0, 1.0, 2.0, 5.0])
    seen = []

    def evaluate(model):
        seen.append(copy.deepcopy(model))
        return {"loss": next(scores)}

    recipe = Recipe(steps=40, batch=8, evaluate_every=10, lowest="loss")
    model = a_model()
    drawn = stop_at(35) if stopped else batches
    history = train(model, drawn, recipe, evaluate=evaluate, keep=tmp_path / "run.safetensors")
    assert history.interrupted == stopped and len(history.scores) == 4
    assert equal(model, seen[1]) and not equal(model, seen[-1])
    taken_up = a_model()
    if not stopped:
        train(taken_up, batches, recipe, evaluate=evaluate, keep=tmp_path / "run.safetensors")
        assert equal(taken_up, seen[1])  # the best of the earlier session is not forgotten


def test_a_loss_that_is_no_number_stops_with_a_sentence():
    with pytest.raises(FloatingPointError, match="loss nan at step 0; lower lr"):
        train(a_model(), batches, RECIPE, loss=lambda m, b: m(b[0]).sum() * math.nan)


def test_the_rate_climbs_in_a_line_and_falls_in_a_cosine():
    recipe = Recipe(steps=110, warmup=10, lr=1.0)
    assert [rate_at(s, recipe) for s in (0, 4, 9)] == pytest.approx([0.1, 0.5, 1.0])
    assert rate_at(60, recipe) == pytest.approx(0.5)
    assert 0 <= rate_at(109, recipe) < 1e-3


def test_a_half_written_checkpoint_leaves_the_old_one(tmp_path, monkeypatch):
    keep = tmp_path / "run.safetensors"
    train(a_model(), stop_at(5), RECIPE, keep=keep)
    before = keep.read_bytes()
    monkeypatch.setattr(checkpoint, "save_file", lambda *a, **k: (_ for _ in ()).throw(OSError))
    with pytest.raises(OSError):
        train(a_model(), stop_at(9), RECIPE, keep=keep)
    assert keep.read_bytes() == before


def test_the_curve_is_drawn_only_in_a_notebook(monkeypatch):
    from solutions.live_curve import LiveCurve

    shown = []

    class Handle:
        def update(self, figure):
            shown.append("update")

    import IPython.display

    def display(figure, display_id):
        shown.append("display")
        return Handle()

    monkeypatch.setattr(IPython.display, "display", display)
    monkeypatch.delitem(__import__("sys").modules, "ipykernel", raising=False)
    history = train(a_model(), batches, RECIPE, evaluate=held_out_loss, live=True)
    assert isinstance(history, History) and shown == []
    monkeypatch.setitem(__import__("sys").modules, "ipykernel", object())
    curve = LiveCurve(seconds=0)
    for _ in range(3):
        curve.draw(history.loss, history.scores)
    assert shown == ["display", "update", "update"]
