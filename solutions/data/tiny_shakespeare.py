"""Tiny Shakespeare: about 1.1 MB of Shakespeare's plays (public domain), one file, plain ASCII."""

from pathlib import Path

PLACE = Path(__file__).with_suffix(".txt")


def text() -> str:
    """Read the whole text."""
    return PLACE.read_bytes().decode("utf-8")  # as bytes: no platform changes the line ends
