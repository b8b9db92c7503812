"""A trained GPT in one file: weights, sizes, tokeniser, and a card that says how it was made.

The file is a safetensors file. What is no weight stands as JSON in its metadata.
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file

from solutions.characters import Characters
from solutions.gpt import GPT
from solutions.gpt_block import GPTConfig
from solutions.keeping import kept
from solutions.tokenizer import Tokenizer
from solutions.whole_file import whole_file

Card = dict[str, Any]  # plain values: the recipe, the losses, the seconds, where the text came from


@dataclass
class SavedModel:
    """A model that can write: what `save_model` put into a file."""

    model: GPT
    tokenizer: Tokenizer | Characters
    card: Card = field(default_factory=dict)


def save_model(path: Path | str, saved: SavedModel) -> Path:
    """Write a model whole, as one file to keep or to share; half a file never counts."""
    path = kept(path)
    weights = {  # parameters only: a mask that a model keeps is made anew
        name: x.detach().cpu().contiguous().clone()
        for name, x in saved.model.named_parameters(remove_duplicate=False)
        if not (saved.model.config.tied and name == "head.weight")  # the token table once more
    }
    notes = {
        "config": asdict(saved.model.config),
        "tokenizer": tokenizer_notes(saved.tokenizer),
        "card": saved.card,
    }
    with whole_file(path) as part:
        save_file(weights, part, {name: json.dumps(note) for name, note in notes.items()})
    return path


def open_model(path: Path | str) -> SavedModel:
    """Read what `save_model` wrote, ready to write."""
    path = kept(path)
    if not path.is_file():
        raise FileNotFoundError(f"open_model: there is no file {path}. Check the path.")
    try:
        with safe_open(path, framework="pt") as file:
            notes = {k: json.loads(v) for k, v in (file.metadata() or {}).items() if k in NOTES}
    except (SafetensorError, json.JSONDecodeError) as error:
        raise ValueError(
            f"open_model: {path.name} is no safetensors file, or only a part of one ({error})."
        ) from None
    if lacking := sorted(NOTES - notes.keys()):
        raise ValueError(
            f"open_model: {path.name} holds no {' and no '.join(lacking)}, so it is no model that "
            "save_model wrote. (A checkpoint of a training is none; GPT-2's own file is opened by "
            "load_gpt2.)"
        )
    model = GPT(GPTConfig(**notes["config"]))
    weights = load_file(path)
    if model.config.tied:
        weights["head.weight"] = weights["token.weight"]
    model.load_state_dict(weights)
    return SavedModel(model.eval(), tokenizer_of(notes["tokenizer"]), notes["card"])


NOTES = {"config", "tokenizer", "card"}


def tokenizer_notes(tokenizer: Tokenizer | Characters) -> dict[str, list]:
    """Say in plain values what a tokeniser is made of."""
    if isinstance(tokenizer, Characters):
        return {"alphabet": tokenizer.alphabet}
    return tokenizer.notes()


def tokenizer_of(notes: dict[str, list]) -> Tokenizer | Characters:
    """Make the tokeniser that `tokenizer_notes` described."""
    if "alphabet" in notes:
        return Characters(notes["alphabet"])
    return Tokenizer.of_notes(notes)
