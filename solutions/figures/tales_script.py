"""One script with a whole storyteller in it: forward pass, grammar and half-precision weights.

It is written beside the built book and fetched when a reader first touches the figure, so that a
page that is only read stays light. In a notebook, which has no such file, the figure brings it.
"""

import base64
import dataclasses
import hashlib
import json
from functools import cache
from pathlib import Path

import torch

from solutions.data import tiny_tales
from solutions.experiments.generate import storyteller
from solutions.gpt import GPT

HERE = Path(__file__).parent
FILE_NAME = Path(__file__).with_suffix(".js").name  # in _static/ of the built book
LISTS = "HE SHE ANIMALS PLACES TIMES COLOURS THINGS THIEVES FEELINGS DEEDS ENDINGS PREFERENCE"


def rounded_storyteller() -> GPT:
    """Return the storyteller with its weights rounded to half precision, as the script has them."""
    return storyteller().half().float()


@cache
def tales_script() -> str:
    """Return the script; it sets `window.courseTales` to { read(ids), odds(words) }."""
    model = rounded_storyteller()
    tensors = dict(model.named_parameters())  # the tied head is the token table, once
    numbers = torch.cat([tensor.detach().half().flatten() for tensor in tensors.values()])
    parts = {
        **dataclasses.asdict(model.config),
        "tensors": [[name, *tensor.shape] for name, tensor in tensors.items()],
        "base64": base64.b64encode(numbers.numpy().astype("<f2").tobytes()).decode(),
        "lists": {name: getattr(tiny_tales, name) for name in LISTS.split()},
        "end": tiny_tales.END,
    }
    sources = [
        (HERE / name).read_text(encoding="utf-8") for name in ("tiny_gpt.js", "tales_grammar.js")
    ]
    door = (
        "parts.weights = unpack(parts.base64, parts.tensors);\n"
        "window.courseTales = {\n"
        "  read: (ids) => readIds(ids, parts),\n"
        "  odds: (words) => oddsAfter(words, parts.lists, parts.end),\n"
        "};"
    )
    return "\n".join(["(() => {", *sources, f"const parts = {json.dumps(parts)};", door, "})();"])


def address() -> str:
    """Return where a page of the book finds the script; a new one has a new address."""
    digest = hashlib.sha256(tales_script().encode()).hexdigest()[:8]
    return f"_static/{FILE_NAME}?v={digest}"
