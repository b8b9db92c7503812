"""The one training loop: same numbers again, stopped and taken up again, best weights kept."""

import copy
import math
import signal
import types

import nbformat
import pytest
import torch
from nbclient import NotebookClient
from torch import nn

from autograder.repository import ROOT
from solutions.train import History, Recipe, n_learned, rate_at, train
from solutions.training import checkpoint, live_curve
from solutions.training import loop as module
from solutions.training.best_weights import Best, is_loss
from solutions.training.between_steps import Moment, held_back


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
    one, other = a.state_dict(), b.state_dict()
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


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


def averaging() -> nn.Module:
    """Make a model whose forward pass draws (dropout) and changes something (running averages)."""
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.2), nn.Linear(8, 3))


def drawing_scores(model: nn.Module) -> dict[str, float]:
    """Evaluate on new examples: this draws from the dice of dropout."""
    return {"loss": model(torch.randn(50, 4)).square().mean().item()}


def ctrl_c(where: str, step: int, monkeypatch) -> dict:
    """Return the arguments of a training that is interrupted once, so many steps in."""
    calls, looks = [], []
    update = torch.optim.AdamW.step

    def here(place: str) -> bool:
        return where == place and len(calls) == step + 1 and not looks

    def draw(n, generator):
        calls.append(n)
        if here("before the draw"):
            raise KeyboardInterrupt
        batch = batches(n, generator)
        if here("after the draw"):
            raise KeyboardInterrupt
        return batch

    def loss(model, batch):
        value = module.cross_entropy(model, batch)
        if here("in the loss"):
            raise KeyboardInterrupt
        if here("in the backward pass"):
            value.register_hook(lambda gradient: signal.raise_signal(signal.SIGINT))
        return value

    def half_an_update(optimiser, *given):
        if here("in the update"):
            signal.raise_signal(signal.SIGINT)
        return update(optimiser, *given)

    def evaluate(model):
        scores = drawing_scores(model)
        if here("in the evaluation"):
            looks.append(scores)
            raise KeyboardInterrupt
        return scores

    monkeypatch.setattr(torch.optim.AdamW, "step", half_an_update)
    return {"batches": draw, "loss": loss, "evaluate": evaluate}


PLACES = ["before the draw", "after the draw", "in the loss", "in the backward pass"]


@pytest.mark.parametrize(
    ("where", "stop", "made"),
    [
        *((where, stop, stop) for where in PLACES for stop in (0, 7, 10, 23)),
        *(("in the update", stop, stop + 1) for stop in (0, 7, 9, 29)),  # it is made to the end
        *(("in the evaluation", stop, stop + 1) for stop in (9, 29)),
    ],
)
def test_a_stopped_run_taken_up_again_ends_as_one_that_was_never_stopped(
    tmp_path, monkeypatch, where, stop, made
):
    whole = averaging()
    undisturbed = train(whole, batches, RECIPE, evaluate=drawing_scores)
    keep = tmp_path / "run.safetensors"
    with monkeypatch.context() as patch:
        part = train(averaging(), recipe=RECIPE, keep=keep, **ctrl_c(where, stop, patch))
    assert part.interrupted and len(part.loss) == made
    assert part.loss == undisturbed.loss[:made] and part.scores[-1]["step"] == made
    torch.manual_seed(1234)  # another process: other dice, other weights
    fresh = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.2), nn.Linear(8, 3))
    rest = train(fresh, batches, RECIPE, evaluate=drawing_scores, keep=keep)
    assert rest.loss == undisturbed.loss and not rest.interrupted
    assert [s for s in rest.scores if s["step"] in (10, 20, 30)] == undisturbed.scores
    assert equal(fresh, whole)
    again = train(averaging(), batches, RECIPE, evaluate=drawing_scores, keep=keep)
    assert again.loss == rest.loss and again.scores == rest.scores  # nothing is run twice


