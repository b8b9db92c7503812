"""A picture of one's own: read as the data are, looked into, refused in words where it must be."""

import io
import sys
from types import ModuleType

import pytest
import torch
from PIL import Image
from torch import nn

from solutions.fast_vit import FastViT
from solutions.studies.own_picture import hide, look, read_picture, show
from solutions.train import Recipe, train
from solutions.vit import ViT, attention_rollout, patchify

NAMES = ("left", "right")


def photo(colours: dict[tuple[int, int, int, int], str], size=(120, 80), back="white", **save):
    """Paint rectangles (left, top, right, bottom) on a sheet; return the bytes of a file."""
    sheet = Image.new("RGB", size, back)
    for box, colour in colours.items():
        sheet.paste(Image.new("RGB", (box[2] - box[0], box[3] - box[1]), colour), box[:2])
    file = io.BytesIO()
    sheet.save(file, **{"format": "PNG", **save})
    return file.getvalue()


def test_the_middle_of_a_photo_is_cut_out_and_made_small(tmp_path):
    data = photo({(20, 0, 60, 80): "red", (60, 0, 100, 80): "blue"}, back="lime")
    path = tmp_path / "mine.png"
    path.write_bytes(data)
    for source in (path, str(path), data):
        image = read_picture(source, (16, 16), n_channel=3)
        assert image.shape == (1, 3, 16, 16) and image.min() >= 0 and image.max() <= 1
        red, green, blue = image[0]
        assert red[:, :7].min() > 0.95 and blue[:, 9:].min() > 0.95  # the middle: 80 x 80
        assert green.max() < 0.05  # what lay outside of it is gone
    assert read_picture(path, (8, 12), 3).shape == (1, 3, 8, 12)


def test_a_dark_thing_on_a_bright_sheet_becomes_bright_on_black_as_the_data_are():
    thing = (50, 30, 70, 50)
    on_white = read_picture(photo({thing: "black"}), (16, 16))
    on_black = read_picture(photo({thing: "white"}, back="black"), (16, 16))
    for image in (on_white, on_black):
        assert image.shape == (1, 1, 16, 16)
        assert image[0, 0, 8, 8] > 0.9 and image[0, 0, 0].max() < 0.1
    torch.testing.assert_close(on_white, on_black, atol=0.02, rtol=0)


def test_a_photo_that_was_taken_lying_stands_upright_and_what_is_transparent_is_paper():
    turned = Image.Exif()
    turned[0x0112] = 6  # turn by a quarter to see it as it was
    data = photo({(0, 0, 60, 120): "black"}, (120, 120), format="JPEG", exif=turned, quality=95)
    image = read_picture(data, (8, 8), 3)[0].mean(0)
    assert image[:3].max() < 0.1 and image[5:].min() > 0.9  # what was on the left is at the top
    file = io.BytesIO()
    Image.new("RGBA", (20, 20), (0, 0, 0, 0)).save(file, format="PNG")
    assert read_picture(file.getvalue(), (8, 8), 3).min() == 1


def test_what_is_no_picture_is_answered_in_a_sentence(tmp_path, monkeypatch):
    text = tmp_path / "notes.txt"
    text.write_text("not a picture")
    with pytest.raises(ValueError, match=r"notes\.txt is no picture.*PNG or JPEG"):
        read_picture(text, (8, 8))
    with pytest.raises(ValueError, match="no picture"):
        read_picture(photo({})[:200], (8, 8))  # a file that was cut off
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_picture(tmp_path / "gone.png", (8, 8))
    with pytest.raises(RuntimeError, match="only Colab"):
        read_picture("upload", (8, 8))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)
    with pytest.raises(ValueError, match="no picture that can be read here"):
        read_picture(photo({}), (8, 8))


def test_on_colab_the_upload_dialog_is_asked(monkeypatch):
    files = ModuleType("google.colab.files")
    colab = ModuleType("google.colab")
    colab.files = files
    monkeypatch.setitem(sys.modules, "google.colab", colab)
    files.upload = lambda: {"mine.png": photo({(60, 0, 120, 80): "red"})}
    assert read_picture("upload", (8, 8), 3).shape == (1, 3, 8, 8)
    files.upload = dict
    with pytest.raises(ValueError, match="no file was chosen"):
        read_picture("upload", (8, 8))


@pytest.fixture(scope="module")
def sees_sides() -> nn.Module:
    """Train a ViT to say on which side of a picture something bright stands."""

    def draw(n, generator):
        labels = torch.randint(2, (n,), generator=generator)
        images = 0.1 * torch.rand(n, 1, 8, 12, generator=generator)
        at = torch.randint(6, (n,), generator=generator)
        for i, (label, row) in enumerate(zip(labels.tolist(), at.tolist(), strict=True)):
            images[i, 0, row : row + 2, 9 if label else 1 : 11 if label else 3] = 1
        return images, labels

    torch.manual_seed(0)
    model = FastViT((8, 12), 2, n_class=2, n_embd=16, n_layer=2, n_head=2, n_hidden=32)
    train(model, draw, Recipe(120, 32, 5e-3, 20), progress=False)
    return model


def test_a_generated_photo_is_looked_at_from_patches_to_hidden_patches(sees_sides, tmp_path):
    path = tmp_path / "mine.png"
    path.write_bytes(photo({(90, 20, 110, 40): "black"}, size=(120, 80)))  # at the right
    image = read_picture(path, (8, 12))
    seen = look(sees_sides, image)
    assert NAMES[seen["answer"]] == "right" and seen["odds"].shape == (2,)
    torch.testing.assert_close(seen["odds"].sum(), torch.tensor(1.0))
    assert seen["rollout"].shape == seen["lost"].shape == (4, 6)
    assert 0 < seen["rollout"].sum() < 1  # the rest is the class token's own
    worst = int(seen["lost"].argmax())
    bright = patchify(image, 2)[0].sum(-1).topk(2).indices.tolist()
    assert worst in bright  # hiding the thing itself costs most
    assert len(seen["hidden"]) == 6 and worst == seen["hidden"][0]
    assert hide(image, bright, 2).sum() < image.sum() - 1
    figure = show(seen, NAMES)
    assert len(figure.axes) == 5
    figure.savefig(tmp_path / "shown.png")
    assert (tmp_path / "shown.png").stat().st_size > 5000


def test_a_learners_own_rollout_is_used(sees_sides):
    image = torch.rand(1, 1, 8, 12)
    own = look(sees_sides, image, lambda weights: 2 * attention_rollout(weights))
    reference = look(sees_sides, image)
    torch.testing.assert_close(own["rollout"], 2 * reference["rollout"])


def test_colours_and_one_patch_too_many_hidden_are_drawn_too(tmp_path):
    model = ViT((8, 8), 4, 3, n_class=3, n_embd=12, n_layer=1, n_head=2).eval()
    seen = look(model, read_picture(photo({(0, 0, 40, 80): "red"}), (8, 8), 3))
    show(seen, ("a", "b", "c")).savefig(tmp_path / "shown.png")
    assert seen["hidden"] == [int(seen["lost"].argmax())]
