"""The lesson vit: the reference beside Hugging Face's and PyTorch's, its data, its results."""

import gzip
import hashlib
import json

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from solutions.data import fashion_mnist
from solutions.data.digits import all_digits, few_training_digits, split_digits
from solutions.data.warp import warp
from solutions.experiments import fashion, kept
from solutions.experiments.listed import wanted
from solutions.experiments.vit import (
    LABELS,
    NEW_LABELS,
    SEEDS,
    build,
    digits,
    few_labels,
    first_steps,
    grown,
    new_question,
)
from solutions.figures.patches import orders, patches
from solutions.studies import fashion_record
from solutions.studies.shuffled_patches import (
    draw_bars,
    shuffle_patches,
    shuffle_test,
    without_positions,
)
from solutions.studies.small_cnn import SmallCNN
from solutions.studies.vit_maps import attention_weights, blanking
from solutions.train import Recipe
from solutions.vit import PatchEmbedding, ViT, attention_rollout, interpolate_positions, patchify


def drawn(module: nn.Module, std: float = 0.3) -> nn.Module:
    """Give every parameter, gains and biases too, a number of its own."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(std * torch.randn_like(parameter))
    return module


def theirs_like(ours: ViT, **config):
    """Build Hugging Face's ViT of the same sizes and copy our weights into it."""
    transformers = pytest.importorskip("transformers")
    config = transformers.ViTConfig(hidden_act="gelu", layer_norm_eps=1e-12, **config)
    model = transformers.ViTModel(config, add_pooling_layer=False).eval()
    names = {
        "embeddings.cls_token": ours.embedding.class_token,
        "embeddings.position_embeddings": ours.embedding.position,
        "embeddings.patch_embeddings.projection.weight": ours.embedding.project.weight,
        "embeddings.patch_embeddings.projection.bias": ours.embedding.project.bias,
        "layernorm.weight": ours.last_norm.gain,
        "layernorm.bias": ours.last_norm.bias,
    }
    for i, block in enumerate(ours.blocks):
        for their_name, layer in {
            "attention.q_proj": block.attention.query,
            "attention.k_proj": block.attention.key,
            "attention.v_proj": block.attention.value,
            "attention.o_proj": block.attention.out,
            "mlp.fc1": block.feed_forward.up,
            "mlp.fc2": block.feed_forward.down,
        }.items():
            names[f"layers.{i}.{their_name}.weight"] = layer.weight
            names[f"layers.{i}.{their_name}.bias"] = layer.bias
        for their_name, norm in {
            "layernorm_before": block.attention_norm,
            "layernorm_after": block.feed_forward_norm,
        }.items():
            names[f"layers.{i}.{their_name}.weight"] = norm.gain
            names[f"layers.{i}.{their_name}.bias"] = norm.bias
    state = model.state_dict()
    assert set(names) == set(state)
    model.load_state_dict({k: names[k].detach().reshape(v.shape) for k, v in state.items()})
    return model


def test_the_model_agrees_with_hugging_face_token_for_token():
    torch.manual_seed(0)
    ours = ViT((8, 12), 4, 3, 5, n_embd=24, n_layer=3, n_head=4, n_hidden=40, eps=1e-12)
    drawn(ours).eval()
    theirs = theirs_like(
        ours,
        image_size=(8, 12),
        patch_size=4,
        num_channels=3,
        hidden_size=24,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=40,
    )
    images = torch.randn(2, 3, 8, 12)
    with torch.no_grad():
        torch.testing.assert_close(
            ours.encode(images), theirs(images).last_hidden_state, atol=1e-5, rtol=1e-5
        )


