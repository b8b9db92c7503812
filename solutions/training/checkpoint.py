"""Put a half-done training on disk and take it up again: weights, moments, dice and curve."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.amp import GradScaler
from torch.optim import Optimizer

from solutions.keeping import kept
from solutions.training.best_weights import Best
from solutions.training.between_steps import Moment
from solutions.whole_file import whole_file

if TYPE_CHECKING:
    from solutions.train import History, Recipe


class Checkpoint:
    """The file of one training; without a path it does nothing."""

    def __init__(
        self,
        path: Path | str | None,
        recipe: "Recipe",
        model: nn.Module,
        optimiser: Optimizer,
        scaler: GradScaler,
        moment: Moment,
        best: Best,
    ):
        self.path = None if path is None else kept(path)  # a bare name: on Drive, if any
        self.recipe, self.model, self.optimiser = asdict(recipe), model, optimiser
        self.scaler, self.moment, self.best = scaler, moment, best

    def write(self, history: "History") -> None:
        """Write all the run needs to go on as if it had never stopped; half a file never counts."""
        if self.path is None:
            return
        notes = {"recipe": self.recipe, "history": asdict(history)}
        notes["scaler"] = self.scaler.state_dict()  # a few numbers; none where nothing is scaled
        tensors = _under("model", self.model.state_dict())
        tensors |= _under("best", self.best.weights) | _under("dice", self.moment.dice)
        for number, state in self.optimiser.state_dict()["state"].items():
            tensors |= _under(f"optimiser.{number}", state)
        # A copy each: safetensors refuses tensors that share memory, as tied weights do.
        whole = {name: x.detach().cpu().contiguous().clone() for name, x in tensors.items()}
        with whole_file(self.path) as part:
            save_file(whole, part, metadata={"notes": json.dumps(notes)})

    def take_up(self, history: "History") -> None:
        """Set the run to where it was, if there is a file; say so if that belongs to another."""
        if self.path is None or not self.path.exists():
            return
        notes = read_notes(self.path)
        if notes["recipe"] != self.recipe:
            other = {k: v for k, v in notes["recipe"].items() if v != self.recipe.get(k)}
            raise ValueError(
                f"train: {self.path} belongs to another recipe ({other}). Delete it or rename."
            )
        whole = load_file(self.path)
        try:
            self.model.load_state_dict(_below("model", whole))
        except RuntimeError as error:
            raise ValueError(
                f"train: {self.path} belongs to another model. Delete it or rename."
            ) from error
        state: dict[int, dict[str, Tensor]] = {}
        for name, x in _below("optimiser", whole).items():
            number, _, what = name.partition(".")
            state.setdefault(int(number), {})[what] = x
        self.optimiser.load_state_dict({**self.optimiser.state_dict(), "state": state})
        if notes.get("scaler"):
            self.scaler.load_state_dict(notes["scaler"])
        self.moment.start_from(_below("dice", whole))
        vars(history).update(notes["history"], interrupted=False)
        self.best.take_up(_below("best", whole), history.scores)


def read_notes(path: Path) -> dict[str, Any]:
    """Return what was written beside the tensors."""
    try:
        with safe_open(path, framework="pt") as file:
            return json.loads(file.metadata()["notes"])
    except (SafetensorError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no checkpoint of a training: {error}") from None


def _under(first: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {f"{first}.{name}": x for name, x in tensors.items()}


def _below(first: str, whole: dict[str, Tensor]) -> dict[str, Tensor]:
    return {k.removeprefix(f"{first}."): x for k, x in whole.items() if k.startswith(f"{first}.")}
