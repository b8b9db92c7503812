"""Outputs as a graded notebook may hold them: text and pictures, bounded, nothing that runs."""

import json
import re
from typing import Any

SHOWN = ("text/plain", "image/png", "image/jpeg")  # no script or markup of a learner's
COMMANDS = re.compile(r"\x1b(?!\[[\d;]*m)|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]")
PICTURE = re.compile(r"[A-Za-z0-9+/=\s]*")  # base64, and nothing that would end an attribute
MAX_SHOWN = 10_000_000  # characters of a cell's outputs


def result(points: float) -> dict:
    data = {"text/plain": repr(points)}
    return {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": None}


def stream(text: str) -> dict:
    return {"output_type": "stream", "name": "stdout", "text": text}


def harmless(output: dict[str, Any]) -> dict | None:
    """Keep text and pictures of a learner's output, and nothing that a page could run."""
    kind = output.get("output_type")
    if kind == "stream":
        return stream(text_of(output.get("text", ""))) if output.get("name") == "stdout" else None
    if kind in ("display_data", "execute_result"):
        data: Any = output.get("data") if type(output.get("data")) is dict else {}
        kept = {k: text_of(v) for k, v in data.items() if k in SHOWN and type(v) is str}
        kept = {k: v for k, v in kept.items() if k == "text/plain" or PICTURE.fullmatch(v)}
        return {"output_type": "display_data", "data": kept, "metadata": {}} if kept else None
    if kind == "error":
        lines: Any = output.get("traceback") if type(output.get("traceback")) is list else []
        return {
            "output_type": "error",
            "ename": text_of(output.get("ename"))[:200],
            "evalue": text_of(output.get("evalue"))[:2000],
            "traceback": [text_of(line)[:20_000] for line in lines[:100]],
        }
    return None


def text_of(value: Any) -> str:
    """Return text that any file and terminal can show: whole characters, no command but colours."""
    return COMMANDS.sub("", str(value).encode("utf-8", "replace").decode())


def bounded(outputs: list[dict]) -> list[dict]:
    """Cut outputs off at a size; the bounds on the learner's side can be patched away there."""
    kept: list[dict] = []
    room = MAX_SHOWN
    for output in outputs:
        room -= len(json.dumps(output))
        if room < 0:
            return [*kept, stream("... the rest of the output was cut off ...")]
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
