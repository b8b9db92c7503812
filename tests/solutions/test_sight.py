"""Your ViT sees: CIFAR-10, augmentation, which recipe a device gets, and what is promised."""

import hashlib
import io
import json
import tarfile

import pytest
import torch

from solutions.data import cifar10, fashion_mnist
from solutions.data.augment import crop, cut_mix, flip, mixed_cross_entropy
from solutions.experiments.__main__ import wanted
from solutions.experiments.sight import SEEDS, sight
from solutions.fused import fuse
from solutions.studies import sight_record
from solutions.studies.sight import (
    SIGHTS,
    batches,
    choose,
    equal_time,
    rival,
    seconds_a_step,
    share_right,
)
from solutions.train import train
from solutions.vit import ViT


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def tiny_cifar(tmp_path, monkeypatch):
    """Write a tiny CIFAR-10 in its own format: per picture a label, then red, green, blue."""
    folder = tmp_path / "cifar10" / cifar10.UNPACKED
    folder.mkdir(parents=True)
    made = {}
    for n, name in enumerate(cifar10.TRAIN + cifar10.TEST):
        images = torch.randint(256, (2 + n, 3, 32, 32)).to(torch.uint8)
        labels = torch.randint(10, (2 + n,)).to(torch.uint8)
        made[name] = images, labels
        rows = torch.cat([labels[:, None], images.flatten(1)], dim=1)
        (folder / name).write_bytes(rows.numpy().tobytes())
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    return folder, made


def test_cifar10_is_found_and_read_channel_by_channel(tiny_cifar):
    folder, made = tiny_cifar
    assert cifar10.find_cifar10() == folder
    (train_images, train_labels), (test_images, test_labels) = cifar10.load_cifar10()
    assert train_images.shape == (2 + 3 + 4 + 5 + 6, 3, 32, 32) and test_labels.shape == (7,)
    first, labels = made["data_batch_1.bin"]
    assert torch.equal((255 * train_images[:2]).round().to(torch.uint8), first)
    assert torch.equal(train_labels[:2], labels.long())
    assert torch.equal((255 * test_images).round().to(torch.uint8), made["test_batch.bin"][0])
    red = (folder / "data_batch_1.bin").read_bytes()[1]  # the first byte after the label
    assert round(255 * train_images[0, 0, 0, 0].item()) == red


def test_a_damaged_missing_or_other_cifar_file_is_named(tiny_cifar, monkeypatch):
    folder, _ = tiny_cifar
    path = folder / "data_batch_3.bin"
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    with pytest.raises(ValueError, match=r"data_batch_3\.bin.*no whole number"):
        cifar10.load_cifar10()
    path.write_bytes(bytes([77]) + whole[1:])
    with pytest.raises(ValueError, match="label 77"):
        cifar10.load_cifar10()
    path.unlink()
    assert cifar10.find_cifar10() is None
    with pytest.raises(FileNotFoundError, match="COURSE_DATA"):
        cifar10.load_cifar10()


def test_a_cifar_download_keeps_six_files_and_only_with_the_right_checksum(tiny_cifar, tmp_path):
    folder, _ = tiny_cifar
    packed = tmp_path / "packed.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        for name in cifar10.TRAIN + cifar10.TEST:
            archive.add(folder / name, f"{cifar10.UNPACKED}/{name}")
        evil = tarfile.TarInfo("../outside.txt")
        evil.size = 4
        archive.addfile(evil, io.BytesIO(b"evil"))
    md5 = hashlib.md5(packed.read_bytes()).hexdigest()
    with pytest.raises(ValueError, match="checksum"):
        cifar10.download_cifar10(tmp_path / "bad", packed.as_uri())
    assert not (tmp_path / "bad").exists()
    cifar10.download_cifar10(tmp_path / "new", packed.as_uri(), md5)
    names = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert names == sorted(cifar10.TRAIN + cifar10.TEST)
    assert not list(tmp_path.rglob("outside.txt"))
    assert len(cifar10.load_cifar10(tmp_path / "new")[0][1]) == 20


