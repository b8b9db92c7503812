"""Nothing is lost with the runtime: with a folder that stands in for the mounted Drive."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from solutions import COURSE, keeping, runtime
from solutions.train import Recipe, train

TRAINING = """\
import sys, time
from pathlib import Path
import torch
from torch import nn
from solutions import keeping
from solutions.train import Recipe, train

keeping.DRIVE = Path(sys.argv[1])
slow, result = sys.argv[2] == "slow", sys.argv[3]

def batches(n, generator):
    if slow:
        time.sleep(0.02)
    x = torch.randn(n, 5, generator=generator)
    return x, (x.sum(-1) > 0).long()

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(5, 16), nn.Dropout(0.2), nn.GELU(), nn.Linear(16, 2))
recipe = Recipe(steps=200, batch=8, warmup=5, evaluate_every=10)
score = lambda model: {"loss": model(torch.ones(1, 5)).sum().item()}
history = train(model, batches, recipe, evaluate=score, keep="run.safetensors", progress=False)
from safetensors.torch import save_file
save_file({**model.state_dict(), "curve": torch.tensor(history.loss, dtype=torch.float64)}, result)
"""


@pytest.fixture
def drive(tmp_path, monkeypatch) -> Path:
    mount = tmp_path / "drive" / "MyDrive"
    mount.mkdir(parents=True)
    (tmp_path / "content").mkdir()
    monkeypatch.chdir(tmp_path / "content")
    monkeypatch.setattr(keeping, "DRIVE", mount)
    return mount


def test_a_bare_name_lies_on_drive_where_it_is_mounted_and_else_beside_the_notebook(drive):
    assert keeping.kept("model.safetensors") == drive / COURSE / "model.safetensors"
    assert keeping.folder().is_dir()
    (drive / COURSE).rmdir()
    drive.rmdir()
    assert keeping.kept("model.safetensors") == Path.cwd() / "model.safetensors"


def test_a_path_that_somebody_chose_stays_as_it_is(drive, tmp_path):
    assert keeping.kept(tmp_path / "mine.safetensors") == tmp_path / "mine.safetensors"
    assert keeping.kept("runs/mine.safetensors") == Path("runs/mine.safetensors")


def test_what_was_begun_before_drive_was_mounted_goes_on_there(drive):
    Path("progress.json").write_text("half", encoding="utf-8")
    path = keeping.kept("progress.json")
    assert path.is_relative_to(drive) and path.read_text(encoding="utf-8") == "half"
    path.write_text("whole", encoding="utf-8")
    assert keeping.kept("progress.json").read_text(encoding="utf-8") == "whole"


def test_a_training_puts_its_checkpoint_on_drive(drive):
    model = torch.nn.Linear(2, 2)
    recipe = Recipe(steps=2, batch=4, warmup=1)

    def batches(n, generator):
        return torch.randn(n, 2, generator=generator), torch.zeros(n, dtype=torch.long)

    train(model, batches, recipe, keep="run.safetensors", progress=False)
    assert (drive / COURSE / "run.safetensors").exists()
    assert not Path("run.safetensors").exists()


def training(folder: Path, drive: Path, pace: str, result: str) -> subprocess.Popen:
    folder.mkdir()  # a new runtime has none of the old one's files
    (folder / "training.py").write_text(TRAINING, encoding="utf-8")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path.cwd())}
    command = [sys.executable, "training.py", str(drive), pace, result]
    return subprocess.Popen(command, cwd=folder, env=environment)


def test_a_run_whose_runtime_was_taken_away_ends_to_the_bit_as_one_never_disturbed(tmp_path):
    mount = tmp_path / "MyDrive"
    mount.mkdir()
    lost = training(tmp_path / "first", mount, "slow", "result.safetensors")
    kept, deadline = mount / COURSE / "run.safetensors", time.monotonic() + 60
    while not kept.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    lost.send_signal(signal.SIGKILL)  # no farewell: nothing can be written any more
    assert lost.wait(30) == -signal.SIGKILL and kept.exists()
    assert not (tmp_path / "first" / "result.safetensors").exists()
    in_between = kept.read_bytes()

    assert training(tmp_path / "second", mount, "fast", "result.safetensors").wait(120) == 0
    resumed = load_file(tmp_path / "second" / "result.safetensors")
    assert training(tmp_path / "calm", tmp_path / "no", "fast", "result.safetensors").wait(120) == 0
    calm = load_file(tmp_path / "calm" / "result.safetensors")
    assert in_between != kept.read_bytes() and len(calm["curve"]) == 200
    assert resumed.keys() == calm.keys()
    assert all(torch.equal(resumed[k], calm[k]) for k in calm)


def test_on_colab_a_learner_is_told_how_to_keep_what_is_trained(drive, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "google.colab", object())
    monkeypatch.setattr("solutions.train.pick_device", lambda: torch.device("cpu"))
    runtime.ready("gpt", trains=True)
    said = capsys.readouterr().out
    assert f"kept in {drive / COURSE}" in said and "T4 GPU" in said
    drive.rmdir()
    runtime.ready("gpt", trains=True)
    assert "lost with this runtime" in capsys.readouterr().out


def test_with_a_gpu_its_name_and_the_large_recipe_are_announced(monkeypatch):
    monkeypatch.setattr("solutions.train.pick_device", lambda: torch.device("cuda"))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Tesla T4")
    assert runtime.device_text() == "GPU found (Tesla T4): trainings take their large recipe."


def test_a_notebook_that_does_not_train_says_only_that_it_is_ready(capsys):
    runtime.ready("warm_up")
    assert capsys.readouterr().out == f"{COURSE}, lesson warm_up: ready.\n"
