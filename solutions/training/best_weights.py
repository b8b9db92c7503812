"""Remember the weights of a training's best evaluation."""

import math

from torch import nn

Scores = dict[str, float]


def is_loss(name: str) -> bool:
    """Say by its name whether a score is a loss: the lower the better."""
    return "loss" in name.lower() or name == "validation"


class Best:
    """Remember the weights at the lowest value of one score: the one named, else the first loss."""

    def __init__(self, name: str = ""):
        self.name, self.value, self.weights = name, math.inf, {}

    def value_in(self, scores: Scores) -> float:
        """Return the score that decides, infinity where there is none."""
        losses = (k for k, x in scores.items() if is_loss(k) and isinstance(x, float))
        return scores.get(self.name or next(losses, ""), math.inf)

    def see(self, model: nn.Module, scores: list[Scores]) -> None:
        """Keep a copy of the weights if the last of the scores is the lowest so far."""
        value = self.value_in(scores[-1]) if scores else math.inf
        if value < self.value:
            self.value = value
            self.weights = {k: x.detach().clone() for k, x in model.state_dict().items()}

    def take_up(self, weights: dict, scores: list[Scores]) -> None:
        """Go on from the best weights of an earlier session, if it kept any."""
        self.weights = weights
        for value in map(self.value_in, scores if weights else []):
            self.value = min(self.value, value)

    def give_back(self, model: nn.Module) -> None:
        """Load the best weights seen, if any."""
        if self.weights:
            model.load_state_dict(self.weights)