def test_interpolated_positions_agree_with_hugging_face():
    torch.manual_seed(1)
    ours = drawn(ViT((8, 8), 2, 1, n_embd=12, n_layer=1, n_head=3, n_hidden=20, eps=1e-12)).eval()
    sizes = {"image_size": 8, "patch_size": 2, "num_channels": 1, "hidden_size": 12}
    theirs = theirs_like(
        ours, **sizes, num_hidden_layers=1, num_attention_heads=3, intermediate_size=20
    )
    images = torch.randn(2, 1, 12, 20)
    old = ours.embedding.position.data
    ours.embedding.position = nn.Parameter(interpolate_positions(old, (4, 4), (6, 10)))
    with torch.no_grad():
        expected = theirs(images, interpolate_pos_encoding=True).last_hidden_state
        torch.testing.assert_close(ours.encode(images), expected, atol=1e-5, rtol=1e-5)


def test_the_embedding_is_a_convolution_whose_stride_is_its_size():
    embedding = drawn(PatchEmbedding((6, 9), 3, 2, 7))
    conv = nn.Conv2d(2, 7, kernel_size=3, stride=3)
    conv.weight.data = embedding.project.weight.data.view(7, 2, 3, 3)
    conv.bias.data = embedding.project.bias.data
    images = torch.randn(4, 2, 6, 9)
    tokens = embedding(images) - embedding.position
    torch.testing.assert_close(tokens[:, 1:], conv(images).flatten(2).mT, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(tokens[:, 0], embedding.class_token.expand(4, 7))


def test_patches_agree_with_unfold_and_can_be_put_back():
    images = torch.randn(3, 2, 6, 10)
    expected = F.unfold(images, 2, stride=2).mT
    assert torch.equal(patchify(images, 2), expected)
    assert torch.equal(F.fold(patchify(images, 2).mT, (6, 10), 2, stride=2), images)
    with pytest.raises(ValueError, match="7 x 6"):
        patchify(torch.randn(1, 7, 6), 3)


def test_the_same_grid_leaves_the_positions_as_they_are():
    position = torch.randn(13, 5)
    assert torch.equal(interpolate_positions(position, (3, 4), (3, 4)), position)
    larger = interpolate_positions(position, (3, 4), (6, 8))
    assert larger.shape == (49, 5) and torch.equal(larger[0], position[0])
    constant = interpolate_positions(torch.ones(5, 2), (2, 2), (3, 5))
    torch.testing.assert_close(constant, torch.ones(16, 2))


def test_rollout_sums_over_all_ways_down():
    weights = torch.randn(3, 2, 4, 5, 5, dtype=torch.float64).softmax(-1)
    rollout = attention_rollout(weights)
    torch.testing.assert_close(rollout.sum(-1), torch.ones(2, 5, dtype=torch.float64))
    mixed = (weights.mean(2) + torch.eye(5)) / 2  # (L, B, T, T)
    by_hand = torch.zeros(2, dtype=torch.float64)
    for first in range(5):
        for second in range(5):
            by_hand += mixed[2, :, 0, second] * mixed[1, :, second, first] * mixed[0, :, first, 3]
    torch.testing.assert_close(rollout[:, 0, 3], by_hand)


def test_collected_weights_are_those_of_the_model():
    model = drawn(ViT(n_embd=12, n_layer=2, n_head=3)).eval()
    images = torch.randn(2, 1, 8, 8)
    weights = attention_weights(model, images)
    assert weights.shape == (2, 2, 3, 17, 17)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 2, 3, 17))
    block, x = model.blocks[0], model.embedding(images)
    seen = block.attention_norm(x)
    value = block.attention.value(seen).unflatten(-1, (3, 4)).transpose(1, 2)
    mixed = (weights[0] @ value).transpose(1, 2).flatten(2)
    expected = block.attention(seen)
    torch.testing.assert_close(block.attention.out(mixed), expected, atol=1e-5, rtol=1e-4)


def test_blanking_an_empty_patch_costs_nothing():
    model, images = drawn(ViT(n_embd=12, n_layer=1, n_head=3)).eval(), torch.rand(2, 1, 8, 8)
    images[:, :, 2:4, 6:8] = 0
    lost = blanking(model, images, torch.tensor([1, 2]), grid=4, size=2)
    assert lost.shape == (2, 16)
    assert (lost[:, 7] == 0).all() and (lost.abs().sum(0) > 0).sum() == 15