def test_ctrl_c_waits_for_a_block_that_is_held_back():
    done = []
    with pytest.raises(KeyboardInterrupt):
        with held_back():
            signal.raise_signal(signal.SIGINT)
            done.append("the rest of the block")
        done.append("after it")
    assert done == ["the rest of the block"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_a_training_can_run_in_a_thread():
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        threaded = pool.submit(train, a_model(), batches, RECIPE).result()
    assert threaded.loss == train(a_model(), batches, RECIPE).loss


def test_a_second_ctrl_c_finds_the_steps_on_disk(tmp_path):
    def impatient(model):
        raise KeyboardInterrupt

    recipe, keep = Recipe(**{**vars(RECIPE), "evaluate_every": 0}), tmp_path / "run.safetensors"
    with pytest.raises(KeyboardInterrupt):
        train(a_model(), stop_at(7), recipe, evaluate=impatient, keep=keep)
    assert len(checkpoint.read_notes(keep)["history"]["loss"]) == 7


def test_the_dice_of_a_gpu_are_noted_kept_and_put_back(monkeypatch):
    device = torch.device("cuda:1")
    rolled = {device: torch.tensor([1, 2], dtype=torch.uint8)}
    gpu = types.SimpleNamespace(
        get_rng_state=lambda where: rolled[where].clone(),
        set_rng_state=lambda state, where: rolled.update({where: state}),
    )
    monkeypatch.setattr(torch, "get_device_module", {device: gpu}.get)
    weights = [types.SimpleNamespace(device=device)]  # a model on it, as far as it is asked
    model = types.SimpleNamespace(parameters=lambda: iter(weights), buffers=lambda: iter([]))
    moment = Moment(model, torch.Generator())
    noted = moment.dice
    rolled[device] = torch.tensor([3, 4], dtype=torch.uint8)
    moment.put_back()
    assert rolled[device].tolist() == [1, 2]
    rolled[device] = torch.tensor([5, 6], dtype=torch.uint8)
    moment.start_from({k: x for k, x in noted.items() if k != "gpu"})  # kept by a CPU: no matter
    assert rolled[device].tolist() == [5, 6]
    moment.start_from(noted)
    assert rolled[device].tolist() == [1, 2]


def test_the_scale_of_half_precision_is_kept(tmp_path):
    """A T4 scales its loss, a CPU does not; the scaler itself works on both."""

    def standing(scaler, path=tmp_path / "run.safetensors"):
        model = a_model()
        moment = Moment(model, torch.Generator())
        optimiser = module.make_optimiser(model, RECIPE)
        return checkpoint.Checkpoint(path, RECIPE, model, optimiser, scaler, moment, Best())

    def scaler(scale, enabled=True):
        return torch.amp.GradScaler("cpu", init_scale=scale, enabled=enabled)

    standing(scaler(4096.0)).write(History())
    taken_up = scaler(8.0)
    standing(taken_up).take_up(History())
    assert taken_up.get_scale() == 4096.0
    standing(scaler(8.0, enabled=False)).take_up(History())  # goes on where nothing is scaled
    standing(scaler(8.0, enabled=False)).write(History())
    taken_up = scaler(16.0)
    standing(taken_up).take_up(History())
    assert taken_up.get_scale() == 16.0


def test_a_checkpoint_of_another_recipe_is_refused_by_name(tmp_path):
    keep = tmp_path / "run.safetensors"
    train(a_model(), batches, RECIPE, keep=keep)
    with pytest.raises(ValueError, match=r"another recipe \(\{'lr': 0.003\}\)"):
        train(a_model(), batches, Recipe(**{**vars(RECIPE), "lr": 1e-2}), keep=keep)
    with pytest.raises(ValueError, match="belongs to another model"):
        train(nn.Linear(4, 3), batches, RECIPE, keep=keep)
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


def scored(values: list[float], name: str = "validation loss"):
    """Make an `evaluate` that says these values one after another, and keeps what it was shown."""
    seen, given = [], iter(values)

    def evaluate(model):
        seen.append(copy.deepcopy(model))
        return {"other": 0.5, name: next(given)}

    return evaluate, seen


EVERY_TEN = Recipe(steps=40, batch=8, evaluate_every=10)


@pytest.mark.parametrize(
    ("name", "returned"), [("validation loss", 0), ("validation", 0), ("right", 2)]
)
def test_an_interrupted_run_returns_the_weights_of_its_lowest_loss(tmp_path, name, returned):
    evaluate, seen = scored([1.0, 5.0, 9.0], name)
    model, keep = a_model(), tmp_path / "run.safetensors"
    history = train(model, stop_at(25), EVERY_TEN, evaluate=evaluate, keep=keep)
    assert [s["step"] for s in history.scores] == [10, 20, 25]
    assert [equal(model, each) for each in seen] == [i == returned for i in range(3)]
    evaluate, later = scored([8.0, 7.0], name)
    other = a_model()
    history = train(other, stop_at(10), EVERY_TEN, evaluate=evaluate, keep=keep)
    assert history.interrupted and len(history.loss) == 35  # went on from 25, not from the best
    assert equal(other, seen[0] if returned == 0 else later[-1])


def test_a_run_that_is_not_interrupted_returns_its_last_weights():
    evaluate, seen = scored([1.0, 5.0, 9.0, 7.0])
    model = a_model()
    train(model, batches, EVERY_TEN, evaluate=evaluate)
    assert equal(model, seen[3]) and not equal(model, seen[0])


def test_an_evaluation_may_say_anything():
    said = {"losses": [1.0, 2.0], "words": "a loss", "loss": math.nan}
    for drawn in (batches, stop_at(25)):
        model = a_model()
        history = train(model, drawn, EVERY_TEN, evaluate=lambda model: said)
        assert history.scores[-1]["losses"] == [1.0, 2.0]


def test_a_score_is_a_loss_by_its_name():
    assert all(map(is_loss, ["loss", "held-out loss", "Validation Loss", "validation"]))
    assert not any(map(is_loss, ["right", "validation accuracy", "step", "test"]))


def test_a_loss_that_is_no_number_stops_with_a_sentence():
    with pytest.raises(FloatingPointError, match="loss nan at step 0; lower lr"):
        train(a_model(), batches, RECIPE, loss=lambda m, b: m(b[0]).sum() * math.nan)


@pytest.mark.parametrize("lowest", ["", "validation loss", "other"])
def test_a_loss_that_is_no_number_leaves_the_best_weights(lowest):
    evaluate, seen = scored([5.0, 1.0, 9.0])
    made = []

    def loss(model, batch):
        made.append(batch)
        return module.cross_entropy(model, batch) * (math.nan if len(made) == 36 else 1)

    model, recipe = a_model(), Recipe(**{**vars(EVERY_TEN), "lowest": lowest})
    with pytest.raises(FloatingPointError, match="loss nan at step 35"):
        train(model, batches, recipe, loss, evaluate)
    assert equal(model, seen[0 if lowest == "other" else 1])


def test_the_bar_counts_what_is_learned_a_second_and_not_the_evaluations(monkeypatch):
    shown, clock = [], [0.0]

    class Bar(list):
        def set_postfix_str(self, text, refresh):
            shown.append(text)

    def loss(model, batch):
        clock[0] += 2.0
        return model.weight.abs().sum() * 0

    def evaluate(model):
        clock[0] += 100.0
        return {}

    monkeypatch.setattr(module, "progress_bar", lambda steps, *_: Bar(steps))
    monkeypatch.setattr(module, "time", types.SimpleNamespace(perf_counter=lambda: clock[0]))
    recipe = Recipe(steps=4, batch=6, evaluate_every=1)
    for shapes, speed in {((6, 9),): "24 tokens/s", ((6, 9), (6, 5)): "15 tokens/s"}.items():
        batch = tuple(map(torch.zeros, shapes))
        train(nn.Linear(2, 2), lambda *_, batch=batch: batch, recipe, loss, evaluate)
        assert shown[-1] == f"loss 0.000, {speed}"
    assert n_learned((torch.zeros(6, 3, 8, 8), torch.zeros(6))) == (6, "examples")
    assert n_learned(()) == (0, "examples")


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


CELL = """
import torch
from solutions.train import Recipe, train

def draw(n, generator):
    return torch.randn(n, 4, generator=generator), torch.zeros(n, dtype=torch.long)

train(torch.nn.Linear(4, 3), draw, Recipe(steps=5), live=True)
"""


def test_a_notebook_shows_the_curve_as_one_picture():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    root = ROOT
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(root)}}).execute()
    shown = [o.data for o in notebook.cells[0].outputs if o.output_type == "display_data"]
    assert sum("image/png" in data for data in shown) == 1
    assert not any("<Figure" in data.get("text/plain", "") for data in shown)


