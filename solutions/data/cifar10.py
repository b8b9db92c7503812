"""CIFAR-10: 60,000 small colour pictures of animals and vehicles, where they are on this machine.

The binary version is looked for in $COURSE_DATA/cifar10, in $COURSE_DATA and below them in
cifar-10-batches-bin, its folder when unpacked. `python -m solutions.data.cifar10 FOLDER` downloads.
"""

import hashlib
import io
import os
import sys
import tarfile
import urllib.request
from pathlib import Path

import torch
from torch import Tensor

TRAIN = tuple(f"data_batch_{n}.bin" for n in range(1, 6))
TEST = ("test_batch.bin",)
ADDRESS = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"
MD5 = "c32a1d4ab5d03f1284b67883e8d87530"  # of the packed file, as its authors publish it
UNPACKED = "cifar-10-batches-bin"
NAMES = ("airplane", "automobile", "bird", "cat", "deer")
NAMES += ("dog", "frog", "horse", "ship", "truck")
CHANNELS, SIDE = 3, 32
RECORD = 1 + CHANNELS * SIDE * SIDE  # a label, then all of red, all of green, all of blue


def find_cifar10() -> Path | None:
    """Return the folder that holds all six files, or None."""
    data = os.environ.get("COURSE_DATA")
    roots = [Path(data) / "cifar10", Path(data)] if data else []
    places = [place for root in roots for place in (root, root / UNPACKED)]
    return next((p for p in places if all((p / n).is_file() for n in TRAIN + TEST)), None)


def load_cifar10(
    folder: Path | str | None = None,
) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Read (training images, labels), (test images, labels): 50,000 and 10,000.

    Images are (B, 3, 32, 32) with numbers from 0 to 1, labels (B) are 0 to 9.
    """
    folder = folder or find_cifar10()
    if folder is None:
        raise FileNotFoundError(
            "CIFAR-10 is not on this machine. Download it with `python -m solutions.data.cifar10 "
            "FOLDER/cifar10` and set COURSE_DATA=FOLDER."
        )
    parts = []
    for names in (TRAIN, TEST):
        read = [read_records(Path(folder) / name) for name in names]
        images, labels = (torch.cat(some) for some in zip(*read, strict=True))
        parts.append((images.float() / 255, labels))
    return tuple(parts)


def read_records(path: Path) -> tuple[Tensor, Tensor]:
    """Read one file: images (B, 3, 32, 32) of bytes and labels (B)."""
    data = path.read_bytes()
    if not data or len(data) % RECORD:
        raise ValueError(
            f"{path.name} holds {len(data)} bytes, no whole number of pictures of {RECORD}; "
            "download it again."
        )
    table = torch.frombuffer(bytearray(data), dtype=torch.uint8).view(-1, RECORD)
    labels = table[:, 0].long()
    if labels.max() >= len(NAMES):
        raise ValueError(
            f"{path.name} has a label {labels.max()}, and CIFAR-10 ends at 9: is it CIFAR-100?"
        )
    return table[:, 1:].view(-1, CHANNELS, SIDE, SIDE), labels


def download_cifar10(folder: Path | str, address: str = ADDRESS, md5: str = MD5) -> None:
    """Fetch and unpack the six files; nothing is kept if the checksum is wrong.

    Of the archive only these six are read, whatever else it holds and wherever it would put them.
    """
    with urllib.request.urlopen(address, timeout=60) as answer:
        data = answer.read()
    if hashlib.md5(data).hexdigest() != md5:
        raise ValueError("CIFAR-10 arrived damaged: its checksum is wrong. Try again later.")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for name in TRAIN + TEST:
            (folder / name).write_bytes(archive.extractfile(f"{UNPACKED}/{name}").read())


if __name__ == "__main__":
    download_cifar10(sys.argv[1])