def test_without_positions_the_order_of_the_patches_does_not_matter_and_with_them_it_does():
    images, order = torch.randn(3, 1, 8, 8), torch.randperm(16)
    shuffled = shuffle_patches(images, 2, order)
    assert torch.equal(patchify(shuffled, 2), patchify(images, 2)[:, order])
    model = drawn(ViT(n_embd=12, n_layer=2, n_head=3)).eval()
    assert (model(images) - model(shuffled)).abs().max() > 1e-2
    without_positions(model)
    torch.testing.assert_close(model(images), model(shuffled), atol=1e-5, rtol=1e-4)


def test_shuffling_all_images_and_the_positions_alike_changes_nothing():
    images, order = torch.randn(3, 1, 8, 8), torch.randperm(16)
    model = drawn(ViT(n_embd=12, n_layer=2, n_head=3)).eval()
    before = model(images)
    position = model.embedding.position.data
    model.embedding.position.data = torch.cat([position[:1], position[1:][order]])
    after = model(shuffle_patches(images, 2, order))
    torch.testing.assert_close(before, after, atol=1e-5, rtol=1e-4)


def test_the_models_have_equally_many_parameters():
    sizes = [sum(p.numel() for p in model.parameters()) for model in (ViT(n_hidden=96), SmallCNN())]
    assert abs(sizes[0] - sizes[1]) < 0.01 * sizes[0]


def test_everything_runs_on_the_meta_device():
    model = ViT((8, 12), n_embd=12, n_layer=2, n_head=3).to("meta")
    images = torch.randn(2, 1, 8, 12, device="meta")
    assert model(images).shape == (2, 10) and model.encode(images).shape == (2, 25, 12)
    assert attention_rollout(torch.rand(2, 3, 4, 5, 5, device="meta")).shape == (3, 5, 5)
    position = torch.rand(7, 3, device="meta")
    assert interpolate_positions(position, (2, 3), (4, 4)).shape == (17, 3)
    assert SmallCNN((8, 12)).to("meta")(images).shape == (2, 10)


def test_the_digits_are_split_once_and_every_class_is_on_both_sides():
    images, _ = all_digits()
    assert images.shape == (1797, 1, 8, 8) and images.min() == 0 and images.max() == 1
    assert torch.equal((images * 16).round(), images * 16)
    (train, _), (test, test_labels) = split_digits()
    assert len(train) == 1437 and test_labels.bincount().tolist() == [36] * 10
    rows = torch.cat([train, test]).flatten(1)
    assert len(rows.unique(dim=0)) == len(images.flatten(1).unique(dim=0))
    assert not (test.flatten(1)[:, None] == train.flatten(1)).all(-1).any()
    again = split_digits()
    assert torch.equal(again[1][0], test)


def test_few_training_digits_are_balanced_and_from_the_training_part():
    images, labels = few_training_digits(100, seed=1)
    assert labels.bincount().tolist() == [10] * 10
    train = split_digits()[0][0].flatten(1)
    assert (images.flatten(1)[:, None] == train).all(-1).any(-1).all()
    assert not torch.equal(few_training_digits(100, seed=2)[0], images)
    assert len(few_training_digits(1437)[1]) == 1437


def test_a_warp_of_nothing_is_the_image_and_a_warp_is_small():
    images = split_digits()[1][0][:20]
    same = warp(images, turn=0.0, zoom=0.0, move=0.0)
    torch.testing.assert_close(same, images, atol=1e-6, rtol=0)
    generator = torch.Generator().manual_seed(0)
    changed = warp(images, generator)
    assert changed.shape == images.shape and 0.01 < (changed - images).abs().mean() < 0.2


def idx(table: torch.Tensor) -> bytes:
    sizes = b"".join(n.to_bytes(4, "big") for n in table.shape)
    return bytes([0, 0, 8, table.ndim]) + sizes + table.numpy().tobytes()