def test_every_score_is_drawn_and_what_is_no_loss_on_an_axis_of_its_own():
    said = [
        {"step": 1, "validation": 3.0, "right": 0.2, "words": "a cat"},
        {"step": 3, "validation": 2.0, "right": 0.6, "held-out loss": 2.5},
    ]
    left, right = live_curve.plot([4.0, 3.0, 2.0, 1.0], said).axes

    def lines(axes) -> dict:
        return {line.get_label(): line.get_xydata().tolist() for line in axes.lines}

    assert list(lines(left)) == ["loss of each batch", "smoothed", "validation", "held-out loss"]
    assert lines(left)["validation"] == [[1, 3.0], [3, 2.0]]
    assert lines(left)["held-out loss"] == [[3, 2.5]]
    assert lines(right) == {"right": [[1, 0.2], [3, 0.6]]}
    (alone,) = live_curve.plot([4.0, 3.0], [{"step": 1, "validation": 3.0}]).axes
    assert "validation" in lines(alone)


def test_the_curve_is_drawn_only_in_a_notebook_and_not_at_every_step(monkeypatch, capsys):
    import IPython.display

    shown = []

    class Handle:
        def update(self, image, raw=False):
            shown.append("update")

    def display(image, display_id, raw=False):
        shown.append("display")
        return Handle()

    monkeypatch.setattr(IPython.display, "display", display)
    for there in (False, True):  # ipykernel may be imported where no kernel runs
        monkeypatch.delitem(__import__("sys").modules, "ipykernel", raising=False)
        if there:
            monkeypatch.setitem(__import__("sys").modules, "ipykernel", object())
        history = train(a_model(), batches, RECIPE, evaluate=held_out_loss, live=True)
        assert isinstance(history, History) and shown == []
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(live_curve, "in_notebook", lambda: True)
    curve = live_curve.LiveCurve(seconds=0)
    for _ in range(3):
        curve.draw(history.loss, history.scores)
    assert shown == ["display", "update", "update"]
    del shown[:]
    seldom = live_curve.LiveCurve(seconds=1000)
    for _ in range(3):
        seldom.draw(history.loss, history.scores)
    seldom.draw(history.loss, history.scores, now=True)
    assert shown == ["display"]


