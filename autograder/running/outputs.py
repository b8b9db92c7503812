"""Outputs as a graded notebook may hold them: text and pictures, bounded, nothing that runs."""

import json
import re
from typing import Any

SHOWN = ("text/plain", "image/png", "image/jpeg")  # no script or markup of a learner's
COMMANDS = re.compile(r"\x1b(?!\[[\d;]*m)|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]")
PICTURE = re.compile(r"[A-Za-z0-9+/=\s]*")  # base64, and nothing that would end an attribute
COLOUR = re.compile(r"\x1b\[[\d;]*m")
MAX_SHOWN = 10_000_000  # characters of a cell's outputs
MAX_NOTEBOOK = 20_000_000  # and of all cells together
MAX_TEXT = 200_000  # characters of one text; the learner's side cuts earlier, if it is honest
MAX_COLOURS = 1000  # in one output: nbconvert copies the rest of a text at every one
CUT = "... the rest of the output was cut off ..."


def result(points: float) -> dict:
    data = {"text/plain": repr(points)}
    return {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": None}


def stream(text: str) -> dict:
    return {"output_type": "stream", "name": "stdout", "text": text}


def harmless(output: dict[str, Any]) -> dict | None:
    """Keep text and pictures of a learner's output, and nothing that a page could run."""
    kind = output.get("output_type")
    if kind == "stream":
        said = output.get("name") == "stdout"
        return stream(shown_text(output.get("text", ""))) if said else None
    if kind in ("display_data", "execute_result"):
        given = output.get("data")
        data = given if isinstance(given, dict) else {}
        kept = {k: data[k] for k in SHOWN if type(data.get(k)) is str}
        kept = {k: v for k, v in kept.items() if k == "text/plain" or PICTURE.fullmatch(v)}
        if "text/plain" in kept:
            kept["text/plain"] = shown_text(kept["text/plain"])
        return {"output_type": "display_data", "data": kept, "metadata": {}} if kept else None
    if kind == "error":
        given = output.get("traceback")
        lines = given if isinstance(given, list) else []
        return {
            "output_type": "error",
            "ename": text_of(output.get("ename"))[:200],
            "evalue": text_of(output.get("evalue"))[:2000],
            "traceback": [shown_text(line, 20_000, 20) for line in lines[:100]],
        }
    return None


def text_of(value: Any) -> str:
    """Return text that any file and terminal can show: whole characters, no command but colours."""
    return COMMANDS.sub("", str(value).encode("utf-8", "replace").decode())


def shown_text(value: Any, most: int = MAX_TEXT, colours: int = MAX_COLOURS) -> str:
    """Return text of a length and with as many colours as a page can show."""
    text = str(value)
    text = text_of(text) if len(text) <= most else text_of(text[:most]) + CUT
    return text if text.count("\x1b") <= colours else COLOUR.sub("", text)


class Room:
    """How much a notebook may still show; the bounds on the learner's side can be patched away."""

    def __init__(self) -> None:
        self.left = MAX_NOTEBOOK

    def bounded(self, outputs: list[dict]) -> list[dict]:
        """Cut a cell's outputs off where the cell or the notebook has no more room."""
        kept: list[dict] = []
        room = min(MAX_SHOWN, self.left)
        for output in outputs:
            size = len(json.dumps(output))
            if size > room:
                return [*kept, stream(CUT)]
            room, self.left = room - size, self.left - size
            kept.append(output)
        return kept


def written(data: dict[str, Any]) -> dict[str, Any]:
    """Make a bundle of texts and plain values one that any file can hold."""
    return {
        kind: text_of(v)
        if isinstance(v, str)
        else json.loads(text_of(json.dumps(v, ensure_ascii=False)))
        for kind, v in data.items()
    }