@pytest.fixture
def tiny_fashion(tmp_path, monkeypatch):
    """Write a tiny Fashion-MNIST in the real format and say where it is."""
    folder = tmp_path / "fashion_mnist"
    folder.mkdir()
    tables = {}
    for name in fashion_mnist.FILES:
        n = 6 if name.startswith("train") else 4
        shape = (n, 28, 28) if "images" in name else (n,)
        tables[name] = torch.randint(10, shape).to(torch.uint8)
        tables[name].view(-1)[0] = 255 if "images" in name else 9
        (folder / name).write_bytes(gzip.compress(idx(tables[name])))
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    return folder, tables


def test_fashion_mnist_is_found_and_read_from_idx_files(tiny_fashion):
    folder, tables = tiny_fashion
    assert fashion_mnist.find_fashion_mnist() == folder
    (train, labels), (test, test_labels) = fashion_mnist.load_fashion_mnist()
    assert train.shape == (6, 1, 28, 28) and test.shape == (4, 1, 28, 28)
    assert train.max() == 1 and labels.dtype == torch.int64 and labels[0] == 9
    assert torch.equal((255 * train[:, 0]).round(), tables["train-images-idx3-ubyte.gz"].float())
    assert torch.equal(test_labels, tables["t10k-labels-idx1-ubyte.gz"].long())
    plain = folder / "t10k-labels-idx1-ubyte"
    packed = folder / "t10k-labels-idx1-ubyte.gz"
    plain.write_bytes(gzip.decompress(packed.read_bytes()))
    packed.unlink()
    assert torch.equal(fashion_mnist.load_fashion_mnist()[1][1], test_labels)


def test_a_damaged_or_missing_fashion_file_is_named(tiny_fashion, monkeypatch):
    folder, _ = tiny_fashion
    path = folder / "t10k-labels-idx1-ubyte.gz"
    whole = gzip.decompress(path.read_bytes())
    path.write_bytes(gzip.compress(whole[:-1]))
    with pytest.raises(ValueError, match=r"t10k-labels.*3 bytes where 4"):
        fashion_mnist.load_fashion_mnist()
    path.write_bytes(gzip.compress(b"\x00\x00\x0d\x01" + whole[4:]))
    with pytest.raises(ValueError, match="not an idx file"):
        fashion_mnist.load_fashion_mnist()
    path.unlink()
    monkeypatch.setattr(fashion_mnist, "DEBIAN", ())
    assert fashion_mnist.find_fashion_mnist() is None
    with pytest.raises(FileNotFoundError, match="COURSE_DATA"):
        fashion_mnist.load_fashion_mnist()


def test_a_download_keeps_only_what_has_the_right_checksum(tiny_fashion, tmp_path, monkeypatch):
    folder, _ = tiny_fashion
    sums = {n: hashlib.md5((folder / n).read_bytes()).hexdigest() for n in fashion_mnist.FILES}
    monkeypatch.setattr(fashion_mnist, "FILES", sums)
    address = folder.as_uri() + "/"
    fashion_mnist.download_fashion_mnist(tmp_path / "new", address)
    assert fashion_mnist.load_fashion_mnist(tmp_path / "new")[0][0].shape == (6, 1, 28, 28)
    monkeypatch.setattr(fashion_mnist, "FILES", dict.fromkeys(sums, "0" * 32))
    with pytest.raises(ValueError, match="checksum"):
        fashion_mnist.download_fashion_mnist(tmp_path / "damaged", address)
    assert list((tmp_path / "damaged").iterdir()) == []


def test_fashion_is_trained_only_where_it_is_named():
    assert fashion.fashion not in [function for function, _ in wanted([])]
    assert wanted(["fashion"]) == fashion.RUNS


