"""one_sentence: the model of one block whose every number the page shows."""

from solutions.experiments import kept
from solutions.studies.one_sentence import OneBlock, train_one_block
from solutions.studies.street_model import nats_per_word

SEEDS = (0, 1, 2)


def one_block(seed: int) -> dict:
    """Train the model; return its parameters, and its surprise at a held-out word in nats."""
    model = train_one_block(seed)
    nats = nats_per_word(lambda words: model(words).detach().log_softmax(-1))
    return {"weights": model.state_dict(), "nats": nats}


def restored(seed: int = SEEDS[0]) -> OneBlock:
    """Return the trained model."""
    model = OneBlock()
    model.load_state_dict(kept(one_block, seed=seed)["weights"])
    return model.eval()


RUNS = [(one_block, {"seed": seed}) for seed in SEEDS]
