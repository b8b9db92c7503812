"""recurrence: who remembers the first symbol, and a language model of street sentences."""

import torch

from solutions.recurrence import RNNLanguageModel
from solutions.studies.recall_model import KINDS, accuracy, train_recall
from solutions.studies.street_model import PATIENT, RECIPE, train_street

SEEDS = (0, 1, 2)
FEW = SEEDS[:2]  # for what takes longest
LAGS = {  # by panel; what is at chance at lag 20 need not be followed through every longer one
    False: {name: (2, 5, 10, 20, 50, 100) for name in KINDS}
    | {"LSTM": (2, 5, 10, 20), "RNN": (2, 5, 10, 20, 100)},
    True: {name: (2, 5, 10, 20, 50) for name in KINDS} | {"LSTM": (2, 5, 10, 20)},
}


def recall(kind: str, blank: bool, seed: int) -> dict[int, dict[str, float]]:
    """Train one kind of encoder at every lag; return accuracy on 2,000 sequences, and steps."""
    found = {}
    for lag in LAGS[blank][kind]:
        model, steps = train_recall(KINDS[kind], lag, blank, seed)
        test = torch.Generator().manual_seed(1000 + seed)
        found[lag] = {"accuracy": accuracy(model, lag, blank, 2000, test), "steps": steps}
    return found


def street(seed: int, patient: bool = False) -> dict:
    """Train the language model of the street sentences and return its parameters."""
    return train_street(RNNLanguageModel, seed, PATIENT if patient else RECIPE).state_dict()


RUNS = [
    *((recall, {"kind": kind, "blank": False, "seed": seed}) for kind in KINDS for seed in FEW),
    *((recall, {"kind": kind, "blank": True, "seed": seed}) for kind in KINDS for seed in FEW),
    *((street, {"seed": seed, "patient": True}) for seed in FEW),
    *((street, {"seed": seed}) for seed in SEEDS),
]