def test_the_fashion_record_was_measured_with_the_models_and_the_recipe_of_the_code():
    record = fashion_record.read_record()
    assert record.items() >= json.loads(json.dumps(fashion_record.conditions())).items()
    assert abs(record["parameters"]["vit"] / record["parameters"]["cnn"] - 1) < 0.01
    every = range(fashion.RECIPE.evaluate_every, fashion.RECIPE.steps + 1, 469)
    for kind in fashion.KINDS:
        for n in fashion.IMAGES:
            curve = record["curves"][kind][str(n)]
            assert curve["step"] == list(every) and len(curve["right"]) == len(every)
            assert 0.5 < curve["right"][-1] < 0.95 and curve["seconds"] > 60


def test_a_hundred_times_the_images_do_not_bring_the_vit_nearer_to_the_cnn():
    curves = fashion_record.read_record()["curves"]
    points, steps, time = [], [], []
    for n in map(str, fashion.IMAGES):
        vit, cnn = curves["vit"][n], curves["cnn"][n]
        reached = cnn["step"][-1] * vit["seconds"] / cnn["seconds"]
        at = min(range(len(cnn["step"])), key=lambda i: abs(cnn["step"][i] - reached))
        wrong = 1 - vit["right"][-1]
        points.append(cnn["right"][-1] - vit["right"][-1])
        steps.append(wrong / (1 - cnn["right"][-1]))
        time.append(wrong / (1 - cnn["right"][at]))
        assert 2 < cnn["seconds"] / vit["seconds"] < 3
    assert points[0] > points[2] > 0.03  # in points the gap narrows
    assert steps == sorted(steps) and steps[2] > 1.5  # in mistakes it grows, at equal steps
    assert max(time) - min(time) < 0.1 and min(time) > 1.25  # and stays, at equal time


