"""Exchange weights with Hugging Face: load a pre-trained ViT into our class, and save our own."""

import json
import math
from pathlib import Path

from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from solutions.vit import ViT, interpolate_positions
from solutions.weights import find

EMBEDDINGS = {  # their name of a tensor, and ours
    "embeddings.cls_token": "embedding.class_token",
    "embeddings.position_embeddings": "embedding.position",
    "embeddings.patch_embeddings.projection.weight": "embedding.project.weight",
    "embeddings.patch_embeddings.projection.bias": "embedding.project.bias",
    "layernorm.weight": "last_norm.gain",
    "layernorm.bias": "last_norm.bias",
}
LAYERS = {  # their name of a part of block i, below encoder.layer.i, and ours, below blocks.i
    "attention.attention.query": "attention.query",
    "attention.attention.key": "attention.key",
    "attention.attention.value": "attention.value",
    "attention.output.dense": "attention.out",
    "intermediate.dense": "feed_forward.up",
    "output.dense": "feed_forward.down",
}
NORMS = {"layernorm_before": "attention_norm", "layernorm_after": "feed_forward_norm"}


def load_vit(
    source: Path | str,
    make: type[nn.Module] = ViT,
    n_class: int | None = None,
    image_size: tuple[int, int] | None = None,
    n_head: int | None = None,
) -> nn.Module:
    """Build a ViT with weights that `transformers` wrote: your class, their training.

    source: a .safetensors file, a folder with model.safetensors, or a name on the hub. make: the
    class to build, `ViT` of the lesson or your own. n_class: put a new head for as many classes on
    top; where it is None the file's head is kept. image_size: the size of your images, where it
    is not that of the file; the positions are interpolated. Sizes are read off the weights; what
    leaves no trace in them (heads, eps, images that are not square) is in the config.json
    beside the file; without one the heads are n_head or else width / 64, eps is 1e-12.
    """
    path = find(source, "load_vit")
    tensors = {k.removeprefix("vit."): v for k, v in load_file(path).items()}
    if "embeddings.cls_token" not in tensors:
        raise ValueError(
            f"load_vit: {path.name} holds no embeddings.cls_token, so it is no ViT as transformers "
            "writes it."
        )
    told = read_config(path)
    if told.get("hidden_act", "gelu") != "gelu":
        raise ValueError(
            f"load_vit: {path.name} was trained with {told['hidden_act']}, our ViT has gelu; its "
            "answers would be wrong."
        )
    width, n_channel, patch_size, _ = tensors["embeddings.patch_embeddings.projection.weight"].shape
    theirs = grid_of(tensors["embeddings.position_embeddings"].size(1) - 1, patch_size, told)
    ours = theirs if image_size is None else tuple(side // patch_size for side in image_size)
    n_layer = 1 + max(int(k.split(".")[2]) for k in tensors if k.startswith("encoder.layer."))
    head = tensors.get("classifier.weight")
    if n_class is None and head is None:
        raise ValueError(f"load_vit: {path.name} has no head of its own; say n_class=... for one.")
    model = make(
        image_size=tuple(patch_size * side for side in ours),
        patch_size=patch_size,
        n_channel=n_channel,
        n_class=n_class or len(head),
        n_embd=width,
        n_layer=n_layer,
        n_head=n_head or told.get("num_attention_heads") or max(1, width // 64),
        n_hidden=len(tensors["encoder.layer.0.intermediate.dense.bias"]),
        eps=told.get("layer_norm_eps", 1e-12),
    )
    state = renamed(tensors, n_layer)
    if ours != theirs:
        state["embedding.position"] = interpolate_positions(
            state["embedding.position"], theirs, ours
        )
    for what in ("weight", "bias"):  # a new head stays as it was drawn
        fresh = n_class is not None
        own = getattr(model.head, what).detach()
        state[f"head.{what}"] = own if fresh else tensors[f"classifier.{what}"]
    model.load_state_dict(state)
    return model.eval()


def save_vit(model: nn.Module, folder: Path | str, names: list[str] | None = None) -> Path:
    """Write a ViT as `transformers` would: model.safetensors and config.json; return the folder.

    `transformers.ViTForImageClassification.from_pretrained(folder)` opens it, so does `load_vit`.
    names: what the classes are called.
    """
    n_patch, side = len(model.embedding.position) - 1, model.embedding.patch_size
    if math.isqrt(n_patch) ** 2 != n_patch:
        raise ValueError(f"save_vit: {n_patch} patches make no square, and a ViT knows no more.")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    state, project = model.state_dict(), model.embedding.project
    shapes = {
        "embedding.class_token": (1, 1, -1),
        "embedding.position": (1, *model.embedding.position.shape),
        "embedding.project.weight": (len(project.weight), -1, side, side),
    }
    table = {}
    for their_name, name in tensor_names(len(model.blocks)).items():
        tensor = state[name].detach().cpu()
        table[f"vit.{their_name}"] = tensor.reshape(shapes.get(name, tensor.shape)).contiguous()
    for what in ("weight", "bias"):
        table[f"classifier.{what}"] = state[f"head.{what}"].detach().cpu().contiguous()
    save_file(table, folder / "model.safetensors", metadata={"format": "pt"})
    n_class, width = model.head.weight.shape
    names = names or [str(n) for n in range(n_class)]
    config = {
        "architectures": ["ViTForImageClassification"],
        "model_type": "vit",
        "hidden_act": "gelu",
        "hidden_size": width,
        "image_size": side * math.isqrt(n_patch),
        "patch_size": side,
        "num_channels": project.in_features // side**2,
        "num_hidden_layers": len(model.blocks),
        "num_attention_heads": model.blocks[0].attention.n_head,
        "intermediate_size": model.blocks[0].feed_forward.up.out_features,
        "layer_norm_eps": model.last_norm.eps,
        "qkv_bias": True,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        "id2label": {str(n): name for n, name in enumerate(names)},
        "label2id": {name: n for n, name in enumerate(names)},
    }
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    return folder


def tensor_names(n_layer: int) -> dict[str, str]:
    """Return their name of every tensor but the head's, and ours."""
    names = dict(EMBEDDINGS)
    for i in range(n_layer):
        for theirs, ours in LAYERS.items():
            for what in ("weight", "bias"):
                names[f"encoder.layer.{i}.{theirs}.{what}"] = f"blocks.{i}.{ours}.{what}"
        for theirs, ours in NORMS.items():
            names[f"encoder.layer.{i}.{theirs}.weight"] = f"blocks.{i}.{ours}.gain"
            names[f"encoder.layer.{i}.{theirs}.bias"] = f"blocks.{i}.{ours}.bias"
    return names


def renamed(tensors: dict[str, Tensor], n_layer: int) -> dict[str, Tensor]:
    """Give their weights our names and shapes; what we have no use for (a pooler) is left out.

    Their first layer is a convolution (C, channels, P, P). Laid flat, its numbers stand in the
    order of `patchify`: all of channel 0 first, each channel in reading order.
    """
    state = {ours: tensors[theirs] for theirs, ours in tensor_names(n_layer).items()}
    state["embedding.class_token"] = state["embedding.class_token"].flatten()
    state["embedding.position"] = state["embedding.position"][0]
    state["embedding.project.weight"] = state["embedding.project.weight"].flatten(1)
    return state


def grid_of(n_patch: int, patch_size: int, told: dict) -> tuple[int, int]:
    """Return the rows and columns of patches that a table of positions was made for."""
    side = told.get("image_size", patch_size * math.isqrt(n_patch))
    height, width = (side, side) if isinstance(side, int) else side
    grid = height // patch_size, width // patch_size
    if math.prod(grid) != n_patch:
        raise ValueError(
            f"load_vit: the file has positions for {n_patch} patches, its config.json speaks of "
            f"{grid[0]} x {grid[1]}. Do the two files belong together?"
        )
    return grid


def class_names(source: Path | str) -> list[str]:
    """Return what the classes of a pre-trained ViT are called, from the config.json beside it."""
    names = read_config(find(source, "class_names")).get("id2label", {})
    return [names[key] for key in sorted(names, key=int)]


def read_config(path: Path) -> dict:
    """Read the config.json beside a file of weights; {} where there is none."""
    beside = path.with_name("config.json")
    return json.loads(beside.read_text(encoding="utf-8")) if beside.exists() else {}
