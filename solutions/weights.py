"""Load the weights of GPT-2 into our GPT, from a file or from the hub."""

import json
from pathlib import Path

from safetensors.torch import load_file
from torch import Tensor

from solutions.gpt import GPT, GPTConfig

PARTS = {  # GPT-2's name of a part, and ours
    "ln_1": "attention_norm",
    "attn.c_attn": "attention.project",
    "attn.c_proj": "attention.out",
    "ln_2": "feed_forward_norm",
    "mlp.c_fc": "feed_forward.up",
    "mlp.c_proj": "feed_forward.down",
}


def load_gpt2(source: Path | str = "gpt2", n_head: int | None = None) -> GPT:
    """Build our GPT with the weights of a GPT-2, ready to write.

    source: a .safetensors file, a folder with model.safetensors, or a name on the
    hub. The sizes are read off the weights. Only the number of heads leaves no
    trace in them: it is n_head, else what a config.json beside the file says, else
    width / 64, as in every GPT-2 that was published.
    """
    path = find(source)
    tensors = {k.removeprefix("transformer."): v for k, v in load_file(path).items()}
    if "wte.weight" not in tensors:
        raise ValueError(f"load_gpt2: {path.name} holds no wte.weight, so it is no GPT-2.")
    vocab, width = tensors["wte.weight"].shape
    beside = path.with_name("config.json")
    told = json.loads(beside.read_text(encoding="utf-8")) if beside.exists() else {}
    config = GPTConfig(
        vocab_size=vocab,
        block_size=len(tensors["wpe.weight"]),
        n_layer=1 + max(int(name.split(".")[1]) for name in tensors if name.startswith("h.")),
        n_head=n_head or told.get("n_head") or width // 64,
        n_embd=width,
        activation="gelu_tanh",
    )
    model = GPT(config)
    model.load_state_dict(renamed(tensors, config.n_layer))
    return model.eval()


def renamed(tensors: dict[str, Tensor], n_layer: int) -> dict[str, Tensor]:
    """Give GPT-2's weights our names and our shapes.

    GPT-2 calls its matrices Conv1D and keeps them as (in, out), for x @ W;
    nn.Linear keeps (out, in). C x C matrices do not tell when the transpose is
    forgotten.
    """
    ours = {
        "token.weight": tensors["wte.weight"],
        "position.table.weight": tensors["wpe.weight"],
        "norm.weight": tensors["ln_f.weight"],
        "norm.bias": tensors["ln_f.bias"],
        "head.weight": tensors["wte.weight"],  # tied
    }
    for layer in range(n_layer):
        for theirs, name in PARTS.items():
            weight = tensors[f"h.{layer}.{theirs}.weight"]
            ours[f"blocks.{layer}.{name}.weight"] = weight.T if weight.ndim == 2 else weight
            ours[f"blocks.{layer}.{name}.bias"] = tensors[f"h.{layer}.{theirs}.bias"]
    return ours


def find(source: Path | str, asker: str = "load_gpt2") -> Path:
    """Return the file of a source; what is no file here is asked for on the hub.

    asker: the function that wants it, for the message.
    """
    path = Path(source)
    if path.is_dir():
        path = path / "model.safetensors"
    if path.is_file():
        return path
    if path.suffix == ".safetensors":
        raise FileNotFoundError(f"{asker}: there is no file {path}. Check the path.")
    try:
        from huggingface_hub import hf_hub_download

        hf_hub_download(str(source), "config.json")  # into the same folder: it names the heads
        return Path(hf_hub_download(str(source), "model.safetensors"))
    except Exception as error:  # no package, no network, no such name: one remedy for all
        raise FileNotFoundError(
            f"{asker}: {str(source)!r} is no file here, and the hub could not be asked "
            f"({type(error).__name__}). Give the path of a model.safetensors that you have, or "
            "try again with a network and the package huggingface_hub."
        ) from error
