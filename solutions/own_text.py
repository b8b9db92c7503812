"""A text of one's own to train on: a file, an address or an upload; what is no text is told so."""

import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from solutions.data import tiny_shakespeare

SHORTEST = 20_000  # characters: some ten pages, of which a tenth is held back
LARGEST = 50_000_000  # bytes
OTHER_FORMATS = {
    b"%PDF": "a PDF",
    b"PK\x03\x04": "a zip archive (a Word or EPUB file is one)",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"{\\rtf": "an RTF file",
}


def own_text(source: Any = "shakespeare") -> str:
    """Return the text of a source, with \\n between its lines.

    source: "shakespeare", the course's own; the path of a file; an address that begins with http;
    or what `upload` returned. A ValueError says in a sentence why a source cannot be used.
    """
    if source == "shakespeare":
        return tiny_shakespeare.text()
    name, data = fetched(source)
    said = as_plain_text(name, data)
    if len(said) < SHORTEST:
        raise ValueError(
            f"own_text: {name} has {len(said):,} characters. A model needs at least "
            f"{SHORTEST:,}, some ten pages, before it can learn more than the letters. Join "
            'several texts into one file, or take "shakespeare".'
        )
    return said


def fetched(source: Any) -> tuple[str, bytes]:
    """Return the name and the bytes of a source."""
    if isinstance(source, str) and source.startswith(("http://", "https://")):
        return source, downloaded(source)
    if isinstance(source, str | Path):
        path = Path(source).expanduser()
        if not path.is_file():
            raise ValueError(
                f"own_text: there is no file {path} here. Check the path; on Colab, upload the "
                "file first: source = upload()."
            )
        if path.stat().st_size > LARGEST:
            raise ValueError(too_large(str(path)))
        return path.name, path.read_bytes()
    if isinstance(source, dict):  # of Colab's files.upload
        files = list(source.items())
    else:  # an ipywidgets.FileUpload: a dict up to version 7, a tuple from 8 on
        value = getattr(source, "value", ())
        entries = value.items() if isinstance(value, dict) else ((x["name"], x) for x in value)
        files = [(name, bytes(entry["content"])) for name, entry in entries]
    if not files:
        raise ValueError(
            "own_text: no file was chosen. Press the button above, choose one, wait for its name "
            "to appear, and run this cell again."
        )
    return files[-1]


def downloaded(address: str) -> bytes:
    """Fetch an address."""
    try:
        asked = urllib.request.Request(address, headers={"User-Agent": "Mozilla/5.0"})
        with urllib.request.urlopen(asked, timeout=30) as answer:
            data = answer.read(LARGEST + 1)
    except (OSError, ValueError) as error:  # urllib's own errors are OSErrors
        reason = error.code if isinstance(error, urllib.error.HTTPError) else error
        raise ValueError(
            f"own_text: {address} could not be fetched ({reason}). Check the address and the "
            "network, or download the file and give its path."
        ) from None
    if len(data) > LARGEST:
        raise ValueError(too_large(address))
    return data


def too_large(name: str) -> str:
    return (
        f"own_text: {name} is larger than {LARGEST // 1_000_000} MB, far more than this model can "
        "learn from. Cut a part out."
    )


def as_plain_text(name: str, data: bytes) -> str:
    """Read bytes as text, or say what they are instead."""
    for start, kind in OTHER_FORMATS.items():
        if data.startswith(start):
            raise ValueError(
                f"own_text: {name} is {kind}, no plain text. Open it, save it as plain text (.txt, "
                "UTF-8), and take that file."
            )
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        said = data.decode(encoding)
        if "\0" in said:
            raise UnicodeError("it holds zero bytes")
    except UnicodeError as error:
        raise ValueError(
            f"own_text: {name} is no text in UTF-8 ({error}). Save it as plain text with the "
            "encoding UTF-8 and try again."
        ) from None
    said = said.replace("\r\n", "\n").replace("\r", "\n")
    if said.lstrip()[:15].lower().startswith(("<!doctype html", "<html", "<?xml")):
        raise ValueError(
            f"own_text: {name} is a web page: the model would learn its markup. Look for a link to "
            'the plain text (Project Gutenberg calls it "Plain Text UTF-8").'
        )
    return said


def upload() -> Any:
    """Ask for a file in the browser; hand what this returns to `own_text`, in the next cell."""
    if "google.colab" in sys.modules:
        from google.colab import files

        return files.upload()
    try:
        import ipywidgets
        from IPython.display import display
    except ImportError:
        raise ValueError(
            "upload: this needs the package ipywidgets. Without it, give own_text the path of a "
            "file."
        ) from None
    button = ipywidgets.FileUpload(accept=".txt,text/plain", multiple=False)
    display(button)
    return button