def test_a_crop_moves_each_picture_by_its_own_few_pixels():
    generator = torch.Generator().manual_seed(0)
    images = torch.arange(1.0, 31).view(1, 1, 5, 6).repeat(200, 2, 1, 1)
    moved = crop(images, generator, pad=2)
    assert moved.shape == images.shape and torch.equal(moved[:, 0], moved[:, 1])
    padded = torch.nn.functional.pad(images[0, 0], (2, 2, 2, 2))
    windows = {
        tuple(padded[top : top + 5, left : left + 6].flatten().tolist())
        for top in range(5)
        for left in range(5)
    }
    found = {tuple(image[0].flatten().tolist()) for image in moved}
    assert found == windows  # every one of the 25 places, and nothing else
    assert torch.equal(crop(images, generator, pad=0), images)


def test_a_flip_mirrors_about_half_of_the_pictures():
    images = torch.rand(400, 1, 3, 4)
    turned = flip(images, torch.Generator().manual_seed(0))
    same = (turned == images).flatten(1).all(1)
    mirrored = (turned == images.flip(-1)).flatten(1).all(1)
    assert (same | mirrored).all() and 140 < mirrored.sum() < 260


def test_what_is_pasted_is_a_rectangle_of_another_picture_and_counts_by_its_pixels():
    n = 300
    images = torch.arange(float(n)).view(n, 1, 1, 1).expand(n, 2, 8, 10).clone()
    labels = torch.arange(n)
    mixed, first, second, share = cut_mix(images, labels, torch.Generator().manual_seed(0), 0.5)
    assert torch.equal(first, labels) and second.sort().values.equal(labels)
    own = mixed == first.view(-1, 1, 1, 1)
    others = mixed == second.view(-1, 1, 1, 1)
    assert (own | others).all() and torch.equal(own[:, 0], own[:, 1])
    torch.testing.assert_close(share, own[:, 0].float().mean((1, 2)))
    pasted = ~own[:, 0]
    rows, columns = pasted.any(2), pasted.any(1)
    assert torch.equal(pasted, rows[:, :, None] & columns[:, None, :])  # a rectangle
    changed = (share < 1).float().mean()
    assert 0.35 < changed < 0.6
    whole, _, _, all_own = cut_mix(images, labels, torch.Generator().manual_seed(0), 0.0)
    assert torch.equal(whole, images) and all_own.eq(1).all()


def test_the_mixed_loss_asks_for_both_labels_by_their_share():
    scores = torch.randn(3, 5)
    first, second = torch.tensor([0, 1, 2]), torch.tensor([3, 3, 4])
    share = torch.tensor([1.0, 0.25, 0.0])
    loss = mixed_cross_entropy(lambda images: scores, (None, first, second, share))
    logs = scores.log_softmax(-1)
    by_hand = -(logs[0, 0] + 0.25 * logs[1, 1] + 0.75 * logs[1, 3] + logs[2, 4]) / 3
    torch.testing.assert_close(loss, by_hand)


@pytest.mark.parametrize("key", list(SIGHTS))
def test_the_rival_has_as_many_parameters_as_the_vit(key):
    ours, theirs = ViT(**SIGHTS[key].model), rival(SIGHTS[key])
    sizes = [sum(p.numel() for p in model.parameters()) for model in (ours, theirs)]
    assert abs(sizes[0] / sizes[1] - 1) < 0.03
    side = SIGHTS[key].model["image_size"]
    images = torch.zeros(2, SIGHTS[key].model.get("n_channel", 1), *side)
    with torch.no_grad():
        assert ours(images).shape == theirs(images).shape == (2, len(SIGHTS[key].names))


def test_a_cpu_gets_the_small_recipe_and_a_gpu_the_large_one(tiny_cifar, monkeypatch, capsys):
    fake = (
        (torch.rand(9, 1, 28, 28), torch.arange(9)),
        (torch.rand(4, 1, 28, 28), torch.arange(4)),
    )
    monkeypatch.setattr("solutions.studies.sight.fetch", lambda name: fake)
    cpu, gpu = torch.device("cpu"), torch.device("cuda")
    assert choose(cpu)[0].key == "fashion small" and choose(gpu)[0].key == "fashion large"
    assert choose(gpu, "cifar10")[0].key == "cifar10 large"
    capsys.readouterr()
    assert choose(cpu, "cifar10")[0].key == "fashion small"
    assert "wants a GPU" in capsys.readouterr().out
    monkeypatch.setenv("COURSE_RECIPE", "test")
    short = choose(cpu)[0]
    assert short.recipe.steps == 20 and "No number" in sight_record.promise(short)
    with pytest.raises(ValueError, match="fashion, cifar10"):
        choose(cpu, "imagenet")


