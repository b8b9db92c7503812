"""Look at a picture of your own: its patches, the answer, what it rests on, what hiding changes."""

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from solutions.studies.vit_maps import attention_weights, blanking
from solutions.vit import attention_rollout

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UPLOAD = "upload"


def read_picture(source, image_size: tuple[int, int], n_channel: int = 1) -> Tensor:
    """Make of a photo what a model was trained on: (1, channels, height, width), from 0 to 1.

    source: a path, the bytes of a file, or "upload", which asks for a file on Colab. The middle
    of the photo is cut out in the shape of image_size and made as small as that. In grey, a
    photo with a bright edge is turned into its negative: the data have bright things on black.
    """
    from PIL import Image, ImageOps

    name = "the uploaded file" if source == UPLOAD else "these bytes"
    if source == UPLOAD:
        source = upload()
    elif not isinstance(source, bytes):
        path = Path(source)
        if not path.is_file():
            raise FileNotFoundError(
                f"read_picture: there is no file {path}. Give the path of a picture, or "
                f'"{UPLOAD}" on Colab.'
            )
        name, source = path.name, path.read_bytes()
    try:
        photo = Image.open(io.BytesIO(source))
        photo = ImageOps.exif_transpose(photo).convert("RGBA")  # upright, as it was taken
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise ValueError(
            f"read_picture: {name} is no picture that can be read here ({error}). Save it as "
            "PNG or JPEG and try again."
        ) from error
    white = Image.new("RGBA", photo.size, "white")  # lies behind what is transparent
    photo = Image.alpha_composite(white, photo).convert("L" if n_channel == 1 else "RGB")
    height, width = image_size
    scale = min(photo.width / width, photo.height / height)
    wide, high = (max(1, int(scale * side)) for side in (width, height))
    left, top = (photo.width - wide) // 2, (photo.height - high) // 2
    middle = photo.crop((left, top, left + wide, top + high))
    small = middle.resize((width, height), Image.Resampling.LANCZOS)
    flat = torch.frombuffer(bytearray(small.tobytes()), dtype=torch.uint8)
    image = flat.view(height, width, n_channel).movedim(-1, 0).float()[None] / 255
    if n_channel == 1:
        inner = image[..., 1:-1, 1:-1]
        edge = (image.sum() - inner.sum()) / (image.numel() - inner.numel())
        image = 1 - image if edge > 0.5 else image
    return image


def upload() -> bytes:
    """Ask for one file in Colab's dialog; return what is in it."""
    try:
        from google.colab import files
    except ImportError as error:
        raise RuntimeError(
            "read_picture: only Colab can ask for a file. Here, give the path of a picture."
        ) from error
    chosen = files.upload()
    if not chosen:
        raise ValueError("read_picture: no file was chosen. Run the cell again and choose one.")
    return next(iter(chosen.values()))


@torch.no_grad()
def look(model: nn.Module, image: Tensor, rollout: Callable = attention_rollout) -> dict:
    """Ask a ViT about one image (1, channels, height, width), and look at how it got there.

    rollout: `attention_rollout`, the lesson's or your own. -> "odds" (n_class); "answer", the
    likeliest class; "rollout" (rows, columns), the share of the answer's token that rests on each
    patch; "lost" (rows, columns), what hiding a patch takes from the answer's log-probability;
    "hidden", the quarter of all patches that cost most, and "answer without" them.
    """
    image = image.to(next(model.parameters()).device)
    size = model.embedding.patch_size
    rows, columns = (side // size for side in image.shape[-2:])
    odds = model(image)[0].softmax(-1)
    answer = odds.argmax()[None]
    rest_on = rollout(attention_weights(model, image))[0, 0, 1:].view(rows, columns)
    lost = blanking(model, image, answer, (rows, columns), size)[0]
    hidden = lost.topk(max(1, len(lost) // 4)).indices.tolist()
    without = model(hide(image, hidden, size))[0].argmax()
    return {
        "image": image[0].cpu(),
        "patch size": size,
        "odds": odds.cpu(),
        "answer": int(answer),
        "rollout": rest_on.cpu(),
        "lost": lost.view(rows, columns).cpu(),
        "hidden": hidden,
        "answer without": int(without),
    }


def hide(image: Tensor, patches: Sequence[int], patch_size: int) -> Tensor:
    """Set patches to 0: image (..., height, width), patches by their number in reading order."""
    columns = image.size(-1) // patch_size
    hidden = image.clone()
    for patch in patches:
        top, left = patch // columns * patch_size, patch % columns * patch_size
        hidden[..., top : top + patch_size, left : left + patch_size] = 0
    return hidden


def show(seen: dict, names: Sequence[str]) -> "Figure":
    """Draw what `look` found: patches, the likeliest answers, rollout, hiding one patch, a quarter.

    A notebook shows the figure where it is the last thing in a cell.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 2.9), layout="constrained")
    patches, bars, *maps = figure.subplots(1, 5, width_ratios=[1, 0.8, 1, 1, 1])
    size, image = seen["patch size"], seen["image"]
    height, width = image.shape[-2:]
    painted = {"extent": (0, width, height, 0)}

    def paint(ax, picture: Tensor) -> None:
        grey = {"cmap": "gray", "vmin": 0, "vmax": 1} if len(picture) == 1 else {}
        shown = picture[0] if grey else picture.movedim(0, -1)
        ax.imshow(shown.numpy(), **painted, **grey)

    paint(patches, image)
    for line in range(size, width, size):
        patches.axvline(line, color="C1", linewidth=0.6)
    for line in range(size, height, size):
        patches.axhline(line, color="C1", linewidth=0.6)
    patches.set_title("what the model gets", fontsize=9)
    best = seen["odds"].topk(min(5, len(names)))
    at = range(len(best.values))
    bars.barh(at, best.values.tolist(), color="C0")
    bars.set_yticks(at, [names[i] for i in best.indices.tolist()], fontsize=8)
    bars.invert_yaxis()
    bars.set_xlim(0, 1)
    bars.set_title("what it says", fontsize=9)
    for ax, what, colours, title in (
        (maps[0], seen["rollout"], "Blues", "rollout"),
        (maps[1], seen["lost"].clamp(min=0), "Oranges", "cost of hiding a patch"),
    ):
        ax.imshow(what.numpy(), cmap=colours, vmin=0, **painted)
        ax.set_title(title, fontsize=9)
    paint(maps[2], hide(image, seen["hidden"], size))
    maps[2].set_title(f"hidden, it says: {names[seen['answer without']]}", fontsize=9)
    for ax in (patches, *maps):
        ax.set_xticks([])
        ax.set_yticks([])
    return figure