def with_samples(model) -> dict:
    return {**held_out_loss(model), "sample": f"<b>sample {next(NUMBERS)}</b>"}


NUMBERS = iter(range(100))


def test_samples_of_a_run_are_shown_in_a_notebook_below_the_curve_and_escaped(monkeypatch):
    import IPython.display

    shown = []

    class Handle:
        def update(self, said, raw=False):
            shown.append(said)

    monkeypatch.setattr(live_curve, "in_notebook", lambda: True)
    monkeypatch.setattr(live_curve.LiveCurve.__init__, "__defaults__", (0,))
    monkeypatch.setattr(
        IPython.display, "display", lambda said, **_: shown.append(said) or Handle()
    )
    history = train(a_model(), batches, RECIPE, evaluate=with_samples, live=True)
    panels = [said for said in shown if isinstance(said, dict)]
    assert len(panels) == len(history.loss) + 1
    said = [score["sample"] for score in history.scores]
    assert len(said) > 1
    last = panels[-1]
    assert "done after" in last["text/plain"] and said[-1] in last["text/plain"]
    assert f"of {RECIPE.steps:,}" in panels[0]["text/plain"] and " left" in panels[0]["text/plain"]
    assert "/s" in panels[0]["text/plain"]
    for sample in said:  # the newest open, the others to be opened, none as markup
        assert sample.replace("<", "&lt;").replace(">", "&gt;") in last["text/html"]
    assert "<b>" not in last["text/html"] and "<details>" in last["text/html"]


def test_without_a_notebook_samples_are_printed_as_they_come(capsys):
    history = train(a_model(), batches, RECIPE, evaluate=with_samples, live=True)
    out = capsys.readouterr().out
    for score in history.scores:
        assert f"step {score['step']:,}, " in out and score["sample"] in out
    assert out.count("<b>sample") == len(history.scores)


def test_samples_are_kept_with_a_stopped_run_and_shown_again(tmp_path, capsys):
    keep = tmp_path / "run.safetensors"
    first = train(a_model(), stop_at(9), RECIPE, evaluate=with_samples, keep=keep)
    assert first.interrupted
    whole = train(a_model(), batches, RECIPE, evaluate=with_samples, keep=keep)
    kept_ones = [s["sample"] for s in whole.scores]
    assert kept_ones[: len(first.scores) - 1] == [s["sample"] for s in first.scores][:-1]


def test_a_time_is_written_as_a_person_says_it():
    said = {0.4: "0 s", 59.6: "1 min 0 s", 75: "1 min 15 s", 3599.7: "1 h 0 min", 4000: "1 h 6 min"}
    assert {seconds: live_curve.clock(seconds) for seconds in said} == said
