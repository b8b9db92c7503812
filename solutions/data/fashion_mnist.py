"""Fashion-MNIST: 70,000 small pictures of clothes, where they are on this machine.

The four files are looked for in $COURSE_DATA/fashion_mnist, then where Debian's package
`dataset-fashion-mnist` puts them. `python -m solutions.data.fashion_mnist FOLDER` downloads them.
"""

import gzip
import hashlib
import math
import os
import sys
import urllib.request
from pathlib import Path

import torch
from torch import Tensor

FILES = {  # name -> MD5, as its authors publish it
    "train-images-idx3-ubyte.gz": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
    "train-labels-idx1-ubyte.gz": "25c81989df183df01b3e8a0aad5dffbe",
    "t10k-images-idx3-ubyte.gz": "bef4ecab320f06d8554ea6380940ec79",
    "t10k-labels-idx1-ubyte.gz": "bb300cfdad3c16e7a12a480ee83cd310",
}
ADDRESS = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"
DEBIAN = ("/usr/share/datasets/fashion-mnist", "/usr/share/dataset-fashion-mnist")
NAMES = ("T-shirt", "trouser", "pullover", "dress", "coat")
NAMES += ("sandal", "shirt", "sneaker", "bag", "ankle boot")


def find_fashion_mnist() -> Path | None:
    """Return the folder that holds all four files, packed or not, or None."""
    data = os.environ.get("COURSE_DATA")
    places = [*([Path(data) / "fashion_mnist", Path(data)] if data else []), *map(Path, DEBIAN)]
    return next((p for p in places if all(_file(p, name) for name in FILES)), None)


def load_fashion_mnist(
    folder: Path | str | None = None,
) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Read (training images, labels), (test images, labels): 60,000 and 10,000.

    Images are (B, 1, 28, 28) with grey levels from 0 to 1, labels (B) are 0 to 9.
    """
    folder = folder or find_fashion_mnist()
    if folder is None:
        raise FileNotFoundError(
            "Fashion-MNIST is not on this machine. Debian has it (apt install "
            "dataset-fashion-mnist), or download it with `python -m solutions.data.fashion_mnist "
            "FOLDER/fashion_mnist` and set COURSE_DATA=FOLDER."
        )
    parts = [read_idx(_file(Path(folder), name) or Path(folder) / name) for name in FILES]
    train, train_labels, test, test_labels = parts
    return (
        (train.unsqueeze(1).float() / 255, train_labels.long()),
        (test.unsqueeze(1).float() / 255, test_labels.long()),
    )


def read_idx(path: Path | str) -> Tensor:
    """Read a file in the idx format: the sizes of a table of bytes, then the bytes.

    Its first four bytes are 0, 0, 8 (for bytes) and the number of axes; each axis has its size in
    four bytes, the highest first. A name that ends in .gz is unpacked.
    """
    data = Path(path).read_bytes()
    data = gzip.decompress(data) if str(path).endswith(".gz") else data
    if data[:3] != b"\x00\x00\x08":
        raise ValueError(f"{Path(path).name} is not an idx file of bytes; download it again.")
    n_axes = data[3]
    sizes = [int.from_bytes(data[4 + 4 * i : 8 + 4 * i], "big") for i in range(n_axes)]
    body = data[4 + 4 * n_axes :]
    if len(body) != math.prod(sizes):
        raise ValueError(
            f"{Path(path).name} holds {len(body)} bytes where {math.prod(sizes)} are announced; "
            "download it again."
        )
    return torch.frombuffer(bytearray(body), dtype=torch.uint8).view(sizes)


def download_fashion_mnist(folder: Path | str, address: str = ADDRESS) -> None:
    """Fetch the four files; one whose checksum is wrong is not kept."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, expected in FILES.items():
        with urllib.request.urlopen(address + name, timeout=60) as answer:
            data = answer.read()
        if hashlib.md5(data).hexdigest() != expected:
            raise ValueError(f"{name} arrived damaged: its checksum is wrong. Try again later.")
        (folder / name).write_bytes(data)


def _file(folder: Path, name: str) -> Path | None:
    """Find a file as published, or unpacked."""
    either = (folder / name, folder / name.removesuffix(".gz"))
    return next((path for path in either if path.is_file()), None)


if __name__ == "__main__":
    download_fashion_mnist(sys.argv[1])