def test_the_fashion_record_is_made_by_training(tiny_fashion, tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr(fashion, "RECIPE", Recipe(2, 4, 1e-3, evaluate_every=1))
    monkeypatch.setattr(fashion_record, "IMAGES", (3, 6))
    curves = fashion_record.measure()["curves"]
    for kind in ("vit", "cnn"):
        assert set(curves[kind]) == {"3", "6"}
        for curve in curves[kind].values():
            assert curve["step"] == [1, 2] and all(0 <= x <= 1 for x in curve["right"])
    assert len(list((tmp_path / "runs").iterdir())) == 4


def test_bars_at_opposite_sides_are_made_of_the_same_patches():
    images, labels = draw_bars(200, torch.Generator().manual_seed(0))
    clean = (images > 0.6).float()
    for one, other in ((0, 1), (2, 3)):
        first, second = (clean[labels == kind].mean(0).round() for kind in (one, other))
        turned = shuffle_patches(first[None], 4, torch.tensor([3, 2, 1, 0]))[0]
        assert torch.equal(turned, second)


def test_only_the_model_with_positions_notices_for_twenty_seeds():
    for seed in range(20):
        seen = shuffle_test(ViT, seed)
        assert seen["with"]["changed"] > 0.6 and seen["without"]["changed"] < 0.01
        assert seen["with"]["right"] > 0.8 and 0.35 < seen["without"]["right"] < 0.65


def scores(kind: str) -> torch.Tensor:
    """Return the last share of right answers of every seed."""
    runs = [kept(digits, kind=kind, seed=seed) for seed in SEEDS]
    return torch.tensor([run["scores"][-1]["right"] for run in runs])


def test_the_vit_reads_the_digits_on_one_core_and_an_svm_reads_them_better():
    from sklearn.svm import SVC

    assert scores("vit").mean() >= 0.965
    assert all(kept(digits, kind="vit", seed=seed)["seconds"] < 90 for seed in SEEDS)
    (images, labels), (test_images, test_labels) = split_digits()
    svm = SVC(C=10).fit(images.flatten(1).numpy(), labels.numpy())
    assert svm.score(test_images.flatten(1).numpy(), test_labels.numpy()) > scores("vit").mean()


def test_a_cnn_of_equal_size_and_steps_reads_them_better_too():
    runs = [kept(digits, kind=kind, seed=0)["scores"] for kind in ("vit", "cnn")]
    assert [[score["step"] for score in run] for run in runs] == [[200, 400, 600, 800, 1000]] * 2
    assert scores("cnn").min() > scores("vit").max()


def test_without_positions_it_learns_little():
    assert scores("blind").mean() > 0.12 and scores("blind").max() < 0.4


def test_torn_apart_neighbours_cost_the_cnn_its_lead_and_the_vit_nothing():
    few = {
        (kind, torn): torch.tensor(
            kept(few_labels, kind=kind, n=300, **({"shuffled": True} if torn else {}))
        ).mean()
        for kind in ("vit", "cnn")
        for torn in (False, True)
    }
    assert few["cnn", False] - few["cnn", True] > 0.015
    assert abs(few["vit", False] - few["vit", True]) < 0.015


def test_the_cnn_leads_with_few_labels_and_the_gap_closes_in_points_only():
    few = {
        kind: torch.tensor([kept(few_labels, kind=kind, n=n) for n in LABELS]).mean(1)
        for kind in ("vit", "cnn")
    }
    gap = few["cnn"] - few["vit"]
    assert gap[0] > 0.05 and gap[0] > 2 * gap[2] > 0
    assert ((1 - few["vit"]) / (1 - few["cnn"]) > 1.8).all()  # but not in mistakes


def test_loud_positions_learn_faster_than_quiet_ones():
    loud, quiet = (kept(first_steps, deviation=d)[:, -10:].mean(1) for d in (0.5, 0.02))
    assert loud.max() < quiet.min()


def test_interpolated_positions_start_and_end_above_new_ones():
    found = [kept(grown, seed=seed) for seed in SEEDS]
    kinds = {name: torch.tensor([one[name] for one in found]) for name in ("interpolated", "new")}
    assert (kinds["interpolated"].mean(0) > kinds["new"].mean(0)).all()


def test_a_trained_model_answers_a_new_question_from_few_labels_and_a_new_one_does_not():
    found = {
        n: {how: torch.tensor(values) for how, values in kept(new_question, n=n).items()}
        for n in NEW_LABELS
    }
    for n in NEW_LABELS:
        for how in ("head", "all"):
            assert found[n][how].min() > found[n]["nothing"].max()
    assert found[10]["head"].mean() - found[10]["nothing"].mean() > 0.1
    assert found[10]["all"].mean() <= found[10]["head"].mean()  # nothing is gained with ten
    assert abs(found[100]["all"].mean() - found[100]["head"].mean()) < 0.01


def test_the_figure_shows_the_chosen_order_and_both_answers(browser, tmp_path):
    models = []
    for kind in ("vit", "blind"):
        model = build(kind, 0)
        model.load_state_dict(kept(digits, kind=kind, seed=0)["state"])
        models.append(model.eval())
    images, labels = split_digits()[1]
    made = patches(models, images, labels)
    page = tmp_path / "page.html"
    body = made._repr_html_()
    page.write_text(f"<!doctype html><meta charset=utf-8><body>{body}</body>", encoding="utf-8")
    browser.view(800)
    browser.open(page)

    def tiles():
        found = "[...document.querySelectorAll('.tile .home')].map((x) => Number(x.textContent))"
        return browser.evaluate(found)

    def said():
        found = "[...document.querySelectorAll('.class.said')].map((x) => Number(x.textContent))"
        return browser.evaluate(found)

    first = int(((models[0](images).argmax(-1) == labels) & (labels == 3)).nonzero()[0])
    answers = []
    for order in orders().values():
        assert tiles() == order.tolist()
        shuffled = shuffle_patches(images[first : first + 1], 2, order)
        answers.append([int(model(shuffled).argmax()) for model in models])
        assert said() == answers[-1]
        browser.evaluate("document.querySelector('button').click()")
    assert (
        len({with_ for with_, _ in answers}) > 1 and len({without for _, without in answers}) == 1
    )
    assert tiles() == list(range(16))  # round again
    assert browser.errors == []