def test_without_network_and_data_the_digits_take_their_place(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    monkeypatch.setattr(fashion_mnist, "DEBIAN", ())
    monkeypatch.setattr(fashion_mnist, "ADDRESS", (tmp_path / "nowhere").as_uri() + "/")
    download = fashion_mnist.download_fashion_mnist
    monkeypatch.setitem(
        __import__("solutions.studies.sight", fromlist=["SOURCES"]).SOURCES,
        "fashion",
        (
            fashion_mnist.find_fashion_mnist,
            fashion_mnist.load_fashion_mnist,
            lambda folder: download(folder, fashion_mnist.ADDRESS),
        ),
    )
    chosen, ((images, _), _) = choose(torch.device("cpu"))
    assert chosen.key == "digits small" and images.shape == (1437, 1, 8, 8)
    assert "did not work" in capsys.readouterr().out
    assert choose(torch.device("cuda"))[0].key == "digits small"


def test_a_short_run_of_the_learners_class_and_its_rival_takes_equal_time():
    chosen = SIGHTS["digits small"]
    torch.manual_seed(0)
    images, labels = torch.rand(40, 1, 8, 8), torch.randint(10, (40,))
    draw = batches(chosen, images, labels)
    model = fuse(ViT(**chosen.model))
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    step = seconds_a_step(model, chosen, draw, at_least=0.05)
    assert 0 < step < 5
    assert all(torch.equal(p, before[name]) for name, p in model.named_parameters())
    longer = equal_time(chosen, ours=0.03, theirs=0.01)
    assert longer.recipe.steps == 3 * chosen.recipe.steps
    assert equal_time(chosen, ours=0.01, theirs=0.03).recipe.warmup <= chosen.recipe.steps // 30
    short = equal_time(chosen, ours=1.0, theirs=25.0)
    history = train(model, draw, short.recipe, mixed_cross_entropy, progress=False)
    assert len(history.loss) == short.recipe.steps == 10
    assert 0 <= share_right(model, images, labels) <= 1


def test_the_band_was_measured_with_the_recipe_and_the_models_of_the_code():
    record = sight_record.read_record()
    now = json.loads(json.dumps(sight_record.conditions()))
    for key, seeds in SEEDS.items():
        assert record[key].items() >= now[key].items(), f"{key}: run `make fashion` again"
        for kind in ("vit", "cnn"):
            right = record[key][kind]["right"]
            assert len(right) == len(seeds) and all(0.5 < share < 0.97 for share in right)
            assert all(second > 1 for second in record[key][kind]["seconds"])
        ours, theirs = (sum(record[key][kind]["seconds"]) for kind in ("vit", "cnn"))
        assert 0.6 < ours / theirs < 1.6  # equal time, nearly


def test_small_recipe_takes_less_than_three_minutes_with_its_rival():
    small = sight_record.read_record()["fashion small"]
    assert max(small["vit"]["seconds"]) + max(small["cnn"]["seconds"]) < 180


def test_a_promise_is_a_measured_band_or_a_quotation_or_none(capsys):
    small = sight_record.promise(SIGHTS["fashion small"])
    right = sight_record.read_record()["fashion small"]["vit"]["right"]
    assert f"{100 * min(right):.1f}" in small and f"{100 * max(right):.1f}" in small
    assert "measured" in small and "75" in sight_record.promise(SIGHTS["cifar10 large"])
    assert "180" in sight_record.promise(SIGHTS["cifar10 large"])  # their epochs, not ours
    assert "No number" in sight_record.promise(SIGHTS["digits small"])


def test_the_outcome_stands_beside_the_band():
    right = sight_record.read_record()["fashion small"]["vit"]["right"]
    chosen = SIGHTS["fashion small"]
    assert "within" in sight_record.beside(chosen, sum(right) / len(right))
    assert "below" in sight_record.beside(chosen, min(right) - 0.05)
    assert "above" in sight_record.beside(chosen, max(right) + 0.05)
    assert sight_record.beside(SIGHTS["digits small"], 0.9) == "90.0% right (nothing was promised)"


def test_the_recipes_are_run_only_where_they_are_named():
    assert sight not in [function for function, _ in wanted([])]
    assert len(wanted(["sight"])) == 2 * sum(map(len, SEEDS.values()))
