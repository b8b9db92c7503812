"""Put a half-done training on disk and take it up again: weights, moments, dice and curve."""

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.optim import Optimizer


def save(
    path: Path,
    model: nn.Module,
    optimiser: Optimizer,
    generator: torch.Generator,
    best: dict[str, Tensor],
    notes: dict[str, Any],
) -> None:
    """Write all that a run needs to go on as if it had never stopped; half a file never counts."""
    tensors = _under("model", model.state_dict()) | _under("best", best)
    for number, state in optimiser.state_dict()["state"].items():
        tensors |= _under(f"optimiser.{number}", state)
    tensors |= {"dice.batches": generator.get_state(), "dice.dropout": torch.get_rng_state()}
    # A copy each: safetensors refuses tensors that share memory, as tied weights do.
    whole = {name: x.detach().cpu().contiguous().clone() for name, x in tensors.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}.part")
    save_file(whole, part, metadata={"notes": json.dumps(notes, default=dataclasses.asdict)})
    part.replace(path)


def read_notes(path: Path) -> dict[str, Any]:
    """Return what was written beside the tensors."""
    try:
        with safe_open(path, framework="pt") as file:
            return json.loads(file.metadata()["notes"])
    except (SafetensorError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no checkpoint of a training: {error}") from None


def load(
    path: Path, model: nn.Module, optimiser: Optimizer, generator: torch.Generator
) -> dict[str, Tensor]:
    """Set model, optimiser and dice to where they were; return the best weights so far."""
    whole = load_file(path)
    model.load_state_dict(_below("model", whole))
    state: dict[int, dict[str, Tensor]] = {}
    for name, x in _below("optimiser", whole).items():
        number, _, what = name.partition(".")
        state.setdefault(int(number), {})[what] = x
    optimiser.load_state_dict({**optimiser.state_dict(), "state": state})
    generator.set_state(whole["dice.batches"])
    torch.set_rng_state(whole["dice.dropout"])
    return _below("best", whole)


def _under(first: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {f"{first}.{name}": x for name, x in tensors.items()}


def _below(first: str, whole: dict[str, Tensor]) -> dict[str, Tensor]:
    return {k.removeprefix(f"{first}."): x for k, x in whole.items() if k.startswith(f"{first}.")}
