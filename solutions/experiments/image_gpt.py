"""image_gpt: what the trained model spends, draws and knows; and the runs of the lesson."""

import torch
from torch import Tensor
from torch.nn import functional as F

from solutions.data.digits import N_CLASS, few_training_digits, split_digits
from solutions.experiments import kept
from solutions.experiments.image_gpt_training import (
    CONFIG,
    N_COLOUR,
    digit_palette,
    digit_tokens,
    pretrain,
)
from solutions.image_gpt import ImageGPT, complete_image
from solutions.linear_probe import linear_probe, pixel_features, share_right
from solutions.palette import quantise
from solutions.studies.pixel_tables import place_odds
from solutions.studies.tuned_probe import tuned_share

STEPS, SHORT, SEEDS = 1200, 250, (0, 1, 2)
ROWS = (2, 4, 6)  # how many rows the figure keeps
SAMPLES = 6
JUDGED = 120  # test images completed for the judge
LABELS = (50, 100, 300)


def trained(steps: int, seed: int) -> ImageGPT:
    """Return the model of a run, as it was at its end."""
    model = ImageGPT(CONFIG)
    model.load_state_dict(kept(pretrain, steps=steps, seed=seed)["weights"])
    return model.eval()


def uniform(*shape: int, seed: int) -> Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed))


def spent(steps: int, seed: int) -> Tensor:
    """Return the bits of every pixel of the test images, (360, 8, 8)."""
    with torch.no_grad():
        return trained(steps, seed).bits(digit_tokens()[1])


def drawn(steps: int, seed: int) -> dict:
    """Draw new digits, complete some for the figure, and let a judge name completed halves.

    The judge is a linear probe on the raw pixels of the training images.
    """
    (images, labels), (_, test_labels) = split_digits()
    (known, unseen), palette = digit_tokens(), digit_palette()
    model = trained(steps, seed)
    shown = [int((test_labels == digit).nonzero()[0]) for digit in (0, 2, 3, 4, 6, 9)]
    truth = unseen[shown]
    many = truth.repeat_interleave(SAMPLES, dim=0)  # (6 * SAMPLES, 8, 8)
    draws = uniform(*many.shape, seed=1)
    made = torch.stack([complete_image(model, many, rows, draws) for rows in ROWS])
    with torch.no_grad():
        made_bits = torch.stack([model.bits(some) for some in made])
        truth_bits = model.bits(truth)
    shape = (len(ROWS), len(shown), SAMPLES, 8, 8)

    some, names = unseen[:JUDGED], test_labels[:JUDGED]
    draws = uniform(*some.shape, seed=2)
    odds = place_odds(known, N_COLOUR).log()  # (8, 8, K), the model that knows the place only

    def by_place(ids: Tensor) -> Tensor:
        return odds.flatten(0, 1)[: ids.size(1) + 1].expand(len(ids), -1, -1)

    judge = linear_probe(images.flatten(1), labels, N_CLASS)
    upper = linear_probe(images[..., :4, :].flatten(1), labels, N_CLASS)  # sees the top half only

    def judged(tokens: Tensor) -> float:
        return share_right(judge, palette[tokens].flatten(1), names)

    blank = some.clone()
    blank[:, 4:] = 0
    return {
        "labels": test_labels[shown],
        "truth": truth,
        "truth bits": truth_bits,
        "made": made.view(shape),
        "made bits": made_bits.view(shape),
        "new": complete_image(model, torch.zeros(40, 8, 8).long(), 0, uniform(40, 8, 8, seed=3)),
        "judged": {
            "true lower half": judged(some),
            "completed by the model": judged(complete_image(model, some, 4, draws)),
            "drawn place by place": judged(complete_image(by_place, some, 4, draws)),
            "left blank": judged(blank),
            "judged by the top half": share_right(upper, palette[some[:, :4]].flatten(1), names),
        },
    }


def views(model: ImageGPT, untrained: ImageGPT, tokens: Tensor, palette: Tensor) -> dict:
    """Return the features to be compared: name -> (B, F)."""
    pooled, random = pixel_features(model, tokens), pixel_features(untrained, tokens)
    found = {
        "raw pixels": palette[tokens].flatten(1),
        "raw pixels, one-hot": F.one_hot(tokens, N_COLOUR).float().flatten(1),
        "how often each grey": F.one_hot(tokens, N_COLOUR).float().flatten(1, 2).mean(1),
        "untrained, after 3 blocks": random[-1],
        "untrained, row means": pixel_features(untrained, tokens, pieces=8)[-1],
    }
    found |= {f"mean after {n} blocks": x for n, x in enumerate(pooled)}
    rows = pixel_features(model, tokens, pieces=8)
    return found | {f"row means after {n} blocks": x for n, x in enumerate(rows)}


def probes(steps: int, seed: int) -> dict:
    """Fit probes on all labels and on few; return the share of right test answers.

    With all 1,437 labels: a number for each kind of features, from the tuned probe ("all") and from
    ridge regression with a penalty of 1 ("ridge"); with few: one per draw of labels, tuned.
    """
    (_, labels), (_, test_labels) = split_digits()
    (known, unseen), palette = digit_tokens(), digit_palette()
    torch.manual_seed(0)
    models = trained(steps, seed), ImageGPT(CONFIG).eval()
    train, test = (views(*models, tokens, palette) for tokens in (known, unseen))

    def right(features: dict, names: Tensor, kind: str) -> float:
        return tuned_share(features[kind], names, test[kind], test_labels)

    ridge = {kind: linear_probe(x, labels, N_CLASS) for kind, x in train.items()}
    result = {
        "all": {kind: right(train, labels, kind) for kind in train},
        "ridge": {kind: share_right(w, test[kind], test_labels) for kind, w in ridge.items()},
        "few": {},
    }
    for n in LABELS:
        few = [few_training_digits(n, draw) for draw in SEEDS]
        seen = [views(*models, quantise(x.movedim(1, -1), palette), palette) for x, _ in few]
        for kind in train:
            shares = [right(f, names, kind) for f, (_, names) in zip(seen, few, strict=True)]
            result["few"].setdefault(kind, {})[n] = shares
    return result


def measured(steps: int, seed: int) -> dict:
    """Take the trained model on: its bits on test images, what it draws, what probes find."""
    return {how.__name__: how(steps, seed) for how in (spent, drawn, probes)}


RUNS = [
    (pretrain, {"steps": STEPS, "seed": 0}),
    *((pretrain, {"steps": SHORT, "seed": seed}) for seed in SEEDS),
    (measured, {"steps": STEPS, "seed": 0}),  # last: it takes the trained model on
]
