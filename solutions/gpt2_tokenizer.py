"""GPT-2's own merges in our Tokenizer: byte pairs all along, so nothing has to be added."""

from pathlib import Path

from solutions.tokenizer import Tokenizer
from solutions.words import BYTES, PRINTED

MARK = "<|endoftext|>"  # GPT-2's only special token, between two texts
NAMES = ("merges.txt", "vocab.bpe")  # the published file has both names
# one printed character for each byte id: the byte's own, or one from behind the first 256
SIGNS = [chr(byte) if i < len(PRINTED) else chr(256 + i - len(PRINTED)) for i, byte in
         enumerate(BYTES)]  # fmt: skip


def load_gpt2_tokenizer(source: Path | str = "gpt2") -> Tokenizer:
    """Make our Tokenizer with the merges of GPT-2.

    source: the file of merges, the folder or a file beside it, or a name on the hub.
    """
    return Tokenizer(read_merges(find_merges(source).read_text(encoding="utf-8")), [MARK])


def read_merges(text: str) -> dict[tuple[int, int], int]:
    """Read merges as GPT-2 publishes them: two pieces in a line, the earliest learned first.

    Every byte is written as one of SIGNS, so that a space can be seen: it is the sign Ġ.

    >>> read_merges("#version: 0.2\\nĠ t\\nĠt h")
    {(220, 83): 256, (256, 71): 257}
    """
    ids = {sign: i for i, sign in enumerate(SIGNS)}
    merges = {}
    for line in text.splitlines():
        if line.startswith("#version") or not line.strip():
            continue
        first, second = line.split(" ")
        merges[ids[first], ids[second]] = ids[first + second] = len(ids)
    return merges


def find_merges(source: Path | str) -> Path:
    """Return the file of merges; what is not here is asked for on the hub."""
    path = Path(source)
    if path.is_file() and path.suffix != ".safetensors":
        return path
    folder = path if path.is_dir() else path.parent
    if path.exists():
        for name in NAMES:
            if (folder / name).is_file():
                return folder / name
        raise FileNotFoundError(
            f"load_gpt2_tokenizer: {folder} holds none of {', '.join(NAMES)}. Put GPT-2's file of "
            "merges beside its weights."
        )
    try:
        from huggingface_hub import hf_hub_download

        return Path(hf_hub_download(str(source), NAMES[0]))
    except Exception as error:  # no package, no network, no such name: one remedy for all
        raise FileNotFoundError(
            f"load_gpt2_tokenizer: {str(source)!r} is no file here, and the hub could not be asked "
            f"({type(error).__name__}). Give the path of a {NAMES[0]} that you have, or try again "
            "with a network and the package huggingface_hub."
        ) from error
